package messages

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/jsonspan"
)

// Step returns the meaning of an event for its answer. A text block that is still empty is a part of the frame.
func (Dialect) Step(name string, e gjson.Result) answer.Step {
	isFrame := false
	switch name {
	case "message_start", "ping", "content_block_stop":
		isFrame = true
	case "content_block_start":
		isFrame = e.Get("content_block.type").Str == "text" && e.Get("content_block.text").Str == ""
	case "content_block_delta":
		isFrame = e.Get("delta.type").Str == "text_delta" && e.Get("delta.text").Str == ""
	case "message_delta":
		if e.Get("delta.stop_reason").Str != "" {
			return answer.EndStep
		}
		isFrame = true
	case "message_stop":
		return answer.EndStep
	}
	if isFrame {
		return answer.FrameStep
	}
	return answer.SaidStep
}

// Add adds an answer (a list of blocks), or an event of a stream (a block or a piece), to a. Thinking is not read.
func (Dialect) Add(a *answer.Partial, v gjson.Result) {
	for _, block := range append(v.Get("content").Array(), v.Get("content_block"), v.Get("delta")) {
		switch block.Get("type").Str {
		case "text", "text_delta":
			a.Said.WriteString(block.Get("text").Str)
		case "tool_use":
			a.Called = true
		}
	}
	switch cmp.Or(v.Get("stop_reason").Str, v.Get("delta.stop_reason").Str) { // of a whole answer, or of a stream
	case "max_tokens", "model_context_window_exceeded":
		a.Cut = true
	case "refusal":
		a.Refused = true
	case "pause_turn": // the provider has paused in a series of calls of its own tools: the answer is not finished
		a.Called = true
	}
}

// Usage reads the token counts of an answer, with those of compactions that the provider has made within the turn. A
// stream has the counts of its request at the start: without these nothing is known. It has the final output at its
// end; without it, u.Cut is set.
func (Dialect) Usage(text []byte) (u event.Usage, request int) {
	t := turn{usage: event.Usage{CacheUnknown: true}, output: answer.Unknown}
	hasStart, hasEnd := t.addStream(text)
	if !hasStart && hasEnd {
		return u, 0
	}
	if !hasStart { // the answer is not a stream
		t.add(answer.LastUsage(text, "input_tokens"))
	}
	if len(t.calls) < 2 { // else no window ever held the sum
		request = t.usage.Input + t.usage.Read + t.usage.Write5m
	}
	u, output := t.sum()
	u.Input += u.Read + u.Write5m
	u.Write1h = min(u.Write1h, u.Write5m)
	u.Write5m -= u.Write1h
	u = answer.Complete(u, output, answer.Unknown)
	u.Uncached = u.Source != "" && !u.CacheUnknown && u.Read+u.Write5m+u.Write1h == 0
	u.Cut = u.Source != "" && hasStart && !hasEnd
	return u, request
}

// turn has the counts of an answer as the API states them.
type turn struct {
	usage  event.Usage    // see readCounts
	output int            // answer.Unknown until it is stated
	calls  []gjson.Result // of the model; none if it is not said that there were several
}

// add reads the counts in v. Later counts replace earlier ones, and the output only grows.
func (t *turn) add(v gjson.Result) {
	readCounts(v, &t.usage)
	t.output = max(t.output, answer.Tokens(v.Get("output_tokens")))
	if list := v.Get("iterations"); list.IsArray() {
		t.calls = list.Array()
	}
}

// addStream reads the counts in the events of a stream. It reports whether it has a start, and the count of the output
// at its end.
func (t *turn) addStream(text []byte) (hasStart, hasEnd bool) {
	for event := range answer.Events(text) {
		if !jsonspan.Valid(event.Data) {
			continue
		}
		e := gjson.ParseBytes(event.Data)
		switch e.Get("type").Str {
		case "message_start":
			hasStart = true
			t.add(e.Get("message.usage"))
		case "message_delta":
			hasEnd = hasEnd || e.Get("usage.output_tokens").Exists()
			t.add(e.Get("usage"))
		}
	}
	return hasStart, hasEnd
}

