package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Forgotten has the sums of events that were forgotten: of one day, upstream, model and client.
type Forgotten struct {
	Seq      uint64    `json:"seq"`  // of the newest one
	Time     time.Time `json:"time"` // of the oldest one, or the beginning of the day
	Upstream string    `json:"upstream,omitempty"`
	Model    string    `json:"model,omitempty"`
	Client   string    `json:"client,omitempty"`
	Sums     Sums      `json:"sums"`
}

// Each calls do with all events that are kept, the oldest first. It may begin anew, with those in memory.
func (b *Book) Each(do func(Entry)) error {
	b.flush()
	_, err := b.files.read(do)
	recent, _, _ := b.Since(0)
	for _, n := range recent {
		do(n)
	}
	return err
}

// Forget removes the events of the conversation with the id from memory and disk. Sums keep their figures, also after a restart. After
// an error some events may be gone, and it can be called again.
func (b *Book) Forget(id string) error {
	b.lock()
	defer b.mu.Unlock()
	mark := fmt.Appendf(nil, `"conversation":%q`, id) // within a text, its quotes would be escaped
	// gone sums up the events of one file that are forgotten.
	gone := &Book{Config: b.Config, models: map[string]bool{}, conversations: map[string]*conversation{}}
	err := b.files.rewrite(func(text []byte) []byte {
		var rest, sums bytes.Buffer
		gone.cells = map[cell]*Sums{}
		gone.since = time.Time{}
		for line := range bytes.Lines(text) {
			var n Entry
			if bytes.Contains(line, mark) && json.Unmarshal(line, &n) == nil {
				gone.add(n)
			} else {
				rest.Write(line)
			}
		}
		for at, s := range gone.cells {
			begin := time.Unix(at.day, 0)
			if begin.Before(gone.since) {
				begin = gone.since
			}
			sum := &Forgotten{
				Seq: gone.seq, Time: begin, Upstream: at.upstream, Model: at.model, Client: at.client, Sums: *s,
			}
			_ = json.NewEncoder(&sums).Encode(Entry{Forgotten: sum}) // plain data
		}
		return append(sums.Bytes(), rest.Bytes()...) // the last line of the rest may be cut off
	})
	if err != nil {
		return fmt.Errorf("cannot remove events: %w", err)
	}
	delete(b.conversations, id)
	b.recent = slices.DeleteFunc(b.recent, func(n Entry) bool {
		line, _ := json.Marshal(n) // plain data
		return bytes.Contains(line, mark)
	})
	return nil
}
