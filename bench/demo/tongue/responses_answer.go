package tongue

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"epitome/scripted/responses/rules"
	"epitome/scripted/value"
)

// answer gives what a model has answered in chat completions, streamed or not.
func (inResponses) answer(w http.ResponseWriter, from chatAnswer, streamed bool) {
	output := []entry{}
	for i, e := range entriesOf(from.Choices[0].Message) {
		e.ID = fmt.Sprintf("%s_demo%d", map[string]string{"message": "msg"}[e.Type], i)
		if e.Type == "function_call" {
			e.ID = fmt.Sprintf("fc_demo%d", i)
		}
		output = append(output, e)
	}
	whole := object{"id": "resp_demo", "object": "response", "created_at": 0, "status": "completed", "model": "demo",
		"output": output, "error": nil, "incomplete_details": nil, "usage": object{
			"input_tokens": from.Usage.Prompt, "output_tokens": from.Usage.Completion,
			"input_tokens_details":  object{"cached_tokens": from.Usage.Details.Cached},
			"output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens":          from.Usage.Prompt + from.Usage.Completion}}
	if !streamed {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(value.Encode(whole))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	number := 0
	send := func(kind string, more object) {
		more["type"], more["sequence_number"] = kind, number
		number++
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, value.Encode(more)) // the client may have left
	}
	send("response.created", object{"response": object{"id": "resp_demo", "object": "response", "status": "in_progress",
		"model": "demo", "output": []entry{}}})
	for i, e := range output {
		at := func(more object) object {
			more["output_index"], more["item_id"] = i, e.ID
			return more
		}
		begun := e
		if begun.Content = nil; e.Arguments != nil {
			none := ""
			begun.Arguments = &none
		}
		send("response.output_item.added", object{"output_index": i, "item": begun})
		if e.Arguments != nil {
			send("response.function_call_arguments.delta", at(object{"delta": *e.Arguments}))
			send("response.function_call_arguments.done", at(object{"arguments": *e.Arguments}))
		} else {
			text, _ := contentOf(e.Content) // it was just written
			send("response.content_part.added", at(object{"content_index": 0, "part": listedPart{"output_text", ""}}))
			send("response.output_text.delta", at(object{"content_index": 0, "delta": text}))
			send("response.output_text.done", at(object{"content_index": 0, "text": text}))
			send("response.content_part.done", at(object{"content_index": 0, "part": listedPart{"output_text", text}}))
		}
		send("response.output_item.done", object{"output_index": i, "item": e})
	}
	send("response.completed", object{"response": whole})
}

// hear puts a streamed answer together.
func (in inResponses) hear(from io.Reader) (said chatMessage, err error) {
	said.Role = assistant
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	var all []json.RawMessage
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type string
			Item json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return said, fmt.Errorf("cannot read an event: %w", err)
		}
		switch e.Type {
		case "response.output_item.done":
			all = append(all, e.Item)
		case "response.completed":
			list, err := in.spoken(all)
			if err != nil || len(list) == 0 {
				return said, err
			}
			return said, json.Unmarshal(list[0], &said)
		}
	}
	if err = lines.Err(); err == nil {
		err = errNoAnswer
	}
	return said, err
}

func (inResponses) judge(head http.Header, body []byte) (streamed bool, refused *refusal) {
	asked, flaw := rules.Read(head, body, rules.Answer, rules.ModelOf)
	if flaw == nil {
		flaw = rules.CheckPairs(asked.Items)
	}
	if flaw != nil {
		return false, &refusal{flaw.Status, flaw.Body()}
	}
	return asked.Streamed, nil
}

func (inResponses) words(complaint string) *refusal {
	flaw := rules.Flaw("input", "", "%s", complaint)
	if tooLong.MatchString(complaint) {
		flaw = rules.Flaw("input", "context_length_exceeded",
			"Your input exceeds the context window of this model. Please adjust your input and try again.")
	}
	return &refusal{flaw.Status, flaw.Body()}
}