// readCounts sets the counts of u that v states. Input is without what the cache had or took up, and Write5m has all
// that was written to it.
func readCounts(v gjson.Result, u *event.Usage) {
	for path, count := range map[string]*int{
		"input_tokens": &u.Input, "cache_read_input_tokens": &u.Read, "cache_creation_input_tokens": &u.Write5m,
		"cache_creation.ephemeral_1h_input_tokens": &u.Write1h,
	} {
		if n := answer.Tokens(v.Get(path)); n >= 0 {
			*count = n
			u.CacheUnknown = u.CacheUnknown && path == "input_tokens"
		}
	}
}

// sum returns the counts of the turn with its output: the sum over all calls, if it is said that there were several.
// Those at the top leave out the calls that made a summary.
func (t *turn) sum() (sum event.Usage, output int) {
	if len(t.calls) == 0 {
		return t.usage, t.output
	}
	sum.CacheUnknown = true
	for _, call := range t.calls {
		if call.Get("type").Str == "advisor_message" { // of another model, at its own price
			continue
		}
		u := event.Usage{CacheUnknown: true}
		readCounts(call, &u)
		sum.Input += u.Input
		sum.Read += u.Read
		sum.Write5m += u.Write5m
		sum.Write1h += u.Write1h
		sum.CacheUnknown = sum.CacheUnknown && u.CacheUnknown
		output += max(0, answer.Tokens(call.Get("output_tokens")))
	}
	return sum, output
}

func (Dialect) Prompt(model, system, user string, f answer.Form) []byte {
	stream := ""
	if f.Stream {
		stream = `,"stream":true`
	}
	return fmt.Appendf(nil, `{"model":%s,"%s":%d,"system":%s,"messages":[%s]%s}`, jsonspan.Quoted(model),
		answer.UsualCap, f.MaxOutput, jsonspan.Quoted(system), api.Message("user", user), stream)
}

// Continue puts an instruction behind the conversation in body, as a user's message, and asks for one plain text.
// System messages at the end stay behind it, as the API takes no user's message right behind them.
func (d Dialect) Continue(body []byte, instruction string, f answer.Form) ([]byte, error) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return nil, err
	}
	r, err := d.Read(body, nil)
	if err != nil {
		return nil, err
	}
	last := len(r.Items) - 1
	for last > 0 && r.Items[last].Role == conversation.System {
		last--
	}
	choice := o.In("tool_choice").Text("type")
	if last < 0 || choice == "any" || choice == "tool" { // the cache depends on tool_choice, so it must stay
		return nil, errors.New("there is no conversation, or the model must call a tool")
	}
	maxOutput := f.MaxOutput
	budget := answer.ThinkingBudget(o)
	if budget > 0 { // thinking comes on top, up to the client's cap: more may be refused
		maxOutput = min(maxOutput+budget, max(r.MaxOutput, maxOutput))
	}
	message := fmt.Sprintf(`,{"role":"user","content":[{"type":"text","text":%s%s}]}`,
		jsonspan.Quoted(instruction), missingMark(r))
	asked, err := jsonspan.Splice(body, []jsonspan.Edit{jsonspan.Insert(r.Items[last].MessageSpan().End, message)}, nil)
	if err != nil {
		return nil, err
	}
	asked = answer.Plain(asked, f, api.Dropped)
	return jsonspan.Set(asked, answer.UsualCap, strconv.Itoa(maxOutput)), nil
}

// missingMark returns a cache mark, with its key, for the end of the conversation in r, as the provider reads its cache
// only at marks, and the client's has moved on to a message behind r. It copies the last one on tools or system prompt.
// It is empty if these have none, if a message of r has one, if all are used up, or if the provider marks the end.
func missingMark(r *conversation.Request) string {
	const mostMarks = 4 // that a request may have
	isMarked := func(it conversation.Item) bool { return len(it.Marks) > 0 }
	marks := gjson.GetBytes(r.Tools.Of(r.Body), "#."+marker).Array()
	marks = append(marks, gjson.GetBytes(r.System.Of(r.Body), "#."+marker).Array()...)
	n := len(marks)
	if n == 0 || n >= mostMarks || slices.ContainsFunc(r.Items, isMarked) || gjson.GetBytes(r.Body, marker).IsObject() {
		return ""
	}
	return `,"` + marker + `":` + marks[n-1].Raw
}
