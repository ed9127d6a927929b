package chat

import (
	"bytes"
	"encoding/json"
	"errors"

	"epitome/unit"
)

// What an answer in the chat-completions dialect tells as it passes.

// piece is an event of a stream, as far as it tells whether anything was said.
type piece struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Delta        map[string]json.RawMessage
	}
	Usage json.RawMessage
	Error json.RawMessage
}

// readPiece reads an event. ok is false for what is none of the dialect's.
func readPiece(event []byte) (c piece, ok bool) {
	var odd *json.UnmarshalTypeError
	err := json.Unmarshal(event, &c)
	return c, err == nil || errors.As(err, &odd)
}

// mute reports whether a value says nothing.
func mute(v json.RawMessage) bool {
	s := string(v)
	return !present(v) || s == `""` || s == "[]" || s == "{}"
}

// says reports whether any choice says something, and whether one ends.
func (c *piece) says() (something, ends bool) {
	for _, choice := range c.Choices {
		ends = ends || choice.FinishReason != ""
		for key, value := range choice.Delta {
			something = something || key != "role" && !mute(value)
		}
	}
	return something, ends
}

// AnswerBegins reports whether an event of a stream is more than the frame of an answer: a piece of one, its end, or
// what is none of the dialect's.
func AnswerBegins(event []byte) bool {
	event = bytes.TrimSpace(event)
	if len(event) == 0 {
		return false
	}
	c, ok := readPiece(event)
	if !ok {
		return true
	}
	something, ends := c.says()
	return something || ends || len(c.Choices) == 0 && !present(c.Usage)
}

// AnswerFails reports whether an event of a stream tells of an error, or of an end before anything was said.
func AnswerFails(event []byte) bool {
	c, ok := readPiece(event)
	if !ok {
		return false
	}
	something, ends := c.says()
	return !mute(c.Error) || ends && !something
}

// PromptTokens returns how many tokens a request had, as the provider says at the end of its answer; 0 if it does not.
// end is what comes last of it, whole or streamed.
func PromptTokens(end []byte) (prompt int) {
	const name = `"prompt_tokens"`
	i := bytes.LastIndex(end, []byte(name))
	if i < 0 {
		return 0
	}
	n, digits := 0, bytes.TrimLeft(end[i+len(name):], " \t\r\n:")
	for _, d := range digits {
		if d < '0' || d > '9' || n > unit.MostTokens {
			break
		}
		n = n*10 + int(d-'0')
	}
	return n
}
