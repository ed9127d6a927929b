package record

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatStandsBehindTheLastRecordIsOfNone(t *testing.T) {
	all := linesOf(twenty("Name:   cart-%\nNode:   n-1\nStatus: Running\n\n") + "error: the deadline is over\n")
	r, ok := Of(all)
	if !ok || r.Of(len(all)-1) >= 0 || r.Of(len(all)-3) != 19 {
		t.Errorf("%v, %+v", ok, r)
	}
}

// linesOf are the lines of a text, each with the spaces before it as its depth.
func linesOf(text string) (list []Line) {
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		body := strings.TrimLeft(l, " ")
		list = append(list, Line{Body: body, Indent: len(l) - len(body)})
	}
	return list
}

// twenty are twenty records of a form that takes a number.
func twenty(form string) string {
	var b strings.Builder
	for i := range 20 {
		b.WriteString(strings.ReplaceAll(form, "%", fmt.Sprint(100+i)))
	}
	return b.String()
}

func TestRecordsAreFoundByWhatTheyBeginWith(t *testing.T) {
	f := func(what, text string, lines int, name string) {
		t.Helper()
		all := linesOf(text)
		r, ok := Of(all)
		if !ok || len(r.Starts) != 20 {
			t.Errorf("%s: %v, %+v", what, ok, r)
			return
		}
		if got := r.Len(7); got != lines {
			t.Errorf("%s: a record has %d lines, want %d", what, got, lines)
		}
		last := r.Starts[8] - 1
		if at := r.Name(last); r.Of(last) != 7 || at < 0 || all[at].Body != name {
			t.Errorf("%s: line %d is of record %d with the name in line %d", what, last, r.Of(last), at)
		}
	}
	f("fields", twenty("Name:   cart-%\nNode:   n-1\nStatus: Running\n\n"), 4, "Name:   cart-107")
	f("a list", "items:\n"+twenty("- id: %\n  title: a\n  state: open\n"), 3, "- id: 107")
	f("rules", twenty("-[ RECORD % ]---+-----\nid | %\nstate | open\namount | 7\n"), 4, "id | 107")
	f("rules alone", twenty("*** %. row ***\nstate: open\namount: 7\n"), 3, "*** 107. row ***")
	f("headings", twenty("## PAY-%\n\nState: open\nUsers: %\n\n"), 5, "## PAY-107")
	f("names below", twenty("begin\n  kind: Pod\n  name: cart-%\n  state: open\nend\n"), 5, "name: cart-107")
	f("a name behind others", twenty("kind: Pod\nid: 9%\nzone: a\nhost name: h-%\nstate: open\n"), 5, "host name: h-107")
	f("deep ones", "page\n  main\n"+twenty("    - row %:\n      - cell a\n      - cell b\n"), 3, "- row 107:")
}

func TestOtherTextsHaveNoRecords(t *testing.T) {
	f := func(what, text string) {
		t.Helper()
		if r, ok := Of(linesOf(text)); ok {
			t.Errorf("%s: %+v", what, r)
		}
	}
	f("nothing", "")
	f("lines of one form", twenty("paid claim % in 7 ms\n"))
	f("pairs of lines", twenty("begin %\nend %\n"))
	f("few", strings.Repeat("Name: a\nNode: n\nState: up\n", 5))
	f("a part of a text", twenty("Name: %\nNode: n\nState: up\n")+strings.Repeat("and so it\nwent on\nand on\nfor long\n", 40))
	f("what is less deep", twenty("  Name: %\n  Node: n\n  State: up\n")+"end\n"+twenty("  Name: %\n  Node: n\n  State: up\n"))
	names := strings.Builder{} // each comes often, and in any order
	for i := range 700 {
		fmt.Fprintf(&names, "shop.%c_%d OK\n", 'a'+i*i*7919%31%20, i)
	}
	f("names", names.String())
	prose := strings.Builder{}
	for i := range 100 {
		fmt.Fprintf(&prose, "%c%c word of many\n", 'a'+i%26, 'a'+i*7%26)
	}
	f("prose", prose.String())
}

func TestALineOfAnotherThingIsOfNoRecord(t *testing.T) {
	text := twenty("  ~ resource %\n      a\n      b\n") + "  # another one goes\n  - resource\n      a\n      b\n" +
		twenty("  ~ resource %\n      a\n      b\n")
	all := linesOf(text)
	r, ok := Of(all)
	if !ok {
		t.Fatal("there are none")
	}
	for i := 60; i < 64; i++ {
		if r.Of(i) >= 0 || r.Name(i) >= 0 || r.Key(i) != 0 {
			t.Errorf("line %d, %q, is of record %d", i, all[i].Body, r.Of(i))
		}
	}
	if r.Of(59) != 19 || r.Of(64) != 20 {
		t.Errorf("the lines beside it are of records %d and %d", r.Of(59), r.Of(64))
	}
}
