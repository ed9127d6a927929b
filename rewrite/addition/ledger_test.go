package addition

import (
	"errors"
	"strings"
	"testing"
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
	return strings.Join(r.Asked, "+") + "=" + r.Index
}

func record(names, text string) *Record { return &Record{Asked: strings.Fields(names), Index: text} }

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
		if got := told(all.ForLater(strings.Fields(asks))); got != want {
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
}
