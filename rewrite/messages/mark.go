package messages

import (
	"bytes"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// markAt is the mark with that value, which is a member of an object.
func markAt(body []byte, v span.Span) conversation.Mark {
	m := conversation.Mark{Span: v, Value: v}
	m.Start = bytes.LastIndexByte(body[:bytes.LastIndexByte(body[:v.Start], ':')], '"') - len(marker) - 1
	before := m.Start - 1
	for isSpace(body[before]) {
		before--
	}
	if body[before] == ',' {
		m.Start = before
		return m
	}
	if next := span.SkipSpace(body, v.End); next < len(body) && body[next] == ',' { // it is the first member
		m.End = span.SkipSpace(body, next+1)
	}
	return m
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
