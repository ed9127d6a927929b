package chat

import (
	"bytes"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/rewrite/reply"
	"epitome/rewrite/span"
	"epitome/rewrite/spent"
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

// stepOf reads an event of a stream.
func stepOf(kind, data []byte) reply.Step { return reply.ReadStep(kind, data, stepOfObject) }

// stepOfObject is what an event of a name means. An answer that ends before anything was said has failed.
func stepOfObject(name string, e gjson.Result) reply.Step {
	choices := e.Get("choices")
	something, ends := says(choices)
	switch {
	case strings.HasSuffix(name, ".failed") || !isMute(e.Get("error")):
		return reply.ErrorStep
	case something:
		return reply.SaidStep
	case ends:
		return reply.EndStep
	case choices.Get("#").Int() > 0 || e.Get("usage").IsObject():
		return reply.FrameStep
	}
	return reply.SaidStep
}

// says reports whether any choice says something, and whether one ends.
func says(choices gjson.Result) (something, ends bool) {
	choices.ForEach(func(_, choice gjson.Result) bool {
		ends = ends || choice.Get("finish_reason").Str != ""
		choice.Get("delta").ForEach(func(key, v gjson.Result) bool {
			something = key.Str != "role" && !isMute(v)
			return !something
		})
		return !something
	})
	return something, ends
}

// isMute reports whether a value says nothing.
func isMute(v gjson.Result) bool {
	return v.Type == gjson.Null || v.Raw == `""` || v.Raw == "[]" || v.Raw == "{}"
}

// Begins reports whether an event of a stream is more than the frame of an answer: a piece of one, its end, or what is
// none of the dialect's.
func (Wire) Begins(kind, event []byte) bool { return stepOf(kind, event).Begins() }

// Holds is how long a stream may be held, counted from an event that neither begins nor fails.
func (Wire) Holds(_, _ []byte) time.Duration { return 2 * time.Second }

// Fails reports whether an event of a stream tells of an error, or, as it is the first one that Begins, of an end
// before anything was said.
func (Wire) Fails(kind, event []byte) bool { return stepOf(kind, event).Fails() }

// Opening says nothing: usage stands at the end of an answer.
func (Wire) Opening([]byte) spent.Said { return spent.Nothing() }

// Usage is what an answer says of its tokens at its end, and how many of them the request had; 0 if it does not say.
// heard is what comes last of it, whole or streamed.
func (Wire) Usage(heard []byte, _ spent.Said) (u event.Usage, input int) {
	const name = `"prompt_tokens"`
	i := bytes.LastIndex(heard, []byte(name))
	if i < 0 {
		return u, 0
	}
	n, digits := 0, bytes.TrimLeft(heard[i+len(name):], " \t\r\n:")
	for _, d := range digits {
		if d < '0' || d > '9' || n > unit.MostTokens {
			break
		}
		n = n*10 + int(d-'0')
	}
	said := usageAround(heard, i)
	return said.Usage(), n
}

// usageAround returns what the object says that has its count of the request at so many bytes.
func usageAround(heard []byte, at int) spent.Said {
	const name = `"usage"`
	i := bytes.LastIndex(heard[:at], []byte(name))
	if i < 0 {
		return spent.Nothing()
	}
	i = span.SkipSpace(heard, i+len(name))
	if i >= len(heard) || heard[i] != ':' {
		return spent.Nothing()
	}
	i = span.SkipSpace(heard, i+1)
	if end, err := span.EndOfValue(heard, i); err == nil && end > at {
		return readUsage(gjson.ParseBytes(heard[i:end]))
	}
	return spent.Nothing()
}

// readUsage reads an object of usage. Each provider has its own place for what its cache had: of several, one counts.
func readUsage(v gjson.Result) spent.Said {
	s := spent.Nothing()
	hits, bare := spent.Unsaid, spent.Unsaid
	own, upstream := int64(0), int64(0)
	v.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "prompt_tokens":
			s.Input = spent.Tokens(v)
		case "completion_tokens":
			s.Output = spent.Tokens(v)
		case "total_tokens":
			s.Total = spent.Tokens(v)
		case "prompt_tokens_details":
			s.Read, s.Write5m = spent.Tokens(v.Get("cached_tokens")), spent.Tokens(v.Get("cache_write_tokens"))
		case "completion_tokens_details":
			s.Reasoning = spent.Tokens(v.Get("reasoning_tokens"))
		case "prompt_cache_hit_tokens": // DeepSeek
			hits = spent.Tokens(v)
		case "cached_tokens": // Moonshot
			bare = spent.Tokens(v)
		case "cost": // OpenRouter
			own = spent.Dollars(v)
		case "cost_details": // what was paid with a key of the client's own, beside it
			upstream = spent.Dollars(v.Get("upstream_inference_cost"))
		}
		return true
	})
	if s.Read < 0 {
		s.Read = bare
	}
	if hits >= 0 {
		s.Read = hits
	}
	s.Charged = own
	if v.Get("is_byok").Bool() { // OpenRouter may take nothing for itself
		s.Charged += upstream
	}
	return s
}
