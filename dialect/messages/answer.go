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

// frame are the events that are parts of the frame, whatever they say.
var frame = []string{"message_start", "message_delta", "content_block_stop", "ping"}

// Step returns the meaning of an event for its answer. A text block that is still empty is a part of the frame.
func (Dialect) Step(name string, e gjson.Result) answer.Step {
	isEmpty := func(piece gjson.Result, kind string) bool {
		return piece.Get("type").Str == kind && piece.Get("text").Str == ""
	}
	block, delta := e.Get("content_block"), e.Get("delta")
	switch {
	case name == "message_stop", delta.Get("stop_reason").Str != "":
		return answer.EndStep
	case slices.Contains(frame, name), isEmpty(block, "text"), isEmpty(delta, "text_delta"):
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
	usages, hasStart, hasEnd := usagesIn(text)
	if !hasStart && hasEnd {
		return u, 0
	}
	if !hasStart { // the answer is not a stream
		usages = []gjson.Result{answer.LastUsage(text, "input_tokens")}
	}
	u = event.Usage{CacheUnknown: true, Output: answer.Unknown}
	var calls []gjson.Result // of the model; none if it is not said that there were several
	for _, v := range usages {
		readCounts(v, &u)
		if list := v.Get("iterations"); list.IsArray() {
			calls = list.Array()
		}
	}
	if len(calls) < 2 { // else no window ever held the sum
		request = u.Input + u.Read + u.Write5m
	}
	if len(calls) > 0 {
		u = sumOf(calls)
	}
	u.Input += u.Read + u.Write5m
	u.Write1h = min(u.Write1h, u.Write5m)
	u.Write5m -= u.Write1h
	u = answer.Complete(u, answer.Unknown)
	u.Uncached = u.Source != "" && !u.CacheUnknown && u.Read+u.Write5m+u.Write1h == 0
	u.Cut = u.Source != "" && hasStart && !hasEnd
	return u, request
}

// usagesIn returns the counts in the events of a stream, and whether it has a start, and the output at its end.
func usagesIn(text []byte) (list []gjson.Result, hasStart, hasEnd bool) {
	for event := range answer.Events(text) {
		if !jsonspan.Valid(event.Data) {
			continue
		}
		e := gjson.ParseBytes(event.Data)
		switch e.Get("type").Str {
		case "message_start":
			hasStart = true
			list = append(list, e.Get("message.usage"))
		case "message_delta":
			hasEnd = hasEnd || e.Get("usage.output_tokens").Exists()
			list = append(list, e.Get("usage"))
		}
	}
	return list, hasStart, hasEnd
}

// readCounts sets the counts of u that v states; the output only grows. Input is without what the cache had or took up,
// and Write5m has all that was written to it.
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
	u.Output = max(u.Output, answer.Tokens(v.Get("output_tokens")))
}

// sumOf returns the counts of several calls. Those beside them leave out the calls that made a summary.
func sumOf(calls []gjson.Result) event.Usage {
	sum := event.Usage{CacheUnknown: true}
	for _, call := range calls {
		if call.Get("type").Str == "advisor_message" { // of another model, at its own price
			continue
		}
		u := event.Usage{CacheUnknown: true}
		readCounts(call, &u)
		sum.Input += u.Input
		sum.Read += u.Read
		sum.Write5m += u.Write5m
		sum.Write1h += u.Write1h
		sum.Output += u.Output
		sum.CacheUnknown = sum.CacheUnknown && u.CacheUnknown
	}
	return sum
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
	asked = api.Plain(asked, f)
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
