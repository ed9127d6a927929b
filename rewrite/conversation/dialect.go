package conversation

import (
	"errors"

	"epitome/rewrite/span"
	"epitome/tokenize"
)

// Dialect is how one API writes a conversation. The names of its JSON stand in its own package and nowhere else: all
// else reads items and writes through these methods. A dialect has no state.
//
// An item is the smallest thing that is said: a message, a part of a message, or a run of entries of a flat list.
// Those of one message share its place (Item.Outer), and it goes when nothing of it is left. Results need not stand
// behind their calls: what belongs together is told by ids (Pairs) and by where an answer begins (Item.Begins). A value
// that must never change is no Part and has no Content, or is that of an item which is Locked.
type Dialect interface {
	// Key stands in the keys of decisions. It never changes, and no two dialects have the same.
	Key() string
	// Read reads a request in one pass. known may have seen the beginning behind its head; nil if nobody has. An error
	// says why the body is better left alone, and quotes nothing of it; if it is ErrMoved, it is read without known.
	Read(body []byte, known Recall) (*Request, error)
	// Flaws are all rules of the dialect that the conversation breaks, as its server sees it.
	Flaws(r *Request) []Flaw
	// Digest is a sum of all that an item says, but for what changes or goes by itself while the conversation stays the
	// same.
	Digest(body []byte, it *Item) (span.Sum, error)
	// AppendParts appends the parts of an item's content.
	AppendParts(dst []Part, body []byte, content span.Span) ([]Part, error)
	// WholeText is the one text that is all of a content; ok is false if there is more in it.
	WholeText(body []byte, content span.Span) (text span.Span, ok bool)
	// Tools reads the declarations of tools, for counting; nil if they are counted as they are written.
	Tools(declared []byte) []tokenize.Tool

	// Message is a message with a text, as it may stand among the items; nil if none of that role can be made.
	Message(role Role, text string) []byte
	// ReadMessage reads what Message wrote, as a request of that item alone.
	ReadMessage(message []byte) (*Request, error)
	// Follows reports whether a message of one role may stand right behind one of another, which is Unknown for the
	// first message too.
	Follows(before, role Role) bool
	// Value writes text as a value that may stand where was does, which is at such a place.
	Value(dst, was []byte, at Place, text string) []byte
	// Append puts a text behind all that the item says, or, without an item, behind all that the system says before the
	// conversation begins. ok is false if nothing can stand there. Marks for a cache stay where they are.
	Append(r *Request, it *Item, text string) (e span.Edit, ok bool)
}

// Marker is a Dialect whose clients mark what the provider is to cache.
type Marker interface {
	// Mark puts a mark on what Message or Append wrote; ok is false where none can stand.
	Mark(said []byte, mark string) (marked []byte, ok bool)
	// Marks is how many marks stand outside of the messages, and how many there may be in all.
	Marks(r *Request) (outside, most int)
}

// Recall gives the items behind those of the head that begin at body[i], with their places in this body, and where the
// last one ends; none if they are not known from an earlier request. The items of the head come first in what it
// returns.
type Recall func(body []byte, i int, head []Item) (items []Item, end int)

// ErrMoved says that what a Recall gave is not what the request says: an item that was known goes on as another one.
var ErrMoved = errors.New("an item that was known to its middle goes on as another one")

// Part is one part of an item's content.
type Part struct {
	Kind   PartKind
	Value  span.Span // text, address or bytes
	Detail span.Span // of an image how closely to look, of sound its format

	Encoded bool // a text in its place must be JSON once more
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

// Place is a kind of value that a patch may replace by a text.
type Place uint8

const (
	WholeContent Place = iota // the item's content, whatever it is
	PartText                  // the text of a part of the content
	CallInput                 // the arguments of a call
	Behind                    // nothing: the text comes behind what the content says
	EncodedText               // the text of a part that is JSON in a string
)
