// Package aside is what all APIs have in common of asides: calls of a tool of epitome's own that epitome answers
// itself, within the one answer that the client gets.
//
// A conversation has the tool from its first request on, or never. What the model said in an aside, and what it was
// answered, is recorded before the client has the end of its answer, and stands in each later request at its place. So
// what the provider gets goes on, byte for byte, while the client knows of nothing.
//
// It promises that a request of which nothing is recorded is left alone, and that an answer has a bounded number of
// rounds. It has no I/O and no clock of its own; the names of an API's JSON stand in the rooms of its dialect.
package aside

import (
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Tool is the name of the tool.
const Tool = "epitome_recall"

// MostRounds is how often the model is answered within one answer.
const MostRounds = 8

// Declaration is how the tool is declared, whatever the API.
type Declaration struct {
	Description string
	Schema      []byte // of its arguments, as JSON
}

// Call is one call of the tool.
type Call struct {
	ID        string
	Arguments string // JSON, as the model wrote it
	At        int    // how many calls of the client's tools stand before it in its round
	Raw       []byte // the whole call as the API has it
	Result    string // what it was answered
}

// Round is what the model said in one go, and was answered, before it went on.
type Round struct {
	Said  []byte   // all of it, calls too, as the API takes it back
	Given string   // the text of it that the client was given
	Marks []string // what else the client was given of it, each by what tells it from all else
	Calls []Call
}

// Record is what an answer had that the client does not know of.
type Record struct {
	Rounds  []Round
	Last    []Call // beside calls of the client's own, in what it was given last
	Thought bool   `json:",omitempty"` // the client was given nothing of the rounds, and what the model thought behind them
}

// Empty reports whether there is nothing to keep.
func (r *Record) Empty() bool { return len(r.Rounds) == 0 && len(r.Last) == 0 }

// Given is what the client was given in one answer, in all rounds.
type Given struct {
	Text    string
	Calls   []string // ids
	Thought bool     // the model thought in the last round

	// Where the provider keeps answers: the id of this one as the client has it, and of what was said last.
	ID, Real string
}

// essence is what tells an answer from others at its place, however a client writes it.
func (g Given) essence() string {
	var b strings.Builder
	b.WriteString(Unblanked(g.Text))
	for _, id := range g.Calls {
		b.WriteString("\x00" + id)
	}
	return b.String()
}

// Dialect is one API, as asides need it. A Dialect has no state.
type Dialect interface {
	// Declare is what puts the tool behind all others; ok is false for a request that must be left alone.
	Declare(r *conversation.Request, d Declaration) (edits []span.Edit, ok bool)
	// Alone reports whether the answer is to be one document, which text of earlier rounds would spoil.
	Alone(r *conversation.Request) bool
	// Weave is what puts a record back into the answer whose items are r.Items[g.First:g.End]; ok is false if it has
	// no place there.
	Weave(r *conversation.Request, g conversation.Group, rec *Record) (edits []span.Edit, ok bool)
	// Next is the body with a round behind all that was said.
	Next(body []byte, r *Round) ([]byte, error)
	// Hear begins to hear an answer.
	Hear() Hearing
}

// Keeping is a Dialect whose provider keeps answers, so that a request may go on from one by its id.
type Keeping interface {
	// Previous is the id of the answer that a request goes on from; empty if all that was said is in the body.
	Previous(r *conversation.Request) string
	// Resume has a request go on from the answer with this id, behind calls that were hidden in it.
	Resume(r *conversation.Request, id string, hidden []Call) (edits []span.Edit, ok bool)
}

// Hearing hears the rounds of one answer, and makes one of them.
type Hearing interface {
	// Begin begins a round. last says that no other may follow: what is called then is taken out.
	Begin(last bool)
	// Anew has the client be given nothing of the rounds so far: the next one begins its answer.
	Anew()
	// Event takes an event of a stream, which is written as raw. It appends to dst what the client gets of it, and
	// reports whether that tells the end of the answer.
	Event(dst, raw, data []byte) (out []byte, ends bool)
	// Document takes an answer that is no stream, and returns what the client gets if no round follows.
	Document(doc []byte) (give []byte)
	// Round is the round that has ended, if the model called nothing but the tool and goes on once it is answered.
	Round() (r *Round, ok bool)
	// Answer is what the client was given so far, and which calls were hidden in the last round. ok is false if the
	// answer has not ended as one does, or has failed.
	Answer() (g Given, hidden []Call, ok bool)
	// Size is how many bytes of the answer are held, about.
	Size() int
}
