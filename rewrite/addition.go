package rewrite

import (
	"errors"
	"fmt"
	"slices"

	"epitome/rewrite/addition"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// Added says what stands in a request beside what its client sent.
type Added struct {
	Tokens int      // of the model; 0 if nothing was added
	Names  []string // of contexts whose files are named
	Why    string   // why nothing was added though it was asked for; empty if it was not, or if something was
}

// added is how a request is added to.
type added struct {
	record *addition.Record // nil: its conversation began without
	tokens int              // of the vocabulary
	undo   []span.Edit      // of the edits, in the request as it is sent
	other  bool             // another request's has taken the place of what was built first
}

// addedShare is of how many parts of what a request may fill the text may take one.
const addedShare = 4

// additionKeys are the keys of what was added to the conversation: up to where the model first speaks, and from its
// first words on. With the first request they are one. They are empty if nothing can be known of it: what lies with a
// provider has been added to there.
func additionKeys(x *run) (opening, key string) {
	items, first := conversation.OpeningOf(x.req)
	if x.shaper.deps.Library == nil || items == 0 || !x.req.Upkeep.Before.Empty() {
		return "", ""
	}
	opening = decision.AdditionKey(x.plan.Route, x.hist.Chain[items])
	if first {
		return opening, opening
	}
	return opening, decision.AdditionKey(x.plan.Route, x.hist.Chain[items+1])
}

// addToHead finds what is added to the conversation. Its first request decides, and all later ones repeat that.
func addToHead(x *run) (err error) {
	opening, key := additionKeys(x)
	if key == "" {
		return nil
	}
	asked := slices.Compact(slices.Sorted(slices.Values(x.in.Contexts)))
	var record *addition.Record
	switch {
	case key == opening:
		record, err = begin(x, key, asked)
	case x.past != nil:
		if record = x.past.added; record != nil && maySettle(x) {
			_, _ = addition.Bind(x.ledger, key, record) // if it was lost there; else with the next request
		}
	default:
		record, err = goOn(x, asked)
		x.out.Report.Broke = lostStore(x) && len(asked) > 0
	}
	putAdded(x, record)
	if err == nil && record != nil && record.Index != "" && !x.in.Replay && x.ledger.Touch(key) {
		x.shaper.deps.Library.Renew(x.in.Scope, record.Files)
	}
	return err
}

// goOn finds what was added to a conversation of which nothing is remembered. With the model's first words it parts
// from those that began alike, and what it was given then holds for it alone. One that went on without goes on so.
func goOn(x *run, asked []string) (*addition.Record, error) {
	opening, key := additionKeys(x)
	if list, _ := addition.At(x.ledger, key); len(list) > 0 {
		return &list[0], nil
	}
	if items, _ := conversation.OpeningOf(x.req); x.plan.Base.Depth() > items {
		return nil, nil
	}
	list, _ := addition.At(x.ledger, opening)
	r := list.ForLater(asked)
	if r == nil || !maySettle(x) {
		return r, nil
	}
	return addition.Bind(x.ledger, key, r)
}

// putAdded has the record's text stand in the request. One that the dialect has no place for stays out.
func putAdded(x *run, record *addition.Record) {
	a := &x.out.added
	a.record, x.plan.Ask.Head = record, nil
	x.plan.Size.System, a.tokens = x.plan.Size.System-a.tokens, 0
	if record == nil || record.Index == "" {
		return
	}
	edit, ok := x.in.Dialect.Append(x.req, nil, record.Index)
	if !ok {
		return
	}
	x.plan.Ask.Head, a.tokens = []span.Edit{edit}, x.plan.Scale.CountText([]byte(record.Index), false)
	x.plan.Size.System += a.tokens
}

// begin decides what is added to the conversation of which this is the first request. What stands for an equal one that
// has asked for the same holds, also that it could not be given.
func begin(x *run, key string, asked []string) (r *addition.Record, err error) {
	list, _ := addition.At(x.ledger, key)
	if r = list.For(asked); r == nil && maySettle(x) && len(asked)+len(list) > 0 {
		r, err = settleRecord(x, key, makeRecord(x, asked))
	}
	if r != nil && x.in.Rescue != nil && x.in.Rescue.Whole {
		r = &addition.Record{Asked: asked, Why: "no context files: the provider refused the request with their index"}
	}
	if r != nil {
		x.out.Report.Added.Why = r.Why
	}
	return r, err
}

// forsake has what a first request was sent without, after a refusal, stand for it.
func forsake(x *run) error {
	opening, key := additionKeys(x)
	if r := x.out.added.record; x.in.Rescue.Whole && r != nil && key == opening {
		return addition.Replace(x.ledger, key, r)
	}
	return nil
}

// settleRecord records what is added, and returns what stands then for who asked for the same.
func settleRecord(x *run, key string, r *addition.Record) (*addition.Record, error) {
	if opening, _ := additionKeys(x); key != opening {
		return addition.Bind(x.ledger, key, r)
	}
	_, _, begun := x.ledger.Get(x.plan.Route.ConversationKey(x.hist.Chain[x.hist.Len()]))
	return addition.Settle(x.ledger, key, r, begun)
}

// makeRecord makes what is added to a conversation that asks for these names.
func makeRecord(x *run, asked []string) *addition.Record {
	r := &addition.Record{Asked: asked}
	if len(asked) == 0 {
		return r
	}
	files, err := x.shaper.deps.Library.Lend(x.in.Scope, asked)
	if err == nil && len(files) > 0 {
		r.Index, err = indexOf(x, files)
	}
	if r.Files = files; err != nil {
		r.Index, r.Files, r.Why = "", nil, "no context files: "+err.Error()
	}
	return r
}

// indexOf is the text by which the request names the files.
func indexOf(x *run, files []addition.File) (string, error) {
	p := x.plan
	way := addition.ByTool
	if at := plan.AddressOf(p, files[0].Artifact); at == "" {
		return "", errors.New("with offload.address none, nobody could read them")
	} else if !p.Case.ByTool {
		if way = addition.ByPath; plan.IsURL(at) {
			way = addition.ByURL
		}
	}
	index := addition.Index(files, way, func(name string) string { return plan.AddressOf(p, name) })
	told := &x.out.Report
	most := max(0, min(told.Usable/addedShare, told.Usable-told.Before.Total()))
	if n := p.Scale.InModelTokens(p.Scale.CountPlain(index)); n > most {
		return "", fmt.Errorf("their index has %d tokens, and at this window there is room for %d", n, most)
	}
	edit, ok := x.in.Dialect.Append(x.req, nil, index)
	if !ok {
		return "", errors.New("the request has no place for their index")
	}
	body, err := span.Splice(x.in.Body, []span.Edit{edit})
	if err != nil {
		return "", err
	}
	return index, check(x.req, body)
}

// lostStore reports whether it is not known what stands in a ledger that others share.
func lostStore(x *run) bool { return x.turn != nil && x.turn.Failure() != nil }

// maySettle reports whether the request may record what is added.
func maySettle(x *run) bool { return !x.in.Replay && !lostStore(x) }

// retake takes what stands for an equal request that was faster.
func retake(x *run) error {
	_, key := additionKeys(x)
	was := x.out.added.record
	if key == "" || was == nil {
		return nil
	}
	record, err := settleRecord(x, key, was)
	if err != nil {
		return err
	}
	if record == nil || record.Index != was.Index {
		x.out.added.other = true
		putAdded(x, record)
	}
	return nil
}

// noteAdded notes what the edits of the head have made of the body. edits are all of the body, in their order.
func noteAdded(x *run, edits []span.Edit) {
	a, r := &x.out.added, &x.out.Report
	if len(x.plan.Ask.Head) == 0 {
		return
	}
	a.undo = addition.Undo(x.in.Body, edits, x.plan.Ask.Head)
	r.Added = Added{Tokens: x.plan.Scale.InModelTokens(a.tokens), Names: a.record.Names()}
	if r.Action == ActionNone {
		r.Action = ActionAdd
	}
}
