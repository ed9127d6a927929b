package sessions

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"

	"github.com/tidwall/gjson"

	"epitome/rewrite"
)

// A line is a request itself: its names are known to package rewrite.

// requests reads a log of chat-completions requests, one to a line. Of those that extend one another only the longest is kept: it holds
// all the others.
type requests struct {
	in   *intake
	kept []kept
	held map[mark]int // which request holds the messages up to there
	ends map[mark]int // which request ends there
}

type kept struct {
	body []byte
	end  mark
}

// mark stands for a beginning of a conversation: it is a hash over all messages up to one of them.
type mark [16]byte

func isRequest(v value) bool { return v.Get("messages").IsArray() }

func (r *requests) line(v value) {
	body := []byte(v.Raw)
	q, err := rewrite.ReadChat(body)
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
	marks := marksOf(q)
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

// marksOf has a mark for each message. How a content is written, and notes for the provider's cache, make no difference.
func marksOf(q *rewrite.Request) []mark {
	marks := make([]mark, len(q.Items))
	var b bytes.Buffer
	for i, it := range q.Items {
		b.Reset()
		if i > 0 {
			b.Write(marks[i-1][:])
		}
		write := func(text string) {
			b.WriteString(text)
			b.WriteByte(0)
		}
		b.WriteByte(byte(it.Role))
		write(it.Answers)
		content := gjson.ParseBytes(it.Content.Of(q.Body))
		if content.IsArray() {
			content.ForEach(func(_, part value) bool {
				if text := part.Get("text"); text.Type == gjson.String {
					write(text.Str)
				} else {
					write(part.Raw)
				}
				return true
			})
		} else {
			write(content.String())
		}
		for _, c := range it.Calls {
			write(c.ID)
			write(c.Name)
			write(string(c.Arguments.Of(q.Body)))
		}
		sum := sha256.Sum256(b.Bytes())
		copy(marks[i][:], sum[:])
	}
	return marks
}

func (r *requests) end() {
	for _, k := range r.kept {
		if k.body != nil {
			r.in.give(Requests, k.body, nil)
		}
	}
}
