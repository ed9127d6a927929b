package plan

import (
	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
)

// IsCleared reports whether nothing of the result is sent but a stub, or not even that.
func IsCleared(p *Plan, res *history.Result) bool {
	f := p.Forms[res.Item]
	return f != nil && (f.Rung == decision.RungClear || f.Gone || f.Fold > 0)
}

// IsUnseen reports whether the model has not seen item i yet: no answer of the assistant stands behind it. An answer
// that ends the request is one that the model is to go on with.
func IsUnseen(p *Plan, i int) bool {
	last := p.Hist.Len() - 1
	answered := p.Hist.Answers[last]
	if p.Req.Items[p.Req.Head+last].Role == conversation.Assistant {
		answered--
	}
	return p.Hist.Answers[i] >= answered
}

// MustBeShown reports whether the result is to be sent whole or as an excerpt, however full the window is: the model
// has not seen it yet. Once the provider has refused the request, nothing must.
func MustBeShown(p *Plan, res *history.Result) bool {
	return p.Case.Rescue == nil && IsUnseen(p, res.Item)
}

// NewestGroup is the first item of the group that holds the first result which must be shown; the number of items if
// none does.
func NewestGroup(p *Plan) int {
	first := p.Hist.Len()
	for k := len(p.Hist.Results) - 1; k >= 0 && MustBeShown(p, &p.Hist.Results[k]); k-- {
		first = p.Hist.Results[k].Item
	}
	if first == p.Hist.Len() {
		return first
	}
	for first > 0 && !p.Req.Items[p.Req.Head+first].Begins {
		first--
	}
	return first
}

// IsUntouchable reports whether a result is kept from every rung: by the configuration, which names its tool, or by its
// kind.
func IsUntouchable(p *Plan, res *history.Result) bool {
	return p.Limits.Conf.IsKept(res.Tool) || IsFixed(p, res.Item)
}

// IsFixed reports whether item i never changes.
func IsFixed(p *Plan, i int) bool { return i < p.Req.Upkeep.Fixed || p.Req.Items[p.Req.Head+i].Locked }

// Never is a request that does not come.
const Never = int(^uint(0) >> 1)

// ReasonToCompact is why there is a compaction.
func ReasonToCompact(p *Plan) string {
	switch {
	case p.Case.Rescue != nil:
		return event.ReasonOverflow
	case p.Case.Manual:
		return event.ReasonManual
	case p.Total() > p.Limits.CompactLine:
		return event.ReasonThreshold
	case p.Case.OverBudget:
		return event.ReasonBudget
	}
	return ""
}

// RecalledArtifact is the artifact that the result was asked for to show; empty if it shows none.
func RecalledArtifact(p *Plan, res *history.Result) string {
	for _, name := range res.Cites {
		if p.Sheet.Names(name) {
			return name
		}
	}
	return ""
}

// MarkLeftOut is what the client's last mark for the provider's cache in messages says, if none of them is sent; else
// empty.
func MarkLeftOut(p *Plan) string {
	all := p.Req.Marks
	if len(all) == 0 {
		return ""
	}
	edits, err := decision.Edits(p.Req, p.Forms, len(p.Forms))
	if err != nil || decision.MarksLeft(p.Req, edits) > 0 {
		return ""
	}
	return string(all[len(all)-1].Value.Of(p.Req.Body))
}

// NumberOf is the number of the message that says item i behind the head, as users and models are told it.
func NumberOf(p *Plan, i int) int { return conversation.NumberOf(p.Req, p.Req.Head+i) }

// OpeningOf is how many items behind the head stay whatever is folded: those up to the first user's, if that comes
// early, with all that its message says. A call must not be parted from its result behind the user's words.
func OpeningOf(p *Plan) int {
	const early = 6
	from := p.Req.Upkeep.Fixed + p.Req.Upkeep.Preface
	for i := from; i < min(from+early, p.End); i++ {
		if p.Req.Items[p.Req.Head+i].Role == conversation.User {
			for i++; i < p.End && conversation.SameMessage(p.Req, p.Req.Head+i); i++ {
			}
			return i
		}
	}
	return min(from, p.End)
}

// CompactedEnd is the end of what compactions have left out.
func CompactedEnd(p *Plan) (end int) {
	for i, f := range p.Forms[:p.End] {
		if f != nil && f.Over > 0 {
			end = i + f.Over
		}
	}
	return end
}
