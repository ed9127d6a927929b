package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"epitome/dialect/conversation"
	"epitome/rewrite/view"
	"epitome/store"
)

var base = Request{Scope: "s", Dialect: "chat", Upstream: "up", Model: "m", Leading: "prompt"}

// rig is a ledger for conversations whose items are letters.
type rig struct {
	*testing.T
	*Ledger
}

func start(t *testing.T) rig { return rig{t, New(store.NewMemory(16<<20), time.Hour)} }

// again is another process with the same store.
func (r rig) again() rig { return rig{r.T, New(r.store, r.keep)} }

func chainOf(items string) []conversation.Link {
	chain := make([]conversation.Link, len(items)+1)
	for n := range chain {
		copy(chain[n][:], items[:n])
	}
	return chain
}

// of returns the request whose items are letters. The first of them is its head.
func (q Request) of(items string) Request {
	q.Chain, q.Head, q.End = chainOf(items), 1, len(items)
	if len(items) == 1 {
		q.Opening = q.Leading
	}
	for n := len(items); n > 0; n-- {
		q.Ends = append(q.Ends, n)
	}
	return q
}

func (r rig) find(q Request, items string) Decision {
	r.Helper()
	d, err := r.Find(q.of(items), Decision{})
	if err != nil {
		r.Fatal(err)
	}
	return d
}

// record adds edits with texts to d, for a prefix, and returns what stands then.
func (r rig) record(q Request, items string, d Decision, replace bool, added ...string) Decision {
	r.Helper()
	d.Items = len(items)
	d.Edits, d.Added = slices.Clone(d.Edits), len(added)
	for k, text := range added {
		first := len(items) - 1 + k
		d.Edits = slices.DeleteFunc(d.Edits, func(e view.Edit) bool { return e.First == first })
		d.Edits = append(d.Edits, view.Edit{Op: view.Clear, First: first, Count: 1, Text: text})
	}
	d, _, err := r.Record(q.of(items), d, replace)
	if err != nil {
		r.Fatal(err)
	}
	return d
}

func texts(d Decision) string {
	var list []string
	for _, e := range d.Edits {
		list = append(list, e.Text)
	}
	return strings.Join(list, " ")
}

func (r rig) want(d Decision, items int, want string) {
	r.Helper()
	if d.Items != items || texts(d) != want {
		r.Errorf("found is %q for %d items, want %q for %d", texts(d), d.Items, want, items)
	}
}

// What was decided for a prefix is found again by whoever has the store, in however many steps and of whatever size.
func TestDecisionsAreFoundAgain(t *testing.T) {
	first, items, all := start(t), "a", "A"
	first.record(base, "a", Decision{}, false, "A")
	large := strings.Repeat("x", 10<<10)
	for k := range 9 {
		items, all = items+fmt.Sprint(k), all+" "+large
		first.record(base, items, first.find(base, items), false, large)
	}
	first.record(base, items+"u", first.find(base, items+"u"), false)
	huge := slices.Repeat([]string{strings.Repeat("y", store.MaxValue/3)}, 9)
	first.record(base, "h", Decision{}, false, huge...)
	for _, r := range []rig{first, first.again()} {
		r.want(r.find(base, items), 10, all)
		r.want(r.find(base, items+"uvw"), 11, all)
		r.want(r.find(base, "a01x"), 3, strings.Join([]string{"A", large, large}, " "))
		r.want(r.find(base, "a"+strings.Repeat("z", 30)), 1, "A")
		r.want(r.find(base, strings.Repeat("z", 400)), 0, "")
		r.want(r.find(base, "h"), 1, strings.Join(huge, " "))
	}
}

// Of requests that decide the same prefix at once one wins, and all are told what it decided, and by which conversation,
// also where that is a branch.
func TestTheFirstDecisionStands(t *testing.T) {
	for range 20 {
		r := start(t)
		trunk := r.record(base, "ab", r.find(base, "ab"), false)
		r.record(base, "abc", r.find(base, "abc"), false)
		var standing [8]Decision
		var all sync.WaitGroup
		found := r.find(base, "abd")
		for k := range standing {
			all.Go(func() { standing[k] = r.again().record(base, "abd", found, false, fmt.Sprint(k)) })
		}
		all.Wait()
		for _, d := range standing {
			if d.Conversation == trunk.Conversation || d.Conversation != standing[0].Conversation ||
				texts(d) != texts(standing[0]) {
				t.Fatalf("decided are %q in %s and %q in %s", texts(d), d.Conversation, texts(standing[0]),
					standing[0].Conversation)
			}
		}
	}
}

// A decision is replaced though another model, or another first request, has decided the same prefix meanwhile: a rescue
// records only once the provider has answered. It is not if an equal request has replaced it.
func TestOnlyTheSameDecisionHindersAReplacement(t *testing.T) {
	r := start(t)
	r.record(base, "ab", Decision{}, false, "refused")
	found := r.find(base, "ab")
	other := base
	other.Model = "other"
	r.record(other, "ab", Decision{}, false, "theirs")
	r.record(base, "ab", found, true, "rescued")
	r.want(r.find(base, "ab"), 2, "rescued")
	r.want(r.find(other, "ab"), 2, "theirs")
	r.record(base, "ab", found, true, "late")
	r.want(r.find(base, "ab"), 2, "rescued")
}

