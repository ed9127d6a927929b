package baselines

import (
	"encoding/json"
	"slices"
	"time"

	"epitome/bench/policy"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// baseline is what a policy does to a conversation before each request. It may keep its place in the conversation.
type baseline func(t *thread)

// thread is one conversation, whose requests extend one another, as a baseline leaves it.
type thread struct {
	act     baseline
	in      policy.Setting
	unit    policy.Unit
	meter   policy.Meter          // of the model that the conversation names
	request *conversation.Request // at hand

	fixed   int // tokens beside the messages
	total   int // tokens of what would be sent
	all     []entry
	results []int // the places of tools' results
	head    int   // messages that stay: through the first user's, if that is among the first six; else the first alone
	sent    int   // messages that the request before had
	changed bool  // what was sent before changes with the request at hand
	whole   map[string][]byte

	summary summary
	asked   []policy.Asking // for summaries, with the request at hand
}

// summary is what stands behind the head for what was dropped.
type summary struct {
	rounds  int    // in which it was made
	message []byte // nil: there is none
	tokens  int
}

// entry is one message of the client's.
type entry struct {
	role  conversation.Role
	first int    // tokens, as the client sends it
	now   int    // tokens, as it would be sent; 0: it is left out
	was   int    // now, in the request before
	with  []byte // what stands for its content; nil: it is as it was
}

func newThread(s policy.Setting, act baseline) *thread {
	return &thread{act: act, in: s, whole: make(map[string][]byte)}
}

// Shape reads what is new, lets the baseline act and writes what it leaves.
func (t *thread) Shape(body []byte, _ time.Time) (policy.Shaped, error) {
	r, err := t.in.Dialect.Read(body, nil)
	if err != nil {
		return policy.Shaped{Body: body}, err
	}
	if t.meter, err = t.unit.Meter(r.Model); err != nil {
		return policy.Shaped{Body: body}, err
	}
	t.grow(r)
	t.act(t)
	edits, err := t.edits()
	if err != nil {
		return policy.Shaped{Body: body}, err
	}
	s := policy.Shaped{Body: body, Decided: t.changed, Asked: t.asked}
	if len(edits) > 0 {
		s.Body, err = jsonspan.Splice(body, edits)
	}
	t.request, t.sent = nil, len(t.all)
	for i := range t.all {
		t.all[i].was = t.all[i].now
	}
	return s, err
}

func (t *thread) grow(r *conversation.Request) {
	t.request, t.changed, t.asked = r, false, nil
	if len(t.all) == 0 {
		t.fixed = t.meter.Fixed(r)
		t.total = t.fixed
	}
	for i := len(t.all); i < len(r.Items); i++ {
		n := t.meter.ReadItem(r, i).Tokens
		t.all = append(t.all, entry{role: r.Items[i].Role, first: n, now: n})
		t.total += n
		if r.Items[i].Role == conversation.Tool {
			t.results = append(t.results, i)
		}
	}
	if t.summary.message == nil { // which stays where it is
		t.head = headEnd(r.Items)
	}
}

// headEnd returns the number of messages through the first user's, if that is among the first six; else the first
// alone.
func headEnd(items []conversation.Item) int {
	for i := range items[:min(6, len(items))] {
		if items[i].Role == conversation.User {
			return i + 1
		}
	}
	return min(1, len(items))
}

// edits returns what makes the client's request the one to be sent: messages that are left out, and the summary behind
// the head.
func (t *thread) edits() ([]jsonspan.Edit, error) {
	items := t.request.Items
	var gone []conversation.Drop
	var edits []jsonspan.Edit
	if t.summary.message != nil {
		at := items[t.head-1].Place().End
		edits = append(edits, jsonspan.Edit{Span: jsonspan.Span{Start: at, End: at},
			With: slices.Concat([]byte(","), t.summary.message)})
	}
	for i, e := range t.all {
		switch {
		case e.now == 0:
			gone = append(gone, conversation.Drop{First: i, Count: 1})
		case e.with != nil:
			edits = append(edits, jsonspan.Edit{Span: items[i].Content, With: e.with})
		}
	}
	removed, err := conversation.DropItems(t.request, gone)
	return append(edits, removed...), err
}

// resize notes that message i takes so many tokens from now on.
func (t *thread) resize(i, tokens int) {
	t.total += tokens - t.all[i].now
	t.all[i].now = tokens
	t.changed = t.changed || i < t.sent
}

// replace puts a text in the place of a message's content, if that makes it shorter.
func (t *thread) replace(i int, text string) {
	tokens := t.meter.Result(text)
	if tokens >= t.all[i].now {
		return
	}
	t.all[i].with = quote(text)
	t.resize(i, tokens)
}

// drop leaves out the messages from start to cut, except system messages and those that stay.
func (t *thread) drop(start, cut int, stays func(i int) bool) {
	for i := start; i < cut; i++ {
		if t.all[i].now > 0 && t.all[i].role != conversation.System && !stays(i) {
			t.resize(i, 0)
		}
	}
}

func none(int) bool { return false }

// groupEnd returns the end of the group that begins at i: the message and the results behind it.
func (t *thread) groupEnd(i int) int {
	for i++; i < len(t.all) && t.all[i].role == conversation.Tool; {
		i++
	}
	return i
}

// tail returns where the newest groups begin that together have at most so many tokens; the end if there are none.
func (t *thread) tail(tokens int) int {
	cut := len(t.all)
	for i := len(t.all) - 1; i >= t.head; i-- {
		if tokens -= t.all[i].now; tokens < 0 {
			break
		}
		if t.all[i].role != conversation.Tool {
			cut = i
		}
	}
	return cut
}

// text returns what message i of the request at hand says.
func (t *thread) text(i int) string {
	return t.request.TextOf(&t.request.Items[i])
}

func (t *thread) artifact(name string) ([]byte, bool) {
	text, known := t.whole[name]
	return text, known
}

// quote writes a text as a JSON string.
func quote(text string) []byte {
	quoted, _ := json.Marshal(text) // which cannot fail for a string
	return quoted
}
