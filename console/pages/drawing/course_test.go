package drawing

import (
	"fmt"
	"reflect"
	"strconv"
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

// A window that is learned at one turn was another one until then: its line does not lead there through turns that had
// neither.
func TestALineChangesWhereItsLimitDoes(t *testing.T) {
	var turns []event.Exchange
	for i := range 26 {
		e := event.Exchange{Turn: i + 1}
		e.Window, e.TokensBefore.User, e.TokensAfter.User = 272_000, 3000*(i+1), 900*(i+1)
		if i >= 11 {
			e.Window = 24_000
		}
		turns = append(turns, e)
	}
	line := NewCourse(turns).lines[0]
	points := strings.Fields(line.points)
	y := func(at int) string { _, y, _ := strings.Cut(points[at], ","); return y }
	if len(points) != 4 || y(0) != y(1) || y(2) != y(3) || y(1) == y(2) {
		t.Errorf("%s is drawn through %s", line.name, line.points)
	}
}

// Of a long conversation, what the cache had is drawn without gaps: a gap says that it had nothing.
func TestTheStripOfTheCacheHasNoGaps(t *testing.T) {
	f := func(count int) {
		t.Helper()
		var turns []event.Exchange
		for i := range count {
			e := event.Exchange{Turn: i + 1}
			e.TokensBefore.User, e.TokensAfter.User = 100*(i+1), 100*(i+1)
			e.Usage = event.Usage{Source: event.UsageProvider, Input: 100 * (i + 1), Read: 90*(i+1) + i%3}
			turns = append(turns, e)
		}
		c := NewCourse(turns)
		pitch, err := strconv.ParseFloat(c.pitch, 64)
		if err != nil {
			t.Fatal(err)
		}
		last := float64(courseLeft)
		for i, stroke := range strings.Split(c.hits, "M")[1:] {
			var x float64
			if _, err := fmt.Sscanf(stroke, "%f", &x); err != nil {
				t.Fatal(err)
			}
			if i > 0 && x-last > 1.2*pitch {
				t.Fatalf("of %d turns, stroke %d stands %.1f behind the one before, and is %.1f wide", count, i+1, x-last, pitch)
			}
			last = x
		}
		if last < courseLeft+courseWidth-2*pitch {
			t.Errorf("of %d turns, the last stroke stands at %.1f", count, last)
		}
	}
	f(40)
	f(160)
	f(161)
	f(260)
	f(1999)
}
