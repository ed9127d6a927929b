package overflow

import (
	"slices"

	"github.com/tidwall/gjson"
)

// nearlyFull is the share of the window, in percent, above which an answer without a word is taken for an overflow.
const nearlyFull = 85

// judgeSilence is the verdict on an answer that complains of nothing.
func judgeSilence(a Answer, s Sent, c complaint) Verdict {
	full := s.Window > 0 && s.Tokens > s.Window/100*nearlyFull
	empty := c.body == ""
	switch {
	case a.Status == 413:
		return Verdict{Kind: Bytes, Why: "the status says that the request is too large"}
	case a.Status == 400 && empty && full:
		return Verdict{Kind: Input, Why: "the request fills the window, and was refused without a word"}
	case a.Status < 300 && c.stream && c.frames == 0 && full:
		return Verdict{Kind: Input, Why: "the request fills the window, and the answer is empty"}
	case a.Status < 300 && c.stream && !c.said && (c.full || c.capped && s.leftRoom(c.made)):
		return Verdict{Kind: Input, Requested: c.used, Why: endedEmpty}
	case a.Status < 300 && !c.stream && len(a.Body) <= mostBody:
		if c.answer.isAnswer() { // as nearly all
			return Verdict{Why: isAnAnswer}
		}
		return judgeEmptyAnswer(c.body, s)
	}
	return Verdict{Why: "it does not say why"}
}

const isAnAnswer = "it is an answer"

// judgeEmptyAnswer finds an answer that ended before its first token for want of room.
func judgeEmptyAnswer(body string, s Sent) Verdict {
	none := Verdict{Why: isAnAnswer}
	v := gjson.Parse(body)
	made := firstOf(v, "usage.completion_tokens", "usage.output_tokens", "eval_count")
	if !made.Exists() || made.Int() != 0 && !isHollow(v) || !gjson.Valid(body) { // most have made something: this order
		return none
	}
	reason := endOfAnswer(v)
	explicit := Full(reason, 1) || isCapped(v) && !saysAny(v) && s.leftRoom(int(made.Int()))
	if !explicit && (!Full(reason, 0) || made.Int() != 0) {
		return none
	}
	used := usedBy(v)
	if !explicit && (s.Window <= 0 || max(s.Tokens, used) <= s.Window/100*nearlyFull ||
		v.Get("usage.total_tokens").Int() > int64(used)) {
		return none // there was room, or what was made is not counted as such: thoughts
	}
	return Verdict{Kind: Input, Requested: used, Why: endedEmpty}
}

// isHollow reports whether a message has nothing in it: one like that costs a few tokens too.
func isHollow(answer gjson.Result) bool {
	content := answer.Get("content")
	return content.IsArray() && content.Get("#").Int() == 0 ||
		answer.Get("incomplete_details.reason").Str != "" && !saysAny(answer)
}

// isCapped reports whether a response says that it ended at the cap on its output.
func isCapped(response gjson.Result) bool {
	return response.Get("incomplete_details.reason").String() == "max_output_tokens"
}

// saysAny reports whether a response has more in it than messages without a word.
func saysAny(response gjson.Result) (said bool) {
	response.Get("output").ForEach(func(_, item gjson.Result) bool {
		said = item.Get("type").String() != "message"
		item.Get("content").ForEach(func(_, part gjson.Result) bool {
			said = said || part.Get("text").String() != "" || part.Get("refusal").String() != ""
			return !said
		})
		return !said
	})
	return said
}

// leftRoom reports that so many tokens of output are fewer than the cap that was asked for: then it is the window that
// has ended.
func (s Sent) leftRoom(made int) bool { return made == 0 || made < s.MaxOutput }

const endedEmpty = "the answer ended before its first token for want of room"

// endOfAnswer is why an answer ended, as it says; empty if it does not.
func endOfAnswer(v gjson.Result) string {
	return firstOf(v, "choices.0.finish_reason", "stop_reason", "delta.stop_reason", "done_reason",
		"incomplete_details.reason", "response.incomplete_details.reason").String()
}

