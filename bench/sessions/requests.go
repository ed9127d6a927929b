package sessions

import (
	"encoding/json"

	"epitome/rewrite/chat"
)

// A line is a request itself: its names are known to package rewrite.

// requests reads a log of chat-completions requests, one to a line. Of those that extend one another only the longest
// is kept: it holds all the others.
type requests struct {
	in   *intake
	kept []kept
	held map[Mark]int // which request holds the messages up to there
	ends map[Mark]int // which request ends there
}

type kept struct {
	body []byte
	end  Mark
}

// isRequest leaves aside what also has messages: logs whose messages have no role, and requests in Anthropic's form.
func isRequest(v value) bool {
	messages := v.Get("messages")
	if !messages.IsArray() || v.Get("system").Exists() {
		return false
	}
	if first := messages.Get("0"); first.IsObject() && !first.Get("role").Exists() {
		return false
	}
	return len(messages.Get(`#.content.#(type=="tool_use").type`).Array()) == 0
}

func (r *requests) line(v value) {
	body := []byte(v.Raw)
	q, err := chat.Dialect{}.Read(body, nil)
	if err == nil && !json.Valid(body) {
		r.in.leave("the body is not JSON")
		return
	}
	if err != nil {
		r.in.leave(err.Error())
		return
	}
	if len(q.Items) == 0 {
		r.in.leave("it has no messages")
		return
	}
	marks := Marks(q)
	end := marks[len(marks)-1]
	if _, known := r.held[end]; known {
		return
	}
	at := len(r.kept)
	for i := len(marks) - 1; i >= 0; i-- {
		if shorter, ok := r.ends[marks[i]]; ok {
			at = shorter
			r.in.room += len(r.kept[at].body)
			delete(r.ends, marks[i])
			break
		}
	}
	if at == len(r.kept) {
		r.kept = append(r.kept, kept{})
	}
	if !r.in.keep(len(body)) {
		body = nil
	}
	r.kept[at] = kept{body, end}
	r.ends[end] = at
	for _, m := range marks {
		r.held[m] = at
	}
}

func (r *requests) end() {
	for _, k := range r.kept {
		if k.body != nil {
			r.in.give(Conversation{Format: Requests, Body: k.body})
		}
	}
}
