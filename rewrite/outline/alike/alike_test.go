package alike

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestARecordThatDiffersIsTold(t *testing.T) {
	f := func(what, form, odd string, room int, want ...string) {
		t.Helper()
		var b strings.Builder
		for i := range 60 {
			if i == 30 {
				b.WriteString(odd)
				continue
			}
			b.WriteString(strings.ReplaceAll(form, "%", fmt.Sprint(100+i)))
		}
		if got := Differing(b.String(), room); !slices.Equal(got, want) {
			t.Errorf("%s: %q differs, want %q", what, got, want)
		}
	}
	item := "- id: %\n  title: part % of it\n  state: open\n"
	f("a state", item, "- id: 130\n  title: part 130 of it\n  state: held\n", 240, "- id: 130", "  state: held")
	f("no room", item, "- id: 130\n  title: part 130 of it\n  state: held\n", 20)
	f("none", item, "- id: 130\n  title: part 130 of it\n  state: open\n", 240)
	event := "Event %: a talk\n  When: 9:00\n  Who: Ada (accepted), Tom (accepted)\n\n"
	f("an answer", event, "Event 130: a talk\n  When: 9:00\n  Who: Ada (accepted), Tom (declined)\n\n", 240,
		"Event 130: a talk", "  Who: Ada (accepted), Tom (declined)")
	host := "Name  : host-%\r\nPort  : 5432\r\nAnswer: True\r\n\r\n"
	f("behind returns", host, "Name  : host-130\r\nPort  : 5432\r\nAnswer: False\r\n\r\n", 240, "Name  : host-130", "Answer: False")
	f("a number", "## PAY-%\nState: open\nUsers: 7 of %\n", "## PAY-130\nState: open\nUsers: 18233 of 130\n", 240,
		"## PAY-130", "Users: 18233 of 130")
	f("what stands behind it", item, "- id: 130\n  title: part 130 of it\n  state: held \t\n", 240, "- id: 130", "  state: held \t")
	f("a screen", item, "- id: 130\n  title: part 130 of it\n  state: \x1b[31mheld\x1b[0m\n", 240)
	f("lines of one form", "paid claim % in 7 ms\n", "gave up at last\n", 240)
}

func TestOfVeryManyLinesNoneIsTold(t *testing.T) {
	text := strings.Repeat("- id: 7\n  title: all of it\n  state: open\n", mostLines/3) + "- id: 8\n  title: all of it\n  state: held\n"
	if got := Differing(text, 500); len(got) > 0 {
		t.Errorf("%q differs", got)
	}
	if got := Differing(text[len(text)/2:], 500); len(got) == 0 {
		t.Error("of half of them, none differs")
	}
}

func TestWhereManyRecordsDifferNoneIsTold(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		state := "open"
		if i%33 == 0 {
			state = "held" + string(rune('a'+i/33))
		}
		fmt.Fprintf(&b, "- id: %d\n  title: part %d of it\n  state: %s\n", i, i, state)
	}
	if got := Differing(b.String(), 500); len(got) > 0 {
		t.Errorf("%q differs", got)
	}
}
