package addition

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// book is a ledger of one key.
type book struct {
	value   string
	version uint64
	faster  func(b *book) // what somebody else does before a write; nil: nobody does anything
	fail    error
}

func (b *book) Get(string) ([]byte, uint64, bool) { return []byte(b.value), b.version, b.version != 0 }

func (b *book) Touch(string) bool { return false }

func (b *book) Add(key string, value []byte) ([]byte, uint64, error) {
	standing, version, _, err := b.Swap(key, 0, value)
	return standing, version, err
}

func (b *book) Swap(_ string, old uint64, value []byte) ([]byte, uint64, bool, error) {
	if f := b.faster; f != nil {
		b.faster = nil
		f(b)
	}
	if b.fail != nil {
		return nil, 0, false, b.fail
	}
	if b.version != old {
		return []byte(b.value), b.version, false, nil
	}
	b.write(value)
	return value, b.version, true, nil
}

func (b *book) write(value []byte) { b.value, b.version = string(value), b.version+1 }

// told is a record as "names=text".
func told(r *Record) string {
	if r == nil {
		return "none"
	}
	asked := strings.Join(r.Asked, "+")
	if r.Project != "" {
		asked += "@" + r.Project
	}
	return asked + "=" + r.Text()
}

// wish asks for names, of which one behind an @ is a project.
func wish(names string) (w Wish) {
	names, w.Project, _ = strings.Cut(names, "@")
	w.Asked = strings.Fields(names)
	return w
}

func record(names, text string) *Record { return &Record{Wish: wish(names), Index: text} }

func TestWhatStandsFirstHolds(t *testing.T) {
	f := func(b *book, r *Record, begun bool, want, all string) {
		t.Helper()
		got, err := Settle(b, "key", r, begun)
		if err != nil || told(got) != want {
			t.Errorf("got %s, %v, want %s", told(got), err, want)
		}
		list, _ := At(b, "key")
		var stand []string
		for i := range list {
			stand = append(stand, told(&list[i]))
		}
		if got := strings.Join(stand, " "); got != all {
			t.Errorf("there stands %q, want %q", got, all)
		}
	}
	b := &book{}
	f(b, record("docs", "one"), false, "docs=one", "docs=one")
	f(b, record("docs", "two"), false, "docs=one", "docs=one")
	f(b, record("rules", "three"), true, "rules=three", "docs=one rules=three")
	f(b, record("", ""), true, "=", "docs=one rules=three =")
	f(&book{}, record("docs", "one"), true, "docs=one", "= docs=one") // an equal one has begun without
	b = &book{}
	f(b, record("docs@shop", "one"), false, "docs@shop=one", "docs@shop=one")
	f(b, record("docs@other", "two"), true, "docs@other=two", "docs@shop=one docs@other=two")
	f(b, record("@shop", "three"), true, "@shop=three", "docs@shop=one docs@other=two @shop=three")
	f(b, record("@shop", "four"), true, "@shop=three", "docs@shop=one docs@other=two @shop=three")
	f(&book{}, record("@shop", "one"), true, "@shop=one", "= @shop=one") // an equal one has begun without
	race := func(r *Record) *book {
		return &book{faster: func(b *book) { b.write(Records{*r}.Encode()) }}
	}
	f(race(record("docs", "theirs")), record("docs", "mine"), false, "docs=theirs", "docs=theirs")
	f(race(record("rules", "theirs")), record("docs", "mine"), false, "docs=mine", "rules=theirs docs=mine")
}

func TestWhatCannotBeRecordedIsAnError(t *testing.T) {
	f := func(b *book) {
		t.Helper()
		was := b.value
		if got, err := Settle(b, "key", record("docs", "one"), false); err == nil || b.value != was {
			t.Errorf("got %s, %v, and %s became %s", told(got), err, was, b.value)
		}
	}
	f(&book{fail: errors.New("the disk is full")})
	f(&book{value: `{"v":2}`, version: 1})
	f(&book{value: "nothing", version: 1})
	var many Records
	for i := range mostRecords {
		many = append(many, *record(strings.Repeat("a", i+1), "x"))
	}
	f(&book{value: string(many.Encode()), version: 1})
}

