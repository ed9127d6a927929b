package chat

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/reply"
	"epitome/rewrite/spent"
)

// pathEnd is how the path of every request ends that holds a conversation: servers have it below paths of their own.
const pathEnd = "/chat/completions"

func (Dialect) Serves(path []byte) bool { return bytes.HasSuffix(path, []byte(pathEnd)) }

// No path asks for the size of a conversation alone, or has the provider compact one, and whatever a client leaves out
// of the path stands in its base URL.

func (Dialect) Counts([]byte) bool                                { return false }
func (Dialect) Compacts([]byte) bool                              { return false }
func (Dialect) MeantPath([]byte, func(header string) bool) []byte { return nil }

func (Dialect) Begins(kind, event []byte) bool  { return reply.ReadStep(kind, event, stepOf).Begins() }
func (Dialect) Fails(kind, event []byte) bool   { return reply.ReadStep(kind, event, stepOf).Fails() }
func (Dialect) Holds(_, _ []byte) time.Duration { return 2 * time.Second }

// stepOf returns what an event means for its answer.
func stepOf(name string, e gjson.Result) reply.Step {
	choices := e.Get("choices")
	speaks, ends := speaks(choices)
	switch {
	case strings.HasSuffix(name, ".failed") || !isEmpty(e.Get("error")):
		return reply.ErrorStep
	case speaks:
		return reply.SaidStep
	case ends:
		return reply.EndStep
	case choices.Get("#").Int() > 0 || e.Get("usage").IsObject():
		return reply.FrameStep
	}
	return reply.SaidStep
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
func (Dialect) Opening([]byte) spent.Said { return spent.Nothing() }

// Usage reads the last usage that an answer reports, and how many tokens the request had; 0 if it does not say. heard is
// all of an answer, whole or streamed, or its end.
func (Dialect) Usage(heard []byte, _ spent.Said) (u event.Usage, input int) {
	isUsage := func(v jsonspan.Span) bool { return gjson.GetBytes(v.Of(heard), "prompt_tokens").Exists() }
	v := reply.LastMember(heard, "usage", isUsage)
	said := readUsage(gjson.ParseBytes(v.Of(heard)))
	return said.Usage(), max(said.Input, 0)
}

// readUsage reads an object of usage. Each provider has its own place for what its cache had: of several, one counts.
func readUsage(v gjson.Result) spent.Said {
	s := spent.Nothing()
	s.Input = spent.Tokens(v.Get("prompt_tokens"))
	s.Output = spent.Tokens(v.Get("completion_tokens"))
	s.Total = spent.Tokens(v.Get("total_tokens"))
	s.Reasoning = spent.Tokens(v.Get("completion_tokens_details.reasoning_tokens"))
	s.Write5m = spent.Tokens(v.Get("prompt_tokens_details.cache_write_tokens"))
	for _, path := range [...]string{
		"prompt_cache_hit_tokens", // DeepSeek
		"prompt_tokens_details.cached_tokens",
		"cached_tokens", // Moonshot
	} {
		if s.Read = spent.Tokens(v.Get(path)); s.Read >= 0 {
			break
		}
	}
	s.Charged = spent.Dollars(v.Get("cost")) // OpenRouter
	if v.Get("is_byok").Bool() {             // what was paid with a key of the client's own stands beside it
		s.Charged += spent.Dollars(v.Get("cost_details.upstream_inference_cost"))
	}
	return s
}

// CapOutput lowers the cap on the output under whatever name it stands.
func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return body, false
	}
	for _, key := range [...]string{usualCap, otherCap} {
		if n, err := strconv.Atoi(string(o.Value(key).Of(body))); err == nil && n > tokens {
			o.Set(key, strconv.Itoa(tokens))
		}
	}
	edits := o.Edits()
	out, err := jsonspan.Splice(body, edits)
	return out, err == nil && len(edits) > 0
}
