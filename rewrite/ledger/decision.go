package ledger

import (
	"cmp"
	"slices"
	"time"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/view"
)

// Decision is all edits for a prefix, and what later requests must know about the request that was sent with them.
type Decision struct {
	Items        int    `json:",omitzero"` // length of the prefix
	Conversation string `json:",omitzero"` // ID of the conversation
	Origin
	Leading string `json:",omitzero"` // of the request: see Request

	// Since the last compaction of the conversation.

	Tokens    int  `json:",omitzero"` // of the model that were sent
	Compacted int  `json:",omitzero"` // answers that there were then
	Prepared  int  `json:",omitzero"` // items before the cut whose summary was begun ahead of need
	Waits     bool `json:",omitzero"` // the user was told that a compaction is due and waits

	Warned     bool      `json:",omitzero"` // the user was told that compaction cannot help
	NearlyFull bool      `json:",omitzero"` // likewise that newest_messages will leave some out
	Sent       time.Time `json:",omitzero"` // when the request was sent: a pause makes the cache cold
	Touched    time.Time `json:",omitzero"` // when its edits and their artifacts were touched last
	Added      int       `json:",omitzero"` // how many of Edits, the last ones, this decision added
	Undone     bool      `json:",omitzero"` // Restore took its edits back; Edits has them all the same
	Restored   int       `json:",omitzero"` // items that the user wants whole since then, if they fit
	Refused    bool      `json:",omitzero"` // the provider refused edits, and not for their size
	Pictures   int       `json:",omitzero"` // how many were refused as too many or too large; 0: none
	Ratio      float64   `json:",omitzero"` // tokens of the model for one of the vocabulary
	List       string    `json:",omitzero"` // key of the names of Edits; empty if there never was one

	// Life is how long the provider caches the request, by the last answer that said so before it; 0 if none did.
	Life time.Duration `json:",omitzero"`

	Edits      []view.Edit `json:"-"`
	OtherModel bool        `json:"-"` // it was recorded for another model or upstream

	Parent string `json:"-"` // ID of the conversation from which Record saw this one branch off
	Key    string `json:"-"` // of At and Restore; empty if it goes on from no recorded decision

	stored []view.Edit // Edits as the store has them under List
	from   int         // items of the longest prefix of the conversation that Find has found
}

// Origin tells decisions for the same prefix apart: of each origin, the newest one is kept.
type Origin struct {
	Upstream  string `json:",omitzero"` // of the request, like Model
	Model     string `json:",omitzero"`
	Additions string `json:",omitzero"` // of the conversation's first request: see Request
	Opening   string `json:",omitzero"` // of a first request: see Request
	Began     string `json:",omitzero"` // Leading of the conversation's first request
}

// InPlaceOf returns d, which could not be recorded, as what goes on from found.
func (d Decision) InPlaceOf(found Decision) Decision {
	d.Additions, d.Key, d.from = found.Additions, found.Key, found.from
	return d
}

// Undo takes the edits of messages out of d and returns them. What is added to the system prompt, or mends pairs,
// stays.
func (d *Decision) Undo() (undone []view.Edit) {
	edits := d.Edits
	d.Edits = nil
	for _, e := range edits {
		if e.Op == view.AppendSystem || e.Reason == event.CodeUnpaired {
			d.Edits = append(d.Edits, e)
		} else {
			undone = append(undone, e)
		}
	}
	return undone
}

// keyIn returns the key of a decision in the record that has a key.
func (o *Origin) keyIn(record string) string {
	return record + "/" + Hash(o.Upstream, o.Model, o.Additions, o.Opening, o.Began)
}

// Request is what the ledger needs to know of a request.
type Request struct {
	Scope, Dialect  string // requests that differ in these share nothing
	Upstream, Model string // decisions for others are taken over where these have none
	Leading         string // hash of system prompt, tools and settings
	Additions       string // names of what is to be added to the system prompt; empty if nothing is
	Machine         string // hash of what the agent is told of its machine; empty if it is told nothing
	Chain           []conversation.Link
	Head            int    // items before the model's first answer
	End             int    // items up to the last answer or result: see conversation.Request
	Ends            []int  // lengths, in items, of the prefixes that may have a decision, longest first
	Opening         string // tells requests apart that have no answer yet, and equal messages; empty once there is one
}

// IsFor reports whether two requests share decisions as far as their messages are the same.
func (r Request) IsFor(o Request) bool {
	return r.Scope == o.Scope && r.Dialect == o.Dialect && r.Upstream == o.Upstream && r.Model == o.Model
}

// Format names the way in which decisions are recorded. Those of another format are not found.
const Format = "epitome decisions 2 of " + conversation.ChainVersion

// recordKey returns the key of the decisions for a prefix. Agents that begin alike in many folders have each a record
// of their own for their first requests: one record would not hold those of all.
func (r *Request) recordKey(items int) string {
	machine := ""
	if items == r.Head {
		machine = r.Machine
	}
	return "p" + Hash(Format, r.Scope, r.Dialect, string(r.Chain[items][:]), machine)
}

