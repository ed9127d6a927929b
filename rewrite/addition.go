package rewrite

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"epitome/rewrite/addition"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/folder"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// Added says what stands in a request beside what its client sent.
type Added struct {
	Tokens int      // of the model; 0 if nothing was added
	Memory int      // those of them that are what earlier sessions have learned
	Names  []string // of contexts whose files are named
	Why    string   // what is missing though it was asked for, and why; empty if nothing is
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
	if x.shaper.deps.Library == nil && x.shaper.deps.Memories == nil || items == 0 || !x.req.Upkeep.Before.Empty() {
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
	var record *addition.Record
	switch {
	case key == opening:
		record, err = begin(x, key)
	case x.past != nil && isIn(x, x.past.added):
		if record = x.past.added; record != nil && maySettle(x) {
			_, _ = addition.Bind(x.ledger, key, record) // if it was lost there; else with the next request
		}
	default:
		record, err = goOn(x)
		x.out.Report.Broke = lostStore(x) && !wishOf(x).IsEmpty()
	}
	putAdded(x, record)
	switch {
	case x.shaper.deps.Memories == nil:
	case record != nil:
		x.plan.Ask.Project = record.Project // of its beginning, whatever the request names now
	default:
		x.plan.Ask.Project = wishOf(x).Project
	}
	if err != nil || record == nil || record.Text() == "" || x.in.Replay || !x.ledger.Touch(key) {
		return err
	}
	if len(record.Files) > 0 && x.shaper.deps.Library != nil {
		x.shaper.deps.Library.Renew(x.in.Scope, record.Files)
	}
	return nil
}

// wishOf is what the request asks for: files by their names, and the memory of its project, which is the one that it
// names, or else the folder in which its agent works.
func wishOf(x *run) (w addition.Wish) {
	if x.shaper.deps.Library != nil {
		w.Asked = slices.Compact(slices.Sorted(slices.Values(x.in.Contexts)))
	}
	if m := x.shaper.deps.Memories; m != nil && m.Remembers() {
		w.Project = projectOf(x)
	}
	return w
}

// projectOf is the project that the request names, or else the folder in which its agent works.
func projectOf(x *run) string { return cmp.Or(x.in.Project, folder.Of(x.req)) }

// isIn reports whether what was added to a conversation that began alike is of the project in which the request is.
// Where no project has ever been named, it is.
func isIn(x *run, r *addition.Record) bool {
	switch m := x.shaper.deps.Memories; {
	case m == nil:
		return true
	case r == nil || r.Project == "":
		return !m.Remembers() || projectOf(x) == ""
	}
	return r.Project == projectOf(x)
}

// goOn finds what was added to a conversation of which nothing is remembered. With the model's first words it parts
// from those that began alike, and what it was given then holds for it, and for those of its project that have gone on
// alike. One that went on without goes on so; so does one that is first seen in its middle, whatever those are given
// later that begin alike.
func goOn(x *run) (*addition.Record, error) {
	opening, key := additionKeys(x)
	bound, _ := addition.At(x.ledger, key)
	if len(bound) > 0 && isIn(x, &bound[0]) {
		return renewed(x, &bound[0])
	}
	if items, _ := conversation.OpeningOf(x.req); len(bound) == 0 && x.plan.Base.Depth() > items {
		return nil, nil
	}
	list, _ := addition.At(x.ledger, opening)
	r := list.ForLater(list.Meant(wishOf(x), projectOf(x)))
	if len(bound) > 0 {
		r = bound.Share(list, projectOf(x))
	}
	if r == nil && len(bound) == 0 && !wishOf(x).IsEmpty() {
		r = &addition.Record{Wish: wishOf(x), At: x.in.Now}
	}
	if r == nil || !maySettle(x) {
		return r, nil
	}
	return addition.Bind(x.ledger, key, r)
}

// renewed is what a conversation goes on with to whose words a record is bound. A job that begins in the same words
// each night is told in its first request what is known then. With its one answer it goes on with that.
func renewed(x *run, bound *addition.Record) (*addition.Record, error) {
	if bound.Project == "" || !hasOneAnswer(x.req) {
		return bound, nil
	}
	opening, key := additionKeys(x)
	list, _ := addition.At(x.ledger, opening)
	r := list.For(bound.Wish)
	if r == nil || !bound.IsStale(r.At) {
		return bound, nil
	}
	if maySettle(x) {
		return r, addition.Replace(x.ledger, key, r)
	}
	return r, nil
}

// hasOneAnswer reports whether the model has answered once, whatever of it stands behind that.
func hasOneAnswer(r *conversation.Request) bool {
	items, _ := conversation.OpeningOf(r)
	for i := r.Head + items + 1; i < len(r.Items); i++ {
		if r.Items[i].Role == conversation.Assistant && r.Items[i-1].Role != conversation.Assistant {
			return false
		}
	}
	return true
}

// putAdded has the record's text stand in the request. One that the dialect has no place for stays out.
func putAdded(x *run, record *addition.Record) {
	a := &x.out.added
	a.record, x.plan.Ask.Head = record, nil
	x.plan.Size.System, a.tokens = x.plan.Size.System-a.tokens, 0
	if record == nil || record.Text() == "" {
		return
	}
	edit, ok := x.in.Dialect.Append(x.req, nil, record.Text())
	if !ok {
		return
	}
	x.plan.Ask.Head, a.tokens = []span.Edit{edit}, x.plan.Scale.CountText([]byte(record.Text()), false)
	x.plan.Size.System += a.tokens
}

// begin decides what is added to the conversation of which this is the first request. What stands for an equal one that
// has asked for the same holds, also that it could not be given; but a memory does so for a day.
func begin(x *run, key string) (r *addition.Record, err error) {
	list, _ := addition.At(x.ledger, key)
	wish := wishOf(x)
	switch r = list.For(wish); {
	case r == nil && maySettle(x) && !(wish.IsEmpty() && len(list) == 0):
		if r, err = settleRecord(x, key, makeRecord(x, wish)); errors.Is(err, addition.ErrTooMany) {
			r, err = &addition.Record{Wish: wish, Why: "nothing is added: " + err.Error()}, nil
		}
	case r != nil && maySettle(x) && r.IsStale(x.in.Now):
		if made, err := addition.Renew(x.ledger, key, makeRecord(x, wish), x.in.Now); err == nil {
			r = made
		}
	}
	if r != nil && x.in.Rescue != nil && x.in.Rescue.Whole {
		r = &addition.Record{Wish: wish, Why: r.Refusal()}
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

// makeRecord makes what is added to a conversation that asks for this.
func makeRecord(x *run, w addition.Wish) *addition.Record {
	r := &addition.Record{Wish: w}
	if len(w.Asked) > 0 {
		files, err := x.shaper.deps.Library.Lend(x.in.Scope, w.Asked)
		if err == nil && len(files) > 0 {
			r.Index, err = indexOf(x, files)
		}
		if r.Files = files; err != nil {
			r.Index, r.Files = "", nil
			r.Lack("context files", err)
		}
	}
	if w.Project != "" {
		var err error
		r.At = x.in.Now
		if r.Memory, err = x.shaper.deps.Memories.Recall(x.in.Scope, w.Project); err == nil && r.Memory != "" {
			err = fits(x, r.Index, r.Text(), "it")
		}
		if err != nil {
			r.Memory = ""
			r.Lack("memory", err)
		}
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
	return index, fits(x, "", index, "their index")
}

// fits says why a text, called what, cannot stand in the request, of which the beginning does.
func fits(x *run, beginning, text, what string) error {
	told := &x.out.Report
	most := max(0, min(told.Usable/addedShare, told.Usable-told.Before.Total()))
	count := func(s string) int { return x.plan.Scale.InModelTokens(x.plan.Scale.CountPlain(s)) }
	if n := count(text); n > most {
		return fmt.Errorf("%s has %d tokens, and at this window there is room for %d", what,
			n-count(beginning), max(0, most-count(beginning)))
	}
	edit, ok := x.in.Dialect.Append(x.req, nil, text)
	if !ok {
		return fmt.Errorf("the request has no place for %s", what)
	}
	body, err := span.Splice(x.in.Body, []span.Edit{edit})
	if err != nil {
		return err
	}
	return check(x.req, body)
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
	if record == nil || record.Text() != was.Text() {
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
	r.Added.Tokens, r.Added.Names = x.plan.Scale.InModelTokens(a.tokens), a.record.Names()
	r.Added.Memory = x.plan.Scale.InModelTokens(x.plan.Scale.CountText([]byte(a.record.Memory), false))
	if r.Action == ActionNone {
		r.Action = ActionAdd
	}
}
