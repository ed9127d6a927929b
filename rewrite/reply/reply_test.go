package reply

import (
	"errors"
	"io"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/prose"
	"epitome/unit"
)

func TestDocumentsAreReadAsAWholeOrNotAtAll(t *testing.T) {
	f := func(doc string, want error) {
		t.Helper()
		if v, err := Parse([]byte(doc)); !errors.Is(err, want) || want == nil && v.Raw != doc {
			t.Errorf("%q: got %s, %v, want %v", doc, v.Raw, err, want)
		}
	}
	f(`{"a":1}`, nil)
	f("", io.ErrUnexpectedEOF)
	f(" \n", io.ErrUnexpectedEOF)
	f(`{"a":`, ErrNoJSON)
	f(`{} {}`, ErrNoJSON)
}

func TestFailuresAreKeptUpToABound(t *testing.T) {
	said := make([]byte, mostError+1)
	kept := Failure(said)
	if said[0]++; len(kept) != mostError || kept[0] != 0 {
		t.Errorf("%d bytes are kept, and the first is %d", len(kept), kept[0])
	}
}

func TestNumbersOfTokensCanBeTrue(t *testing.T) {
	f := func(v string, want int, wantOK bool) {
		t.Helper()
		if n, ok := Tokens(gjson.Parse(v)); n != want || ok != wantOK {
			t.Errorf("%s: got %d, %v", v, n, ok)
		}
	}
	f("0", 0, true)
	f("12", 12, true)
	f("-1", 0, false)
	f("1e30", 0, false)
	f(`"12"`, 0, false)
	f("null", 0, false)
	if _, ok := Tokens(gjson.Result{Type: gjson.Number, Num: unit.MostTokens + 1}); ok {
		t.Error("more than there can be are taken")
	}
}

func TestRefusalsTellHowToAsk(t *testing.T) {
	most := pattern.Of(`at most ([0-9]+)`)
	f := func(refusal string, want int, wantOK, wantNamed bool) {
		t.Helper()
		form, ok, named := LowerCap(prose.Form{MaxOutput: 100}, []byte(refusal), most)
		if form.MaxOutput != want || ok != wantOK || named != wantNamed {
			t.Errorf("%s: got %d, %v, %v", refusal, form.MaxOutput, ok, named)
		}
	}
	f("at most 50", 50, true, true)
	f("at most 100", 100, false, true)
	f("at most 0", 100, false, true)
	f("at most 99999999999999999999", 100, false, true)
	f("too much", 100, false, false)
	g := func(refusal string, streams, want bool) {
		t.Helper()
		if got := WantsStream(prose.Form{Stream: streams}, []byte(refusal)); got != want {
			t.Errorf("%s: got %v", refusal, got)
		}
	}
	g("Streaming is required", false, true)
	g("Streaming is required", true, false)
	g("the upstream is busy", false, false)
}

func TestEventsAreReadByTheirNames(t *testing.T) {
	f := func(kind, data, wantName string, want Step) {
		t.Helper()
		asked := ""
		got := ReadStep([]byte(kind), []byte(data), func(name string, _ gjson.Result) Step {
			asked = name
			return SaidStep
		})
		if got != want || asked != wantName {
			t.Errorf("%s %s: got %d and the name %q", kind, data, got, asked)
		}
	}
	f("Error", `{"type":"a"}`, "", ErrorStep)
	f("a", " ", "", FrameStep)
	f("a", "[DONE]", "", SaidStep)
	f("a", `{"type":"b"}`, "b", SaidStep)
	f(" a ", `{"x":1}`, "a", SaidStep)
	for step, want := range [...][2]bool{
		FrameStep: {false, false}, SaidStep: {true, false}, EndStep: {true, true}, ErrorStep: {false, true},
	} {
		if got := [2]bool{Step(step).Begins(), Step(step).Fails()}; got != want {
			t.Errorf("step %d begins and fails: %v, want %v", step, got, want)
		}
	}
}