// A conversation goes on whatever its prompt has become. Its first request is known by its prompt, and by its additions.
func TestConversationsAreKnownByTheirAnswers(t *testing.T) {
	r := start(t)
	one, two, added := base, base, base
	two.Leading, added.Additions = "another prompt", "files"
	ids := map[string]string{}
	for name, q := range map[string]Request{"one": one, "two": two, "additions": added} {
		ids[name] = r.record(q, "a", r.find(q, "a"), false, name).Conversation
	}
	if ids["one"] == ids["two"] || ids["one"] == ids["additions"] || ids["two"] == ids["additions"] {
		t.Errorf("conversations that begin with the same message are %v", ids)
	}
	for name, q := range map[string]Request{"one": one, "two": two, "additions": added} {
		answered := "a" + name[:1]
		if d := r.record(q, answered, r.find(q, answered), false); texts(d) != name || d.Conversation != ids[name] {
			t.Errorf("%s goes on as %q, %s", name, texts(d), d.Conversation)
		}
		if d := r.find(two, answered+"b"); texts(d) != name || d.Conversation != ids[name] {
			t.Errorf("%s with another prompt, and without additions, goes on as %q, %s", name, texts(d), d.Conversation)
		}
	}
	many := Request{Scope: base.Scope, Dialect: base.Dialect, Leading: "a third prompt", Additions: "others"}
	if d := r.find(many, "am"); d.Items > 0 { // its first request is no longer among those that are kept
		t.Errorf("a conversation with another prompt and other additions goes on as %q", texts(d))
	}
	branch := r.record(one, "ax", r.find(one, "ax"), false)
	if branch.Parent != ids["one"] || branch.Conversation == ids["one"] {
		t.Errorf("another answer to the first request is in %s with parent %q", branch.Conversation, branch.Parent)
	}
}

// What is known of a record holds as long as the record is the same.
func TestKnownDecisionsAreThoseOfTheStore(t *testing.T) {
	r := start(t)
	q := base
	known := r.record(q, "uar", r.find(q, "u"), false, "one")
	find := func() Decision {
		d, err := r.Find(q.of("uara"), known)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	r.want(find(), 3, "one")
	if _, err := r.again().Restore(known.Key); err != nil || !find().Undone {
		t.Errorf("a decision that was taken back is found as it was: %v", err)
	}
	r.again().record(q, "uar", r.find(q, "uar"), true, "two")
	r.want(find(), 3, "two")
	if err := r.again().Forget([]string{known.Key}, nil); err != nil || find().Items > 0 {
		t.Errorf("a forgotten decision is found: %v", err)
	}
}

// What is forgotten is gone, and what others have stays.
func TestForgottenDecisionsAreGone(t *testing.T) {
	r := start(t)
	other := base
	other.Model = "another"
	d := r.record(base, "ab", Decision{}, false, "mine")
	stays := r.record(other, "ab", Decision{}, false, "theirs")
	if err := r.Forget([]string{d.Key}, []string{d.Edits[0].Name}); err != nil {
		t.Fatal(err)
	}
	r.want(r.find(base, "ab"), 2, "theirs")
	if err := r.Forget([]string{stays.Key}, []string{stays.Edits[0].Name}); err != nil {
		t.Fatal(err)
	}
	r.want(r.find(base, "ab"), 0, "")
}

// racing is a store before whose next write something happens.
type racing struct {
	store.Store
	before func()
}

func (s *racing) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	return s.Store.Swap(key, old, value, keep)
}

// What is decided for the same prefix while another decision is forgotten stays.
func TestForgettingSparesWhatIsDecidedMeanwhile(t *testing.T) {
	r := start(t)
	other := base
	other.Model = "another"
	d := r.record(base, "ab", Decision{}, false, "mine")
	slow := New(&racing{r.store, func() { r.record(other, "ab", Decision{}, false, "theirs") }}, time.Hour)
	if err := slow.Forget([]string{d.Key}, nil); err != nil {
		t.Fatal(err)
	}
	r.want(r.find(other, "ab"), 2, "theirs")
}

// forgetful is a store whose reads fail.
type forgetful struct{ store.Store }

func (forgetful) GetMany([]string) ([][]byte, error) { return nil, errors.New("the disk fails") }

// A failed store does not make a model that binds its thinking one that does not: that would cost another refusal.
func TestFailedStoreUnbindsNoThinking(t *testing.T) {
	r := start(t)
	r.LearnBinds("up", "m")
	if !r.Binds("up", "m") || r.Binds("up", "another") || !New(forgetful{r.store}, time.Hour).Binds("up", "m") {
		t.Error("it is forgotten which model binds its thinking")
	}
}

// What is used stays, and what is not used goes.
func TestTouchedDecisionsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.record(base, "a", Decision{}, false, "A")
		for k := range 5 {
			d := r.find(base, strings.Repeat("a", k+1))
			if now := time.Now().Round(0); !r.IsStale(d, now) {
				t.Errorf("after %d steps it is not due", k)
			} else if d.Touched = now; r.IsStale(d, now) {
				t.Error("it is due twice")
			}
			r.Touch(d)
			r.record(base, strings.Repeat("a", k+2), d, false)
			time.Sleep(40 * time.Minute)
		}
		r.want(r.again().find(base, "aaaaaa"), 6, "A")
		time.Sleep(time.Hour)
		r.want(r.find(base, "aaaaaa"), 0, "")
	})
}

// Where the client takes back the message behind the last answer, the conversation keeps its ID, also if the next request
// has another answer already.
func TestReminderStartsNoBranch(t *testing.T) {
	for _, items := range []string{"abc", "abcde"} {
		r := start(t)
		trunk := r.record(base, "ab", r.find(base, "ab"), false)
		q := base.of("abcu")
		q.End = 3
		d, err := r.Find(q, Decision{})
		d.Items = 4 // as a message of the user at the end is edited
		_, _, err2 := r.Record(q, d, false)
		next := r.record(base, items, r.find(base, items), false)
		if err != nil || err2 != nil || next.Conversation != trunk.Conversation {
			t.Errorf("%s becomes %s, %v, %v", trunk.Conversation, next.Conversation, err, err2)
		}
	}
}
