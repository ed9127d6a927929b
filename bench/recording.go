package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite"
)

// recording is a conversation as it was recorded: the last request of it, which holds all before.
type recording struct {
	name     string
	request  *rewrite.Request
	messages []*message
	byRaw    map[string]*message
	fixed    int   // tokens beside the messages
	bounds   []int // the requests: bounds[b] messages each, in order
	needs    [][]need
}

// message is one message, read for measuring.
type message struct {
	raw    string // its bytes
	role   rewrite.Role
	text   string
	args   string // the values in its calls' arguments, a line each
	tokens int
	// origin is its place among the client's messages, the first of those that are equal; -1: it is none of them.
	origin int
	// artifacts are the names in a message that is none of the client's.
	artifacts []string
}

// recordings finds the files to replay: those given, and the *.json of folders and the folders in them. What cannot
// be looked into is skipped with a reason.
func recordings(paths []string) (files, skipped []string) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				skipped = append(skipped, err.Error())
			case entry.IsDir():
			case file == path || strings.HasSuffix(file, ".json"):
				files = append(files, filepath.Clean(file))
			}
			return nil
		})
		if err != nil {
			skipped = append(skipped, err.Error())
		}
	}
	slices.Sort(files)
	return slices.Compact(files), skipped
}

func readRecording(path string) (*recording, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := newRecording(body)
	if err != nil {
		return nil, fmt.Errorf("cannot replay %s: %w", path, err)
	}
	c.name = path
	return c, nil
}

// newRecording reads a conversation and what its answers need.
func newRecording(body []byte) (*recording, error) {
	request, err := rewrite.ReadChat(body)
	if err != nil {
		return nil, err
	}
	if !gjson.ValidBytes(body) {
		return nil, errors.New("the body is not JSON")
	}
	if len(request.Items) == 0 {
		return nil, errors.New("it has no messages")
	}
	c := &recording{request: request, byRaw: make(map[string]*message), fixed: fixedTokens(request.Tools.Of(body))}
	for i, it := range request.Items {
		m := c.byRaw[string(it.Of(body))]
		if m == nil {
			m = readMessage(request, it)
			m.origin = i
			c.byRaw[m.raw] = m
		}
		c.messages = append(c.messages, m)
		if m.role == rewrite.Assistant && i > 0 {
			c.bounds = append(c.bounds, i)
		}
	}
	c.bounds = append(c.bounds, len(c.messages))
	c.needs = needsOf(c)
	return c, nil
}

// prefix is the request that the client sent when the conversation had k messages, to the byte like the recorded one
// but for the messages that came later.
func (c *recording) prefix(k int) *rewrite.Request {
	items, body := c.request.Items, c.request.Body
	last := items[len(items)-1]
	cut := make([]byte, 0, len(body)-(last.End-items[k-1].End))
	cut = append(append(cut, body[:items[k-1].End]...), body[last.End:]...)
	r := *c.request
	r.Body, r.Items, r.Head = cut, items[:k], min(r.Head, k)
	if shift := last.End - items[k-1].End; r.Tools.Start >= last.End {
		r.Tools = rewrite.Span{Start: r.Tools.Start - shift, End: r.Tools.End - shift}
	}
	return &r
}

// readMessage reads one item of a request; it is none of the client's until it is found to be.
func readMessage(r *rewrite.Request, it rewrite.Item) *message {
	m := &message{raw: string(it.Of(r.Body)), role: it.Role, origin: -1}
	text, tokens := contentOf(string(it.Content.Of(r.Body)))
	m.text, m.tokens = text, tokensOf(size(text))+tokens+messageTokens
	var values []string
	for _, call := range it.Calls {
		arguments := gjson.ParseBytes(call.Arguments.Of(r.Body)).String()
		m.tokens += tokensOf(size(arguments)+size(call.Name)) + callTokens
		if call.FreeText {
			values = append(values, arguments)
			continue
		}
		values = append(values, leaves(arguments)...)
	}
	m.args = strings.Join(values, "\n")
	return m
}

// contentOf is the text in a message's content, and the tokens of what of it is no text.
func contentOf(content string) (text string, tokens int) {
	v := gjson.Parse(content)
	if !v.IsArray() {
		return v.String(), 0
	}
	var texts []string
	v.ForEach(func(_, part gjson.Result) bool {
		if t := part.Get("text"); t.Type == gjson.String {
			texts = append(texts, t.Str)
		} else {
			tokens += partTokens
		}
		return true
	})
	return strings.Join(texts, "\n"), tokens
}

// holds tells whether the message holds the name, in its text or its calls.
func (m *message) holds(n name) bool { return n.in(m.text) || n.in(m.args) }
