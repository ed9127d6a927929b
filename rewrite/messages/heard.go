package messages

import (
	"bytes"
	"time"

	"github.com/tidwall/gjson"

	"epitome/rewrite/reply"
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

// Holds is how long a stream may be held, counted from an event that neither begins nor fails.
func (Wire) Holds(_, _ []byte) time.Duration { return 2 * time.Second }

// Fails reports whether an event of a stream tells of an error, or, as it is the first one that Begins, of an end
// before anything was said.
func (Wire) Fails(kind, event []byte) bool { return stepOf(kind, event).Fails() }
