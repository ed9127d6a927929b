package messages

import (
	"bytes"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"epitome/rewrite/reply"
	"epitome/rewrite/span"
	"epitome/sse"
)

// This file is what the wire needs to know of the dialect: where its requests go, and what an answer tells as it
// passes.

// Wire is the dialect with what the wire needs to know of it besides.
type Wire struct{ Dialect }

// Path is where the API takes a conversation.
func (Dialect) Path() string { return path }

// Authorize gives the headers of a request that speaks for a key: the API wants to be told which of its versions it is
// for, too.
func (Dialect) Authorize(key string) (headers [][2]string) {
	return [][2]string{{"x-api-key", key}, {apiVersion, "2023-06-01"}}
}

// apiVersion is the header that every request of the API has.
const apiVersion = "anthropic-version"

const (
	version = "/v1"
	short   = "/messages"

	// path is how the path of every request ends that holds a conversation: servers have it below paths of their own.
	// One that ends in the short form alone may belong to another API.
	path = version + short

	counting = "/count_tokens" // behind the path: it asks how many tokens the conversation has
)

// Serves reports whether a request with that path holds a conversation.
func (Wire) Serves(p []byte) bool { return bytes.HasSuffix(p, []byte(path)) }

// Counts reports whether a request with that path asks how many tokens a conversation has.
func (Wire) Counts(p []byte) bool { return bytes.HasSuffix(p, []byte(path+counting)) }

// Compacts is false: what has the provider compact a conversation stands in the body.
func (Wire) Compacts([]byte) bool { return false }

// MeantPath is the path with its version, for a request that says by a header which API it is for: the AI SDK leaves
// the version to the base URL, and agents are given one without.
func (Wire) MeantPath(p []byte, has func(header string) bool) []byte {
	if string(p) != short && string(p) != short+counting || !has(apiVersion) {
		return nil
	}
	return append([]byte(version), p...)
}

// stepOf reads an event of a stream.
func stepOf(kind, data []byte) reply.Step { return reply.ReadStep(kind, data, stepOfObject) }

// stepOfObject is what an event of a name means.
func stepOfObject(name string, e gjson.Result) reply.Step {
	switch name {
	case "message_start", "ping", "content_block_stop":
		return reply.FrameStep
	case "content_block_start":
		if e.Get("content_block.type").Str == "text" && e.Get("content_block.text").Str == "" {
			return reply.FrameStep
		}
	case "content_block_delta":
		if isMute(e.Get("delta")) {
			return reply.FrameStep
		}
	case "message_delta":
		if e.Get("delta.stop_reason").Str == "" {
			return reply.FrameStep
		}
		return reply.EndStep
	case "message_stop":
		return reply.EndStep
	default:
		if name == "error" || reply.HasError(e) {
			return reply.ErrorStep
		}
	}
	return reply.SaidStep
}

// isMute reports whether a piece of an answer adds nothing to it.
func isMute(delta gjson.Result) bool {
	mute := true
	delta.ForEach(func(key, v gjson.Result) bool {
		mute = key.Str == "type" || v.Type == gjson.Null || v.Raw == `""`
		return mute
	})
	return mute
}

// Begins reports whether an event of a stream is more than the frame of an answer: a piece of what is said, the begin
// of a block that is no text, its end, or what is none of the dialect's.
func (Wire) Begins(kind, event []byte) bool { return stepOf(kind, event).Begins() }

// Holds is for how long the frame of an answer may be held that does not begin.
func (Wire) Holds() time.Duration { return 2 * time.Second }

// Fails reports whether an event of a stream tells of an error, or, as it is the first one that Begins, of an end
// before anything was said.
func (Wire) Fails(kind, event []byte) bool { return stepOf(kind, event).Fails() }

// inputs are the names of what together is the input of a request: what was read from a cache, and what was written to
// one, is not in the first.
var inputs = [...]string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}

const readFromCache = 2 // of inputs

// usage is what an answer says of its request's size. What it says last is true.
type usage struct {
	of     [len(inputs)]int // by inputs; -1 is not said
	last   int              // the input of the last turn, if the model had several before it answered; else 0
	output int
}

func newUsage() usage { return usage{of: [...]int{-1, -1, -1}} }

// take takes what an object says of sizes.
func (u *usage) take(v gjson.Result) {
	if !v.IsObject() {
		return
	}
	v.ForEach(func(key, value gjson.Result) bool {
		switch i := slices.Index(inputs[:], key.Str); {
		case i >= 0:
			if n, ok := reply.Tokens(value); ok {
				u.of[i] = n
			}
		case key.Str == "output_tokens":
			n, _ := reply.Tokens(value)
			u.output = max(u.output, n)
		case key.Str == "iterations":
			u.takeLastTurn(value)
		}
		return true
	})
}

// takeLastTurn takes what is said of the last of several turns that are one answer.
func (u *usage) takeLastTurn(turns gjson.Result) {
	for _, turn := range turns.Array() {
		if turn.Get("type").Str == "message" {
			one := newUsage()
			one.take(turn)
			u.last = one.sum()
		}
	}
}

// sum is the whole input of all turns.
func (u *usage) sum() (input int) {
	for _, n := range u.of {
		input += max(n, 0)
	}
	return input
}

// window is what filled the model's window.
func (u *usage) window() int {
	if u.last > 0 {
		return u.last
	}
	return u.sum()
}

// Usage is how many tokens a request had, as the provider says in its answer: what came from a cache and went to one,
// too. It is 0 if that is not said, and if only a part of it may have been heard.
func (Wire) Usage(heard []byte) (input int) {
	u, isStream, isWhole := newUsage(), false, false
	for f := range sse.Fields(heard) {
		if string(f.Name) != "data" || !gjson.ValidBytes(f.Value) {
			continue
		}
		switch e := gjson.ParseBytes(f.Value); e.Get("type").Str {
		case "message_start":
			isStream, isWhole = true, true
			u.take(e.Get("message.usage"))
		case "message_delta":
			isStream = true
			u.take(e.Get("usage"))
		}
	}
	switch {
	case !isStream:
		u.take(lastUsage(heard))
	case !isWhole && u.last == 0 && slices.Contains(u.of[:], -1):
		return 0 // the beginning of the stream may have said the rest
	}
	return u.window()
}

// lastUsage is what an answer that is no stream, or its end, says of sizes. Inputs of tools may have that name in them.
func lastUsage(heard []byte) gjson.Result {
	const name = "usage"
	v := span.LastMember(heard, name, func(v span.Span) bool { return span.Closes(heard[v.End:], 1) })
	switch {
	case !v.Empty():
		return gjson.ParseBytes(v.Of(heard))
	case span.Valid(heard): // it stands in front of a long answer
		return gjson.GetBytes(heard, name)
	}
	return gjson.Result{}
}