// usedBy is how many tokens a request had, as the answer says: what came from a cache and what went to one stand beside
// the rest in some dialects, and in it in others.
func usedBy(v gjson.Result) int {
	used := firstOf(v, "usage.prompt_tokens", "usage.input_tokens", "prompt_eval_count").Int()
	for _, apart := range [...]string{"usage.cache_read_input_tokens", "usage.cache_creation_input_tokens"} {
		used += max(v.Get(apart).Int(), 0)
	}
	return int(min(max(used, 0), mostTokens))
}

// hear notes of a frame of a stream what tells whether the answer ended for want of room before it said anything.
func (c *complaint) hear(v gjson.Result) {
	for _, piece := range [...]string{"delta.text", "delta.thinking", "delta.partial_json", "choices.0.delta.content"} {
		c.said = c.said || v.Get(piece).String() != ""
	}
	block := v.Get("content_block.type").String()
	c.said = c.said || block != "" && block != "text" || v.Get("choices.0.delta.tool_calls").Exists()
	c.full = c.full || Full(endOfAnswer(v), 1)
	c.used = max(c.used, usedBy(v), usedBy(v.Get("message")))
	c.hearResponse(v)
}

// hearResponse does so in streams that end with the answer as a whole, and tell pieces of it by items.
func (c *complaint) hearResponse(v gjson.Result) {
	item := v.Get("item.type").String()
	c.said = c.said || v.Get("delta").Str != "" || item != "" && item != "message"
	response := v.Get("response")
	c.said = c.said || saysAny(response)
	if isCapped(response) {
		c.capped, c.made = true, int(response.Get("usage.output_tokens").Int())
	}
	c.used = max(c.used, usedBy(response))
}

func firstOf(v gjson.Result, paths ...string) gjson.Result {
	for _, path := range paths {
		if found := v.Get(path); found.Exists() {
			return found
		}
	}
	return gjson.Result{}
}

// Full reports whether the reason why an answer ended, with so many tokens made, is that the window was full.
func Full(reason string, made int) bool {
	var w wording
	w.read(reason)
	if capacity.in(w.text) && excess.in(w.text) {
		return true
	}
	switch reason {
	case "length", "max_tokens", "max_output_tokens", "MAX_TOKENS":
		return made == 0
	}
	return false
}

// Cut is what an answer shows of a request that its provider seems to have cut without saying so.
type Cut struct {
	Size          int  // of the window, in tokens, about; not above the one believed
	Used, Counted int  // tokens of the request: as the provider counts, and by the best count of what was sent
	Exact         bool // what the provider counts is itself a size that windows have
}

// Truncated reports that a provider has cut a request without saying so: it counted far fewer tokens than were sent, or
// exactly as many as windows have. used is the whole prompt as the provider counted it, counted is the best count of
// what was sent.
func Truncated(used, counted, believed int) (c Cut, ok bool) {
	c = Cut{Used: used, Counted: counted}
	if used < leastUsed || counted < LeastWindow || used >= counted {
		return c, false
	}
	c.Exact = used == believed || isCommon(used) && counted-used >= used/10
	switch {
	case c.Exact:
		c.Size = used
	case used*10 < counted*6:
		for c.Size = LeastWindow; c.Size < used; c.Size *= 2 { // servers that cut keep half of a window or more of it
		}
		if c.Size >= counted {
			c.Size = used
		}
	}
	if believed > 0 {
		c.Size = min(c.Size, believed)
	}
	return c, c.Size >= LeastWindow && c.Size <= MostWindow
}

// Confirms reports whether a later cut shows that the one before was none of the vocabulary's: more was sent, and the
// provider's count did not grow with it. A vocabulary that makes fewer tokens of everything counts a growing request
// with a growing number.
func (c Cut) Confirms(before Cut) bool {
	const most = .8 // of the growth; counts of other texts differ by less
	sent := float64(c.Counted) / float64(max(1, before.Counted))
	used := float64(c.Used) / float64(max(1, before.Used))
	return c.Size == before.Size && (c.Exact || used < most*sent)
}

// leastUsed is how many tokens a server keeps at least of what it cuts.
const leastUsed = 256

// isCommon reports that a number is one that people choose for windows: so few are that chance hardly meets them.
func isCommon(n int) bool {
	odd := n
	for odd > 0 && odd%2 == 0 {
		odd /= 2
	}
	return n >= LeastWindow && slices.Contains([]int{1, 3, 5, 125, 625}, odd)
}
