package ledger

import (
	"slices"

	"epitome/dialect/conversation"
)

// Request is what the ledger needs to know of a request.
type Request struct {
	Scope, Dialect  string // requests that differ in these share nothing
	Upstream, Model string // decisions for others are taken over where these have none
	Leading         string // hash of system prompt, tools and settings
	Additions       string // names of what is to be added to the system prompt; empty if nothing is
	Chain           []conversation.Link
	Head            int    // items before the model's first answer
	Ends            []int  // lengths, in items, of the prefixes that may have a decision, longest first
	Opening         string // tells requests apart that have no answer yet, and equal messages; empty once there is one
}

// IsFor reports whether two requests share decisions as far as their messages are the same.
func (r Request) IsFor(o Request) bool {
	return r.Scope == o.Scope && r.Dialect == o.Dialect && r.Upstream == o.Upstream && r.Model == o.Model
}

// Own returns d as a decision about the request, for which it was found.
func (r *Request) Own(d Decision) Decision {
	d.Upstream, d.Model, d.Leading, d.Opening, d.Parent = r.Upstream, r.Model, r.Leading, r.Opening, ""
	if d.found == 0 {
		d.Additions = r.Additions
	}
	return d
}

// recordKey returns the key of the decisions for a prefix.
func (r *Request) recordKey(items int) string {
	return "p" + Hash(r.Scope, r.Dialect, string(r.Chain[items][:]))
}

// Key returns the key under which Record puts a decision that was found for the request.
func (r Request) Key(d Decision) string {
	d = r.Own(d)
	return r.recordKey(d.Items) + "/" + d.kind()
}

// id returns the ID of a request's conversation if nothing is recorded of it.
func (r *Request) id() string {
	if r.Opening != "" {
		return r.firstID()
	}
	return idOf(r.Scope, r.Dialect, string(r.Chain[min(r.Head+1, len(r.Chain)-1)][:]))
}

// firstID returns the ID of the conversation that begins with the request's first messages.
func (r *Request) firstID() string {
	return idOf(r.Scope, r.Dialect, string(r.Chain[r.Head][:]), r.Leading, r.Additions)
}

// Classes of decisions whose prefix a request has, the worst first.
const (
	otherFirst      = iota // of another first request: the request never goes on from it
	otherAdditions         // of a first request that asked for other additions to the system prompt
	otherBranch            // behind an answer, in a conversation that began with other additions
	unnamedOpening         // of a first request with additions, which later requests need not name
	ownOpening             // of a first request with the same additions
	ownConversation        // behind an answer, with the same additions, or with ones that the request need not name
)

func (r *Request) class(d *Decision) int {
	isSame := d.Additions == r.Additions
	mayOmit := r.Additions == "" && r.Opening == "" // clients may name additions in the first request alone
	if d.Opening == "" {
		if isSame || mayOmit {
			return ownConversation
		}
		return otherBranch
	}
	switch {
	case r.Opening != "" && (d.Opening != r.Opening || !isSame):
		return otherFirst
	case isSame:
		return ownOpening
	case mayOmit:
		return unnamedOpening
	}
	return otherAdditions
}

// compare orders the decisions that a request may go on from: the greatest is the one to go on from.
func (r *Request) compare(a, b *Decision) int { return slices.Compare(r.rank(a), r.rank(b)) }

func (r *Request) rank(d *Decision) []int {
	number := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	return []int{r.class(d), number(d.Additions == r.Additions), number(d.Opening != "" && d.Leading == r.Leading),
		number(r.isOwnModel(d)), d.Items}
}

func (r *Request) isOwnModel(d *Decision) bool { return d.Model == r.Model && d.Upstream == r.Upstream }

// isBest reports whether no decision for a shorter prefix has a higher rank than d.
func (r *Request) isBest(d *Decision) bool {
	return d.Items > 0 && d.Opening == "" && d.Additions == r.Additions && r.isOwnModel(d)
}

// MayGoOn reports whether a decision about the request's messages is of its conversation, and not of another one.
func (r *Request) MayGoOn(d Decision) bool {
	return slices.Contains(r.Ends, d.Items) && r.class(&d) > otherBranch
}
