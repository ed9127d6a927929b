// Package rewrite is what a conversation is in each dialect, and how its bytes get shorter.
//
// It promises that a body is never decoded and encoded again: a request is read as spans, offsets into its bytes, and
// whatever is not edited stays as it is, to the byte. It promises that an edited body is checked against its original:
// no rule of a conversation's structure that held before is broken after. The package is pure: it does no I/O, reads
// no clock and uses no randomness.
package rewrite

// Role is who speaks in an item.
type Role uint8

// The roles. A role that is none of them is Unknown: its item is never touched, nor anything that depends on it.
const (
	Unknown Role = iota
	System       // system or developer
	User
	Assistant
	Tool // the result of a tool call, or of a legacy function call
)

func (r Role) String() string {
	return [...]string{"unknown", "system", "user", "assistant", "tool"}[r]
}

// Call is a tool call of an assistant's message.
type Call struct {
	Span
	ID        string // what its result names; a legacy function call has none
	Name      string
	Arguments Span // the JSON string, quotes included; empty if there is none
	FreeText  bool // the arguments are any text and not JSON
}

// Item is one message of a request.
type Item struct {
	Span
	Role    Role
	Legacy  bool   // the function role or function_call that came before tools
	Name    string // of the speaker, or of a legacy function
	Content Span   // its value, whatever kind it is; empty if there is none or it is null
	Calls   []Call
	Answers string // the id of the call that a tool's result is for
	Begins  bool   // an answer of the model begins here: a conversation may be cut in front of it
	Opaque  bool   // its content has parts of an unknown kind
}

// Shift moves the places of the item by so many bytes.
func (it *Item) Shift(by int) {
	shift := func(s *Span) {
		if !s.Empty() {
			s.Start, s.End = s.Start+by, s.End+by
		}
	}
	shift(&it.Span)
	shift(&it.Content)
	for k := range it.Calls {
		shift(&it.Calls[k].Span)
		shift(&it.Calls[k].Arguments)
	}
}

// Request is a conversation as it was sent.
type Request struct {
	Dialect   Dialect
	Body      []byte
	Model     string
	MaxOutput int  // tokens asked for; 0 if the request says nothing
	Stream    bool // the answer is wanted as a stream
	Tools     Span // their declarations; empty if there are none
	Items     []Item
	Head      int  // leading system items
	Opaque    bool // it has items or settings of which nobody knows here what they cost

	parts []Part // room for those of one item
}

// Parts are those of the item's content. They are good until the next call.
func (r *Request) Parts(it *Item) (list []Part, err error) {
	r.parts, err = r.Dialect.AppendParts(r.parts[:0], r.Body, it.Content)
	return r.parts, err
}

// Group is the smallest run of items that may be taken out of a conversation together: an assistant's message with
// all results that answer its calls, or any other single item.
type Group struct{ First, End int } // items[First:End]

// Groups cuts the conversation behind its head into groups, which cover it in order. Results belong to the assistant's
// message before them whether they answer it or not: what came in broken is kept together as it came.
func (r *Request) Groups() []Group {
	var groups []Group
	for i := r.Head; i < len(r.Items); {
		g := Group{i, i + 1}
		if r.Items[i].Begins {
			for g.End < len(r.Items) && r.Items[g.End].Role == Tool {
				g.End++
			}
		}
		groups = append(groups, g)
		i = g.End
	}
	return groups
}

// Turns are the indexes of the user's items, at each of which a turn begins.
func (r *Request) Turns() []int {
	var turns []int
	for i := range r.Items {
		if r.Items[i].Role == User {
			turns = append(turns, i)
		}
	}
	return turns
}
