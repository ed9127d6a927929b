package rules

import (
	"epitome/internal/fakeapi"
)

// Expand puts in front of q's items what the response or the conversation holds that it names, and in the place of
// each reference what it refers to.
func (b *Book) Expand(q *Request) *Refusal {
	before, known := b.histories[q.Previous]
	if q.Previous != "" && !known {
		return Flaw("previous_response_id", "previous_response_not_found",
			"Previous response with id '%s' not found.", q.Previous)
	}
	if q.Conversation != "" {
		if before, known = b.conversations[q.Conversation]; !known {
			return Unknown("Conversation with id '%s' not found.", q.Conversation)
		}
	}
	all := append([]*Item(nil), before...)
	for _, i := range q.Items {
		if i.Kind == "item_reference" {
			found := b.items[i.ID()]
			if found == nil || !found.kept {
				return notFound(q, i)
			}
			i = found.item
		}
		all = append(all, i)
	}
	q.Items = all
	return nil
}

// notFound refuses an item that is to be looked up.
func notFound(q *Request, i *Item) *Refusal {
	if q.Stored {
		return Unknown("Item with id '%s' not found.", i.ID())
	}
	return Unknown("Item with id '%s' not found. Items are not persisted when `store` is set to false. "+
		"Try again with `store` set to true, or remove this item from your input.", i.ID())
}

// Check holds what the model is said to have said to what it was issued with.
func (b *Book) Check(q *Request) *Refusal {
	if q.Model.Maker != OpenAI {
		return nil
	}
	thought := map[string]bool{} // ids and opaque strings of reasoning so far
	for n, i := range q.Items {
		if refused := b.checkOpaque(q, i); refused != nil {
			return refused
		}
		known := b.items[i.ID()]
		if i.Kind == "reasoning" {
			thought[i.ID()], thought[i.Fields.Text("encrypted_content")] = true, true
			if refused := b.checkReasoning(q, n); refused != nil {
				return refused
			}
		} else if known != nil && known.needs != "" && !b.thought(thought, known.needs) {
			return Flaw("input", "", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.",
				i.ID(), i.Kind, known.needs)
		}
	}
	return nil
}

// thought tells whether reasoning is among what came so far, by its id or by value.
func (b *Book) thought(so map[string]bool, id string) bool {
	if so[id] {
		return true
	}
	known := b.items[id]
	opaque := known.item.Fields.Text("encrypted_content")
	return opaque != "" && so[opaque]
}

// checkOpaque wants opaque strings that were issued to whoever asks, as they were issued.
func (b *Book) checkOpaque(q *Request, i *Item) *Refusal {
	opaque := i.Fields.Text("encrypted_content")
	if opaque == "" || b.adopted[opaque] {
		return nil
	}
	why := ""
	var s seal
	switch ok := fakeapi.Open(key, opaque, &s); {
	case !ok, s.Kind != i.Kind:
		why = "Encrypted content could not be decrypted or parsed."
	case s.Scope != fakeapi.Digest("", []byte(q.Scope)):
		why = "Encrypted content organization_id did not match the target organization."
	case i.ID() != "" && s.ID != i.ID():
		why = "Encrypted content item_id did not match the target item id."
	default:
		return nil
	}
	return Flaw("", "invalid_encrypted_content", "The encrypted content %s could not be verified. Reason: %s",
		brief(opaque), why)
}

// brief is how the server quotes an opaque string.
func brief(opaque string) string {
	if len(opaque) <= 12 {
		return opaque
	}
	return opaque[:4] + "..." + opaque[len(opaque)-4:]
}

// checkReasoning wants item n, which is reasoning, in front of what it led to.
func (b *Book) checkReasoning(q *Request, n int) *Refusal {
	i := q.Items[n]
	if i.ID() == "" {
		return nil
	}
	known := b.items[i.ID()]
	if i.Fields.Text("encrypted_content") == "" && (known == nil || !known.kept) {
		return notFound(q, i)
	}
	var next *Item
	if n+1 < len(q.Items) {
		next = q.Items[n+1]
	}
	if next == nil || !next.Spoken() || known != nil && !b.follows(known, next) {
		return Flaw("input", "", "Item '%s' of type 'reasoning' was provided without its required following item.", i.ID())
	}
	return nil
}

// follows tells whether next is what reasoning led to: by its id if it has one that was issued, else by its kind and
// the name of its call.
func (b *Book) follows(known *entry, next *Item) bool {
	led := b.items[known.leads]
	if led == nil {
		return false
	}
	if found := b.items[next.ID()]; found != nil {
		return found == led
	}
	return next.Kind == led.item.Kind && next.Call() == led.item.Call()
}
