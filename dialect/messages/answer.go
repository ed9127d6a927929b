package messages

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

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
	u = countsOf(usages, false)
	var calls []gjson.Result // of the model; none if it is not said that there were several
	for _, v := range usages {
		if list := v.Get("iterations"); list.IsArray() {
			calls = list.Array()
		}
	}
	if len(calls) < 2 { // else no window ever held the sum
		request = u.Input + u.Read + u.Write5m
	}
	if len(calls) > 0 { // the counts beside them leave out the calls that made a summary
		isOther := func(call gjson.Result) bool { return call.Get("type").Str == "advisor_message" } // at its own price
		u = countsOf(slices.DeleteFunc(calls, isOther), true)
	}
	u.Input += u.Read + u.Write5m
	u.Write1h = min(u.Write1h, u.Write5m)
	u.Write5m -= u.Write1h
	if u.Write1h > 0 && u.Write5m == 0 {
		u.Life = time.Hour
	}
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

// countsOf returns counts that usages state: of each kind the last one, as they grow in a stream, or the sum. Input is
// without what the cache had or took up, and Write5m has all that was written to it.
func countsOf(usages []gjson.Result, isSum bool) event.Usage {
	kinds := [...]string{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
		"cache_creation.ephemeral_1h_input_tokens"}
	var counts [len(kinds)]int
	var isStated [len(kinds)]bool
	for _, usage := range usages {
		for k, kind := range kinds {
			n := answer.Tokens(usage.Get(kind))
			if n == answer.Unknown {
				continue
			}
			if isSum {
				n += counts[k]
			}
			counts[k], isStated[k] = n, true
		}
	}
	u := event.Usage{Input: counts[0], Output: counts[1], Read: counts[2], Write5m: counts[3], Write1h: counts[4]}
	u.CacheUnknown = !slices.Contains(isStated[2:], true)
	if !isStated[1] {
		u.Output = answer.Unknown
	}
	return u
}

// Continue puts an instruction behind the conversation in body, as a user's message, and asks for one plain text.
// System messages at the end stay behind it, as the API takes no user's message right behind them.
func (d Dialect) Continue(body []byte, instruction string, f answer.Form) ([]byte, error) {
	r, err := conversation.Read(d, body, nil)
	if err != nil {
		return nil, err
	}
	last := len(r.Items) - 1
	for last > 0 && r.Items[last].Role == conversation.System {
		last--
	}
	choice := gjson.GetBytes(body, "tool_choice.type").Str
	if choice == "any" || choice == "tool" { // the cache depends on tool_choice, so it must stay
		return nil, errors.New("the model must call a tool")
	}
	maxOutput := f.MaxOutput
	budget := answer.ThinkingBudget(body)
	if budget > 0 { // thinking comes on top, up to the client's cap: more may be refused
		maxOutput = min(maxOutput+budget, max(r.MaxOutput, maxOutput))
	}
	message := fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%s%s}]}`,
		jsonspan.Quoted(instruction), missingMark(r))
	added := jsonspan.Insert(r.List, message)
	if last >= 0 {
		added = jsonspan.Insert(r.Items[last].MessageSpan().End, ","+message)
	}
	asked, err := jsonspan.Splice(body, []jsonspan.Edit{added}, nil)
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
