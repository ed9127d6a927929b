package sessions

import (
	"bytes"
	"crypto/sha256"

	"epitome/rewrite/conversation"

	"github.com/tidwall/gjson"
)

// Mark names a beginning of a conversation: it is a hash over all messages up to one of them.
type Mark [16]byte

// Marks returns a mark for each message of a request. How a content is written, and notes for the provider's cache,
// make no difference.
func Marks(q *conversation.Request) []Mark {
	marks := make([]Mark, len(q.Items))
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
