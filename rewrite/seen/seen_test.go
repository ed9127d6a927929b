package seen

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"epitome/rewrite/conversation"
)

type held struct{ Talk }

func noon() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

// What is remembered of a conversation goes when all that is recorded of it has gone.
func TestWhatIsRememberedLivesNoLongerThanFacts(t *testing.T) {
	f := func(keep time.Duration, want int) {
		t.Helper()
		c := New[*held](keep)
		for i := range 5 {
			body := []byte(strings.Repeat("conversation "+strconv.Itoa(i), 100))
			asked := noon().Add(time.Duration(i) * time.Hour)
			c.Put("", &held{Talk{Asked: asked}}, body, 100)
		}
		if c.recent.Len() != want || len(c.starts) != want {
			t.Errorf("kept for %v: %d are remembered, want %d", keep, c.recent.Len(), want)
		}
	}
	f(0, 5)
	f(24*time.Hour, 5)
	f(2*time.Hour, 3)
	f(time.Minute, 1)
}

// Equal requests at once leave what is known of them more than once.
func TestAmongEqualsTheLatestIsKnown(t *testing.T) {
	c, body := New[*held](0), []byte(strings.Repeat("a conversation ", 100))
	for i := range 3 {
		asked := noon().Add(time.Duration(i) * time.Minute)
		c.Put("", &held{Talk{Asked: asked}}, body, 100)
	}
	for i := 2; i >= 0; i-- {
		if p := c.Take("", body); p == nil || !p.Asked.Equal(noon().Add(time.Duration(i)*time.Minute)) {
			t.Errorf("got %+v, want that of minute %d", p, i)
		}
	}
}

func TestPlacesMoveAsTheirBytesDo(t *testing.T) {
	it := conversation.Item{}
	it.Start, it.End, it.Content.Start, it.Content.End = 10, 40, 15, 20
	it.Calls = []conversation.Call{{}}
	it.Calls[0].Start, it.Calls[0].End = 25, 39
	p := &Talk{Items: []conversation.Item{it}}
	p.moveItems([]move{{20, -3}, {30, 5}}, 100)
	got := p.Items[0]
	call := got.Calls[0].Span
	if got.Start != 110 || got.End != 142 || got.Content.End != 120 || call.Start != 122 || call.End != 141 {
		t.Errorf("moved to %+v", got)
	}
	if !got.Outer.Empty() || got.Outer.Start != 0 {
		t.Errorf("what is nowhere has moved to %+v", got.Outer)
	}
}
