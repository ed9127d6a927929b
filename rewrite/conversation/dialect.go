package conversation

import (
	"epitome/rewrite/span"
	"epitome/tokenize"
)

// Dialect is how one API writes a conversation. The names of its JSON stand in its own package and nowhere else: all
// else reads items and writes through these methods. A dialect has no state.
//
// An item is the smallest thing that is said: a message, a block of a message, or an item of a flat list. Several may
// share an outer span, so only the dialect knows how items are taken out and what is left around them. Results need
// not stand behind their calls: what belongs together is told by ids (Pairs) and by where an answer begins
// (Item.Begins). A value that must never change is no Part and has no Content. An edit may cover more than one span:
// what is thought, or a mark for a cache, goes with the item that it belongs to.
type Dialect interface {
	// Key stands in the keys of decisions. It never changes, and no two dialects have the same.
	Key() string
	// Read reads a request in one pass. known may have seen the beginning behind its head; nil if nobody has. An error
	// says why the body is better left alone, and quotes nothing of it.
	Read(body []byte, known Recall) (*Request, error)
	// Flaws are all rules of the dialect that the conversation breaks. Calls of the last message may be unanswered: the
	// client may be about to ask for more than their results.
	Flaws(r *Request) []Flaw

	// What no link of the chain covers, as it changes while the conversation stays the same.
	span.Loose
	// AppendParts appends the parts of an item's content.
	AppendParts(dst []Part, body []byte, content span.Span) ([]Part, error)
	// WholeText is the one text that is all of a content; ok is false if there is more in it.
	WholeText(body []byte, content span.Span) (text span.Span, ok bool)
	// Tools reads the declarations of tools, for counting; nil if they are not as expected.
	Tools(declared []byte) []tokenize.Tool

	// Message is a message with a text, as it may stand among the items.
	Message(role Role, text string) []byte
	// ReadMessage reads what Message wrote, as a request of that item alone.
	ReadMessage(message []byte) (*Request, error)
	// Value writes text as a value at a place, which takes what the API asks for there.
	Value(dst []byte, at Place, text string) []byte
	// Append puts a text behind all that the item says; ok is false if nothing can stand there.
	Append(r *Request, it *Item, text string) (e span.Edit, ok bool)
	// Run is where n items stand, from item i of all on: what is kept when they are taken out.
	Run(r *Request, i, n int) span.Span
	// Remove puts a message in the place of n items, from item i of all on; nothing if with is empty.
	Remove(r *Request, i, n int, with []byte) []span.Edit
	// Truncate takes out all items from item i of all on, which is not the first.
	Truncate(r *Request, i int) []span.Edit
}

// Recall gives the items behind those of the head that begin at body[i], with their places in this body, and where the
// last one ends; none if they are not known from an earlier request. The items of the head come first in what it
// returns.
type Recall func(body []byte, i int, head []Item) (items []Item, end int)

// Part is one part of an item's content.
type Part struct {
	Kind   PartKind
	Value  span.Span // text, address or bytes
	Detail span.Span // of an image how closely to look, of sound its format
}

// PartKind is what a part is.
type PartKind uint8

// The kinds of parts. What is none of the others counts as what it is written with.
const (
	OtherPart PartKind = iota
	TextPart
	ImagePart
	AudioPart
	FilePart
)

// Place is a kind of value that a patch may replace; each is replaced by a string.
type Place uint8

const (
	WholeContent Place = iota // the item's content, whatever it is
	PartText                  // the text of a part of the content
	CallInput                 // the arguments of a call
	Behind                    // nothing: the text comes behind what the content says
)
