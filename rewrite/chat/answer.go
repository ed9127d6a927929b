package chat

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/answer"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// pathEnd is how the path of every request ends that holds a conversation: servers have it below paths of their own.
const pathEnd = "/chat/completions"

func (Dialect) Serves(path []byte) bool { return bytes.HasSuffix(path, []byte(pathEnd)) }

// No path asks for the size of a conversation alone, or has the provider compact one, and whatever a client leaves out
// of the path stands in its base URL.

func (Dialect) Counts([]byte) bool                                { return false }
func (Dialect) Compacts([]byte) bool                              { return false }
func (Dialect) MeantPath([]byte, func(header string) bool) []byte { return nil }

var format = answer.Format{Step: stepOf, Document: readDocument, Event: readEvent, DoneEnds: true}

func (Dialect) Begins(kind, event []byte) bool  { return format.Begins(kind, event) }
func (Dialect) Fails(kind, event []byte) bool   { return format.Fails(kind, event) }
func (Dialect) Holds(_, _ []byte) time.Duration { return 2 * time.Second }

// stepOf returns what an event means for its answer.
func stepOf(name string, e gjson.Result) answer.Step {
	choices := e.Get("choices")
	speaks, ends := speaks(choices)
	switch {
	case strings.HasSuffix(name, ".failed") || !isEmpty(e.Get("error")):
		return answer.ErrorStep
	case speaks:
		return answer.SaidStep
	case ends:
		return answer.EndStep
	case choices.Get("#").Int() > 0 || e.Get("usage").IsObject():
		return answer.FrameStep
	}
	return answer.SaidStep
}

// speaks reports whether any choice says something, and whether one ends.
func speaks(choices gjson.Result) (speaks, ends bool) {
	choices.ForEach(func(_, choice gjson.Result) bool {
		ends = ends || choice.Get("finish_reason").Str != ""
		choice.Get("delta").ForEach(func(key, v gjson.Result) bool {
			speaks = key.Str != "role" && !isEmpty(v)
			return !speaks
		})
		return !speaks
	})
	return speaks, ends
}

func isEmpty(v gjson.Result) bool {
	return v.Type == gjson.Null || v.Raw == `""` || v.Raw == "[]" || v.Raw == "{}"
}

// Opening says nothing: usage stands at the end of an answer.
func (Dialect) Opening([]byte) answer.Counts { return answer.NoCounts() }

// Usage reads the last usage that an answer reports, and how many tokens the request had; 0 if it does not say. heard is
// all of an answer, whole or streamed, or its end.
func (Dialect) Usage(heard []byte, _ answer.Counts) (u event.Usage, input int) {
	isUsage := func(v jsonspan.Span) bool { return gjson.GetBytes(v.Of(heard), "prompt_tokens").Exists() }
	v := answer.LastMember(heard, "usage", isUsage)
	counts := readUsage(gjson.ParseBytes(v.Of(heard)))
	return counts.Usage(), max(counts.Input, 0)
}

// readUsage reads an object of usage. Each provider has its own place for what its cache had: of several, one counts.
func readUsage(v gjson.Result) answer.Counts {
	s := answer.NoCounts()
	s.Input = answer.Tokens(v.Get("prompt_tokens"))
	s.Output = answer.Tokens(v.Get("completion_tokens"))
	s.Total = answer.Tokens(v.Get("total_tokens"))
	s.Reasoning = answer.Tokens(v.Get("completion_tokens_details.reasoning_tokens"))
	s.Write5m = answer.Tokens(v.Get("prompt_tokens_details.cache_write_tokens"))
	for _, path := range [...]string{
		"prompt_cache_hit_tokens", // DeepSeek
		"prompt_tokens_details.cached_tokens",
		"cached_tokens", // Moonshot
	} {
		if s.Read = answer.Tokens(v.Get(path)); s.Read >= 0 {
			break
		}
	}
	s.Charged = answer.Dollars(v.Get("cost")) // OpenRouter
	if v.Get("is_byok").Bool() {              // what was paid with a key of the client's own stands beside it
		s.Charged += answer.Dollars(v.Get("cost_details.upstream_inference_cost"))
	}
	return s
}

func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	return conversation.CapOutput(body, tokens, usualCap, otherCap)
}

func (Dialect) ReadAnswer(contentType string, body io.Reader) (prose.Answer, error) {
	return format.Read(contentType, body)
}

// cutReasons are reasons to finish an answer that is not whole.
var cutReasons = [...]string{"length", "max_tokens", "model_length", "model_context_window_exceeded"}

func readDocument(a *answer.Answer, doc gjson.Result) {
	readPiece(a, doc)
	if !isEmpty(doc.Get("error")) || doc.Get("choices.#").Int() == 0 {
		a.Fail([]byte(doc.Raw))
	}
}

func readEvent(a *answer.Answer, _ string, event gjson.Result) (last bool) {
	readPiece(a, event)
	return false
}

// readPiece reads an answer, or a piece of one.
func readPiece(a *answer.Answer, v gjson.Result) {
	used := readUsage(v.Get("usage"))
	a.Counts.Input, a.Counts.Output = max(a.Counts.Input, used.Input), max(a.Counts.Output, used.Output)
	a.Counts.Read, a.Counts.Write5m = max(a.Counts.Read, used.Read), max(a.Counts.Write5m, used.Write5m)
	v.Get("choices").ForEach(func(_, choice gjson.Result) bool {
		if choice.Get("index").Int() != 0 {
			return true
		}
		reason := choice.Get("finish_reason").Str
		a.IsOver = a.IsOver || reason != ""
		a.Cut = a.Cut || slices.Contains(cutReasons[:], reason)
		a.Refused = a.Refused || reason == "content_filter" || reason == "refusal"
		readMessagePiece(a, choice.Get("message"))
		readMessagePiece(a, choice.Get("delta"))
		return true
	})
}

// readMessagePiece reads a message or a piece of one. Reasoning has fields of its own, which are not read.
func readMessagePiece(a *answer.Answer, said gjson.Result) {
	content := said.Get("content")
	a.Said.WriteString(content.Str)
	for _, part := range content.Array() {
		if kind := part.Get("type").Str; kind == "text" || kind == "" {
			a.Said.WriteString(part.Get("text").Str)
		}
	}
	a.Refused = a.Refused || said.Get("refusal").Str != ""
	a.Called = a.Called || !isEmpty(said.Get("tool_calls")) || !isEmpty(said.Get("function_call"))
}
