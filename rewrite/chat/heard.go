package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"epitome/unit"
)

// What the wire needs to know of the chat-completions dialect: where its requests go, and what an answer tells as it
// passes.

// Wire is the dialect with what the wire needs to know of it besides.
type Wire struct{ Dialect }

// Path is where the API takes a conversation.
func (Dialect) Path() string { return "/v1" + pathEnd }

// Authorize gives the header of a request that speaks for a key.
func (Dialect) Authorize(key string) (headers [][2]string) {
	return [][2]string{{"Authorization", "Bearer " + key}}
}

// pathEnd is how the path of every request ends that holds a conversation: servers have it below paths of their own.
const pathEnd = "/chat/completions"

// Serves reports whether a request with that path holds a conversation.
func (Wire) Serves(path []byte) bool { return bytes.HasSuffix(path, []byte(pathEnd)) }

// Counts is false: no path asks for a conversation's size alone.
func (Wire) Counts([]byte) bool { return false }

// Compacts is false: nobody is asked for that.
func (Wire) Compacts([]byte) bool { return false }

// MeantPath is nil: what a client leaves out of the path stands in its base URL.
func (Wire) MeantPath([]byte, func(header string) bool) []byte { return nil }

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

// Begins reports whether an event of a stream is more than the frame of an answer: a piece of one, its end, or what is
// none of the dialect's. The event's kind does not matter.
func (Wire) Begins(_, event []byte) bool {
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

// Holds is for how long the frame of an answer may be held that does not begin.
func (Wire) Holds() time.Duration { return 2 * time.Second }

// Fails reports whether an event of a stream tells of an error, by its kind or in what it says, or of an end before
// anything was said.
func (Wire) Fails(kind, event []byte) bool {
	if bytes.EqualFold(kind, []byte("error")) || bytes.HasSuffix(kind, []byte(".failed")) {
		return true
	}
	c, ok := readPiece(event)
	if !ok {
		return false
	}
	something, ends := c.says()
	return !mute(c.Error) || ends && !something
}

// Usage is how many tokens a request had, as the provider says at the end of its answer; 0 if it does not. heard is
// what comes last of it, whole or streamed.
func (Wire) Usage(heard []byte) (input int) {
	const name = `"prompt_tokens"`
	i := bytes.LastIndex(heard, []byte(name))
	if i < 0 {
		return 0
	}
	n, digits := 0, bytes.TrimLeft(heard[i+len(name):], " \t\r\n:")
	for _, d := range digits {
		if d < '0' || d > '9' || n > unit.MostTokens {
			break
		}
		n = n*10 + int(d-'0')
	}
	return n
}
