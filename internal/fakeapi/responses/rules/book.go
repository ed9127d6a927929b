package rules

import (
	"encoding/json"
	"strings"

	"epitome/internal/fakeapi"
)

// Book has what one server issued.
type Book struct {
	items         map[string]*entry  // by id
	adopted       map[string]bool    // opaque strings that count as issued
	histories     map[string][]*Item // by the id of a response, all up to its end; kept ones alone
	conversations map[string][]*Item // by id
}

// entry is one item of an answer.
type entry struct {
	item   *Item
	answer string // the response's id
	needs  string // id of the reasoning that led to it; "" for none
	leads  string // of reasoning: id of the item behind it; "" for none
	kept   bool   // it can be looked up
}

// NewBook has nothing.
func NewBook() *Book {
	return &Book{items: map[string]*entry{}, adopted: map[string]bool{}, histories: map[string][]*Item{},
		conversations: map[string][]*Item{}}
}

// seal is what an opaque string says. It is signed with a key that every server of this package has.
type seal struct {
	Kind   string
	ID     string // of its item
	Scope  string // digest of the credentials
	Tokens int    // of what is in it
}

// key signs seals.
const key = "scripted responses"

// Seal returns the opaque string of an item of one kind that has so many tokens.
func Seal(q *Request, kind, id string, tokens int) string {
	return fakeapi.Seal(key, seal{kind, id, fakeapi.Digest("", []byte(q.Scope)), tokens})
}

// Tokens is how many an opaque string has; 0 for one that nobody sealed.
func Tokens(opaque string) int {
	var s seal
	_ = fakeapi.Open(key, opaque, &s)
	return s.Tokens
}

// Issue enters an answer to q, which holds all that came before it.
func (b *Book) Issue(q *Request, answer string, items []*Item) {
	b.enter(answer, items, q.Stored)
	whole := append(append([]*Item(nil), q.Items...), items...)
	if q.Stored {
		b.histories[answer] = whole
	}
	if q.Conversation != "" {
		b.conversations[q.Conversation] = whole
	}
}

// Open begins a conversation.
func (b *Book) Open(conversation string) { b.conversations[conversation] = nil }

// enter enters the items of one answer.
func (b *Book) enter(answer string, items []*Item, kept bool) {
	reasoning := ""
	var last *entry
	for _, i := range items {
		e := &entry{item: i, answer: answer, needs: reasoning, kept: kept}
		if last != nil && last.item.Kind == "reasoning" {
			last.leads = i.ID()
		}
		if i.Kind == "reasoning" {
			reasoning, e.needs = i.ID(), ""
		}
		if last = e; i.ID() != "" {
			b.items[i.ID()] = e
		}
	}
}

// Adopt takes all that is opaque in a body for issued, each run of what the model said for one answer, and a response
// that it names for one that made the calls it answers. It is for conversations that were made up, or begun elsewhere.
func (b *Book) Adopt(body []byte) *Refusal {
	fields, _ := fakeapi.CutObject(body)
	list, _ := fakeapi.CutList(fields["input"])
	var run, calls []*Item
	end := func() {
		if len(run) > 0 {
			b.enter("adopted "+fakeapi.Digest("", run[0].Canon), run, false)
		}
		run = nil
	}
	for _, raw := range list {
		i, refused := ReadItem(raw, "input", OpenAI)
		if refused != nil {
			return refused
		}
		b.adopted[i.Fields.Text("encrypted_content")] = true
		if !i.Spoken() {
			end()
			calls = append(calls, callOf(i)...)
			continue
		}
		run = append(run, i)
	}
	end()
	if named := fields.Text("previous_response_id"); named != "" {
		b.histories[named] = calls
	}
	return nil
}

// callOf is a call that an output answers.
func callOf(output *Item) []*Item {
	kind, ok := strings.CutSuffix(output.Kind, "_output")
	if !ok || output.Call() == "" {
		return nil
	}
	fields := fakeapi.Object{"type": fakeapi.Encode(kind), "call_id": output.Fields["call_id"]}
	for _, name := range []string{"name", "arguments", "input"} {
		fields[name] = json.RawMessage(`""`)
	}
	return []*Item{{Kind: kind, Path: "adopted", Fields: fields, Canon: fakeapi.Encode(fields)}}
}