// Own returns the decision about the request that goes on from d, which was found for it. The prompt and the additions
// with which the conversation began stay: later requests may have another prompt, and need not name additions.
func (r *Request) Own(d Decision) Decision {
	d.Upstream, d.Model, d.Leading, d.Opening = r.Upstream, r.Model, r.Leading, r.Opening
	d.Parent = "" // Record says whether the request branches off
	d.Began = cmp.Or(d.Began, r.Leading)
	if d.Key == "" { // it goes on from no recorded decision, so the conversation begins here
		d.Additions = r.Additions
	}
	return d
}

// Key returns the key under which Record puts a decision of the request.
func (r *Request) Key(d Decision) string { return d.keyIn(r.recordKey(d.Items)) }

// New returns the decision of a request of which nothing is recorded: it has the ID of a conversation that begins.
func (r *Request) New() Decision {
	id := idOf(r.Scope, r.Dialect, string(r.Chain[min(r.Head+1, len(r.Chain)-1)][:]))
	if r.Opening != "" {
		id = idOf(r.Scope, r.Dialect, string(r.Chain[r.Head][:]), r.Leading, r.Additions)
	}
	return Decision{Conversation: id, Origin: Origin{Began: r.Leading}}
}

// MayGoOn reports whether a decision about the request's messages is of its conversation, and not of another one. found
// is the decision that Find returned.
func (r *Request) MayGoOn(d, found Decision) bool {
	isOwn := d.Began == found.Began || d.Leading == r.Leading
	return isOwn && slices.Contains(r.Ends, d.Items) && r.agrees(&d)
}

// agrees reports whether d has the additions that the request asks for. Clients may name them in the first request of a
// conversation alone. Two first requests must also have the same Opening.
func (r *Request) agrees(d *Decision) bool {
	isUnnamed := r.Additions == "" && r.Opening == ""
	isOpening := r.Opening == "" || d.Opening == "" || r.Opening == d.Opening
	return isOpening && (isUnnamed || d.Additions == r.Additions)
}

// isOtherFirst reports whether d is of the first request of another conversation: the request never goes on from it.
func (r *Request) isOtherFirst(d Decision) bool {
	return d.Opening != "" && !r.agrees(&d) && (r.Opening != "" || d.Leading != r.Leading)
}

// best is the rank of the decisions that nothing is better than, but those for longer prefixes.
const best = 0b1111

// rank orders the decisions of the request's conversation: the request goes on from the highest one. It is made of the
// answers to four questions, the most important first.
func (r *Request) rank(d *Decision) (rank int) {
	for _, isBetter := range []bool{r.agrees(d), d.Opening == "", d.Additions == r.Additions, r.isOwnModel(d)} {
		rank *= 2
		if isBetter {
			rank++
		}
	}
	return rank
}

// compare puts the decision of the higher rank before the other, and of two with one rank the one for more items.
func (r *Request) compare(a, b Decision) int { return cmp.Or(r.rank(&b)-r.rank(&a), b.Items-a.Items) }

func (r *Request) isOwnModel(d *Decision) bool { return d.Model == r.Model && d.Upstream == r.Upstream }

// ofConversation returns the decisions in list that are of the request's conversation. Others may have the same items,
// and differ in their prompts alone. If two conversations may be the request's as well as each other, none is.
func (r *Request) ofConversation(list []Decision) []Decision {
	list = slices.DeleteFunc(list, r.isOtherFirst)
	complete := map[string]bool{} // by Began: the conversation had all the items with another prompt
	for _, d := range list {
		if d.Opening == "" && d.Items >= r.End && d.Leading != r.Leading {
			complete[d.Began] = true
		}
	}
	var own Decision
	most, isOne := 0, true
	for _, d := range list {
		evidence := r.evidence(&d, complete[d.Began])
		if evidence > most {
			own, most, isOne = d, evidence, true
		} else if evidence == most && d.Items == own.Items && d.Began != own.Began {
			isOne = false
		}
	}
	isOther := func(d Decision) bool { return !isOne || d.Began != own.Began }
	if most > 0 {
		list = slices.DeleteFunc(list, isOther)
	}
	return list
}

// evidence returns how much speaks for d being of the request's conversation. isComplete says that the conversation of
// d had all items of the request, with another prompt.
func (r *Request) evidence(d *Decision, isComplete bool) int {
	isAnswered := d.Opening == ""
	switch {
	case isAnswered && d.Began == r.Leading: // the conversation began with the prompt of the request
		return 5
	case isAnswered && d.Leading == r.Leading: // it has that prompt now
		return 4
	case isAnswered && !isComplete: // its prompt may have changed with the newest items
		return 3
	case d.Leading == r.Leading: // it may have got another answer
		return 2
	case isAnswered: // the client may have sent its last request again
		return 1
	}
	return 0
}
