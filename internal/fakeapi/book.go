package fakeapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// book is what a provider of Responses has issued: items by their IDs, opaque strings, and responses that it keeps.
// Items without an ID, and those with an ID that nobody issued, are taken by value.
type book struct {
	issued  map[string]issued // by ID
	opaque  map[string]opaque
	answers map[string][]item // by the ID of a response: all up to its end
}

// issued is an item of an answer.
type issued struct {
	item
	needs string // the ID of the reasoning that led to it
	leads string // of reasoning: the ID of the item behind it
	kept  bool   // it can be looked up
}

// opaque is what an encrypted string stands for.
type opaque struct {
	kind, id, scope string // of the item; "" for any
	tokens          int
}

func newBook() book {
	return book{issued: map[string]issued{}, opaque: map[string]opaque{}, answers: map[string][]item{}}
}

// encrypt returns the opaque string of an item.
func (b *book) encrypt(q *request, kind, id string, tokens int) string {
	text := "gAAAAA" + strings.Repeat(digest(kind, fmt.Sprint(id, q.scope)), 8)
	b.opaque[text] = opaque{kind, id, q.scope, tokens}
	return text
}

// issue enters the items of an answer, and all before it where the client wants it kept.
func (b *book) issue(q *request, answer string, items []item) {
	b.enter(items, q.stored)
	if q.stored {
		b.answers[answer] = slices.Concat(q.items, items)
	}
}

func (b *book) enter(items []item, kept bool) {
	reasoning := ""
	for n, i := range items {
		e := issued{item: i, needs: reasoning, kept: kept}
		if i.kind == "reasoning" {
			reasoning, e.needs = i.text("id"), ""
			if n+1 < len(items) {
				e.leads = items[n+1].text("id")
			}
		}
		if id := i.text("id"); id != "" {
			b.issued[id] = e
		}
	}
}

// adopt takes the opaque strings and IDs of a body for issued, each run of what the model said for one answer.
func (b *book) adopt(body gjson.Result) {
	var run []item
	for _, raw := range body.Get("input").Array() {
		i, _ := readItem(raw, "input")
		if text := i.text("encrypted_content"); text != "" {
			b.opaque[text] = opaque{}
		}
		if i.spoken() {
			run = append(run, i)
			continue
		}
		b.enter(run, false)
		run = nil
	}
	b.enter(run, false)
}

// expand puts the items of the response that a request continues in front of its own, and an item in the place of each
// reference.
func (b *book) expand(q *request) *Refusal {
	previous := q.body.Get("previous_response_id").Str
	before, known := b.answers[previous]
	if previous != "" && !known {
		return wrong("previous_response_id", "previous_response_not_found",
			"Previous response with id '%s' not found.", previous)
	}
	for n, i := range q.items {
		if i.kind != "item_reference" {
			continue
		}
		found := b.issued[i.text("id")]
		if !found.kept {
			return q.unknown(i)
		}
		q.items[n] = found.item
	}
	q.items = slices.Concat(before, q.items)
	return nil
}

// unknown refuses an item that is to be looked up.
func (q *request) unknown(i item) *Refusal {
	if q.stored {
		return notFound("Item with id '%s' not found.", i.text("id"))
	}
	return notFound("Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again "+
		"with `store` set to true, or remove this item from your input.", i.text("id"))
}

// check compares what the model is said to have said with what was issued.
func (b *book) check(q *request) *Refusal {
	thought := map[string]bool{} // IDs and opaque strings of the reasoning so far
	for n, i := range q.items {
		if refused := b.checkOpaque(q, i); refused != nil {
			return refused
		}
		if i.kind == "reasoning" {
			for _, name := range []string{i.text("id"), i.text("encrypted_content")} {
				thought[name] = name != ""
			}
			if refused := b.checkReasoning(q, n); refused != nil {
				return refused
			}
			continue
		}
		needs := b.issued[i.text("id")].needs
		if needs != "" && !thought[needs] && !thought[b.issued[needs].text("encrypted_content")] {
			return wrong("input", "", "Item '%s' of type '%s' was provided without its required 'reasoning' item: "+
				"'%s'.", i.text("id"), i.kind, needs)
		}
	}
	return nil
}

// checkOpaque wants an opaque string as it was issued to whoever asks.
func (b *book) checkOpaque(q *request, i item) *Refusal {
	text, id := i.text("encrypted_content"), i.text("id")
	was, known := b.opaque[text]
	same := was.kind == i.kind && was.scope == q.scope && (id == "" || was.id == id)
	if text == "" || known && (was.kind == "" || same) {
		return nil
	}
	return wrong("", "invalid_encrypted_content", "The encrypted content %.8s... could not be verified. Reason: "+
		"Encrypted content could not be decrypted or parsed.", text)
}

// checkReasoning wants item n in front of what it led to.
func (b *book) checkReasoning(q *request, n int) *Refusal {
	i := q.items[n]
	id := i.text("id")
	if id == "" {
		return nil
	}
	known := b.issued[id]
	if i.text("encrypted_content") == "" && !known.kept {
		return q.unknown(i)
	}
	if n+1 < len(q.items) && q.items[n+1].spoken() {
		next, led := q.items[n+1], b.issued[known.leads]
		sameCall := next.kind == led.kind && next.text("call_id") == led.text("call_id")
		if known.kind == "" || known.leads == next.text("id") || b.issued[next.text("id")].kind == "" && sameCall {
			return nil
		}
	}
	return wrong("input", "", "Item '%s' of type 'reasoning' was provided without its required following item.", id)
}
