package messages

import (
	"encoding/json"
	"fmt"
	"slices"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/messages/rules"
)

// answer is a message of the model, whole.
type answer struct {
	ID       string        `json:"id"`
	Type     string        `json:"type"` // message
	Role     string        `json:"role"` // assistant
	Model    string        `json:"model"`
	Content  []said        `json:"content"`
	Stop     *string       `json:"stop_reason"`
	Sequence *string       `json:"stop_sequence"`
	Usage    answerUsage   `json:"usage"`
	Drops    *[]rules.Drop `json:"input_transformations,omitempty"`
	Context  *contextDone  `json:"context_management,omitempty"`
}

// contextDone says what the server cleared by itself: nothing.
type contextDone struct {
	Edits []struct{} `json:"applied_edits"`
}

// answerUsage is a Usage as it is sent.
type answerUsage struct {
	Input   int            `json:"input_tokens"`
	Written int            `json:"cache_creation_input_tokens"`
	Read    int            `json:"cache_read_input_tokens"`
	Lives   map[string]int `json:"cache_creation"`
	Output  int            `json:"output_tokens"`
	Tier    string         `json:"service_tier"`
	Rounds  []iteration    `json:"iterations,omitempty"`
}

// iteration is one time that the model was asked.
type iteration struct {
	Type    string `json:"type"` // message
	Input   int    `json:"input_tokens"`
	Written int    `json:"cache_creation_input_tokens"`
	Read    int    `json:"cache_read_input_tokens"`
	Output  int    `json:"output_tokens"`
}

// add counts rounds that came before the answer.
func (u *answerUsage) add(rounds []int) {
	if len(rounds) == 0 {
		return
	}
	last := iteration{"message", u.Input, u.Written, u.Read, u.Output}
	for _, tokens := range rounds {
		u.Rounds = append(u.Rounds, iteration{Type: "message", Input: tokens})
		u.Input += tokens
	}
	u.Rounds = append(u.Rounds, last)
}

// said is one block of an answer, as JSON. Fields that its type lacks are left out.
type said struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Content   *string         `json:"content,omitempty"`
	Encrypted string          `json:"encrypted_content,omitempty"`
}

// usageOf is u as it is sent.
func usageOf(u rules.Usage) answerUsage {
	return answerUsage{Input: u.Input, Written: u.Written + u.WrittenLong, Read: u.Read, Output: u.Output, Tier: "standard",
		Lives: map[string]int{"ephemeral_5m_input_tokens": u.Written, "ephemeral_1h_input_tokens": u.WrittenLong}}
}

// speaker makes the blocks of one answer.
type speaker struct {
	q      *rules.Request
	signer *rules.Signer
	count  func(string) int
	nextID func() string
}

// say makes one block.
func (s *speaker) say(b Block) said {
	var made said
	switch b.kind {
	case "thinking":
		return s.think(b)
	case "text":
		made = said{Type: "text", Text: &b.text}
	case "tool_use":
		if b.id == "" {
			b.id = s.nextID()
		}
		made = said{Type: "tool_use", ID: b.id, Name: b.name, Input: json.RawMessage(b.input)}
	}
	fields, refused := rules.ReadObject(fakeapi.Encode(made), "answer")
	if refused != nil {
		panic(fmt.Sprintf("the scripted block %q is no object", b.text))
	}
	s.signer.Here.Pass("assistant", rules.Canon(fields))
	return made
}

// think makes a thinking block, signed.
func (s *speaker) think(b Block) said {
	shown := b.text
	if s.q.Thinking.Hidden {
		shown = ""
	}
	signature := s.signer.Sign(shown, s.count(b.text))
	return said{Type: b.kind, Thinking: &shown, Signature: &signature}
}

// compact makes the one block of a compaction.
func (s *speaker) compact(blocks []Block) said {
	text := ""
	for _, b := range blocks {
		if b.kind == "text" {
			text += b.text
		}
	}
	return said{Type: "compaction", Content: &text, Encrypted: s.signer.Compact(text)}
}

// compose makes the answer to what w has read, with what the window and max_tokens leave of the turn.
func (s *Server) compose(t Turn, w *rules.Walk, u *rules.Usage) *answer {
	q := w.Q
	blocks, stop := t.plan(q), t.Stop
	limit, reason := q.MaxTokens, "max_tokens"
	if left := q.Model.Window - u.Total(); left < limit {
		limit, reason = left, "model_context_window_exceeded"
	}
	blocks, cut := fit(blocks, limit, s.count)
	s.answers++
	a := &answer{ID: fmt.Sprintf("msg_%024d", s.answers), Type: "message", Role: "assistant", Model: q.Name, Content: []said{}}
	made := &speaker{q: q, signer: newSigner(w, a.ID, blocks), count: s.count, nextID: s.nextCall}
	for _, b := range blocks {
		a.Content = append(a.Content, made.say(b))
	}
	if q.Fields.Has("compaction") {
		made.signer.Here = w.Here
		a.Content, stop = []said{made.compact(blocks)}, "compaction"
	}
	calls := slices.ContainsFunc(blocks, func(b Block) bool { return b.kind == "tool_use" })
	switch {
	case cut:
		stop = reason
	case stop == "" && calls:
		stop = "tool_use"
	case stop == "":
		stop = "end_turn"
	}
	a.Stop, u.Output = &stop, outputTokens(blocks, s.count)
	a.Usage = usageOf(*u)
	a.Usage.add(t.Rounds)
	if q.MayDrop() {
		a.Drops = &w.Drops
	}
	if q.Fields.Has("context_management") {
		a.Context = &contextDone{Edits: []struct{}{}}
	}
	return a
}

// newSigner signs what is thought among blocks, behind what w has read.
func newSigner(w *rules.Walk, answer string, blocks []Block) *rules.Signer {
	s := &rules.Signer{Model: w.Q.Name, Answer: answer, Here: w.Here}
	for _, b := range blocks {
		if b.thinks() {
			s.Of++
		}
	}
	return s
}
