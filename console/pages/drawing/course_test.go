package drawing

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"epitome/event"
)

// The parts of the chart are together what the requests have, whatever it is spent on.
func TestChartHasEveryPart(t *testing.T) {
	for i := range reflect.TypeFor[event.Tokens]().NumField() {
		var came, sent event.Tokens
		reflect.ValueOf(&came).Elem().Field(i).SetInt(20)
		reflect.ValueOf(&sent).Elem().Field(i).SetInt(10)
		before, after := 0, 0
		turn := event.Exchange{Turn: 1, Shaping: event.Shaping{TokensBefore: came, TokensAfter: sent}}
		for _, p := range NewCourse([]event.Exchange{turn, turn}).Parts {
			before, after = before+p.Before, after+p.After
		}
		if before != 2*came.Total() || after != 2*sent.Total() {
			t.Errorf("%+v and %+v are drawn as %d and %d", came, sent, before, after)
		}
	}
}

// Each label stands at the height of its own line, and none on another.
func TestLabelsOfLinesDoNotMeet(t *testing.T) {
	f := func(window, compact, clear int) {
		t.Helper()
		var turns []event.Exchange
		for i := range 100 {
			e := event.Exchange{Turn: i + 1}
			e.Window, e.CompactLine, e.ClearLine = window, int32(compact), int32(clear)
			e.TokensBefore.User, e.TokensAfter.User = 11_000+2_100*i, 11_000+1_000*i
			turns = append(turns, e)
		}
		lines := NewCourse(turns).lines
		for i, l := range lines {
			if !strings.Contains(l.points, fmt.Sprintf(",%.1f", l.label.line)) {
				t.Errorf("%s is not at its line %s", l.name, l.points)
			}
			for _, other := range lines[:i] {
				if l.label.x == other.label.x && l.label.line-other.label.line < labelHeight {
					t.Errorf("%s stands on %s", l.name, other.name)
				}
			}
		}
	}
	f(128_000, 107_000, 95_000)
	f(56_000, 50_000, 45_000)
	f(50_000, 50_000, 50_000)
}
