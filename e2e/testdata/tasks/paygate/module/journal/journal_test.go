package journal

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestJournal(t *testing.T) {
	var text bytes.Buffer
	j := New(&text)
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, err := range []error{j.Add(at, "A", Open, ""), j.Add(at, "B", Refused, ""), j.Add(at, "A", Booked, "ch_1")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	states, err := Read(&text)
	if err != nil || states["A"] != Booked || states["B"] != Refused {
		t.Errorf("%v, %v", states, err)
	}
	if _, err := Read(strings.NewReader("A open\n")); err == nil {
		t.Error("no error for a broken line")
	}
}