func TestLaterRequestsFindWhatTheyBeganWith(t *testing.T) {
	f := func(want, asks string, list ...*Record) {
		t.Helper()
		var all Records
		for _, r := range list {
			all = append(all, *r)
		}
		if got := told(all.ForLater(wish(asks))); got != want {
			t.Errorf("who asks for %q of %d records gets %s, want %s", asks, len(all), got, want)
		}
	}
	docs, rules, none := record("docs", "one"), record("rules", "two"), record("", "")
	f("none", "docs")
	f("docs=one", "docs", none, docs, rules)
	f("rules=two", "rules", none, docs, rules)
	f("=", "", none, docs, rules)
	f("docs=one", "", docs, rules)
	f("docs=one", "other", none, docs, rules)
	f("none", "other", none)
	shop, both := record("@shop", "three"), record("docs@shop", "four")
	f("@shop=three", "@shop", none, docs, shop, both)
	f("docs@shop=four", "docs@shop", none, docs, shop, both)
	f("docs=one", "@other", none, docs, shop)
	f("=", "@other", none, record("@shop", ""))
	f("=", "@other", none, shop, both)
	f("@shop=three", "@other", shop)
	var full []*Record
	for i := range mostRecords {
		full = append(full, record("@p"+strings.Repeat("a", i), "x"))
	}
	f("none", "@other", full...)
	f("@paaa=x", "@paaa", full...)
	f("@p=x", "", full...)
	f("docs=one", "@other", none, record("@shop", ""), docs)
}

// Of two that renew a stale record at the same time, one decides for both.
func TestOneRenewsForAll(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	at := func(text string, then time.Time) *Record {
		r := record("@shop", text)
		r.At = then
		return r
	}
	old := Records{*record("@bank", "other"), *at("old", now.Add(-25*time.Hour))}
	f := func(want string, faster func(b *book)) {
		t.Helper()
		b := &book{value: string(old.Encode()), version: 1, faster: faster}
		got, err := Renew(b, "key", at("mine", now), now)
		list, _ := At(b, "key")
		if err != nil || told(got) != want || told(list.In("shop")) != want || told(list.In("bank")) != "@bank=other" {
			t.Errorf("got %s, %v, and there stands %+v, want %s", told(got), err, list, want)
		}
	}
	f("@shop=mine", nil)
	f("@shop=theirs", func(b *book) { b.write(Records{old[0], *at("theirs", now)}.Encode()) })
	f("@shop=mine", func(b *book) { b.write(old.Encode()) })
	f("@shop=mine", func(b *book) { b.write(old[:1].Encode()) })
}

// Conversations of two projects that go on in the same words are each bound to what was theirs.
func TestEachProjectIsBoundToItsOwn(t *testing.T) {
	b := &book{}
	f := func(want string, r *Record) {
		t.Helper()
		if got, err := Bind(b, "key", r); err != nil || told(got) != want {
			t.Errorf("got %s, %v, want %s", told(got), err, want)
		}
	}
	f("@shop=one", record("@shop", "one"))
	f("@bank=two", record("@bank", "two"))
	f("@shop=one", record("@shop", "three"))
	f("@bank=two", record("@bank", "three"))
	f("=", record("", ""))
	b.faster = func(b *book) { b.write(Records{*record("@inn", "theirs")}.Encode()) }
	f("@inn=theirs", record("@inn", "mine"))
	list, version := At(b, "key")
	for len(list) < mostRecords {
		list = append(list, *record("@p"+strings.Repeat("a", len(list)), "x"))
	}
	b.write(list.Encode())
	f("@new=four", record("@new", "four"))
	if _, now := At(b, "key"); now != version+1 {
		t.Error("more is recorded than may be")
	}
}

func TestRecordsWithoutAProjectAreWrittenAsEver(t *testing.T) {
	f := func(want string, r Record) {
		t.Helper()
		got := Records{r}.Encode()
		if string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if list, err := Decode(got); err != nil || len(list) != 1 || string(list.Encode()) != want {
			t.Errorf("%s is read as %+v, %v", want, list, err)
		}
	}
	f(`{"v":1,"list":[{"asked":["docs"],"text":"one","why":"so"}]}`, Record{Wish: wish("docs"), Index: "one", Why: "so"})
	f(`{"v":1,"list":[{"asked":[],"project":"shop","memory":"one","at":"2026-11-20T12:00:00Z"}]}`,
		Record{Wish: wish("@shop"), Memory: "one", At: noon()})
}

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func TestOnlyAMemoryGetsOld(t *testing.T) {
	f := func(want bool, names string, at, now time.Time) {
		t.Helper()
		r := record(names, "one")
		if r.At = at; r.IsStale(now) != want {
			t.Errorf("what %q was given at %v is stale at %v: %t", names, at, now, !want)
		}
	}
	f(false, "@shop", noon(), noon().Add(renewAfter))
	f(true, "@shop", noon(), noon().Add(renewAfter+1))
	f(false, "docs", noon(), noon().Add(renewAfter+1))
	f(false, "@shop", time.Time{}, noon())
	f(false, "@shop", noon(), time.Time{})
	f(false, "@shop", noon(), noon().Add(-renewAfter-1))
}

func TestTheIndexStandsBeforeTheMemory(t *testing.T) {
	f := func(want, index, memory string) {
		t.Helper()
		if got := (&Record{Index: index, Memory: memory}).Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("", "", "")
	f("i", "i", "")
	f("m", "", "m")
	f("i\n\nm", "i", "m")
}
