package burst

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"epitome/bench/backend"
	"epitome/bench/lineup/lineuptest"
)

func TestGoalsAreAboutTheSubject(t *testing.T) {
	r := &Report{Subject: "epitome", Rows: []Row{
		{Contender: "epitome", InFlightMB: 64, IdleMB: 30, PeakMB: 30 + 5*64, AfterMB: 131},
		{Contender: "other", InFlightMB: 1, IdleMB: 300, PeakMB: 3000, AfterMB: 3000},
	}}
	r.settle()
	want := []string{"peak beyond idle against bytes in flight: 5.00 ×, goal ≤ 4", "kept after the rest, beyond idle: 101.00 MB, goal ≤ 100"}
	if got := r.Missed(); !slices.Equal(got, want) {
		t.Errorf("missed %q, want %q", got, want)
	}
}

func TestEveryBodyOfABurstPassesAndIsCounted(t *testing.T) {
	r, err := Run(t.Context(), Options{Lineup: lineuptest.BareAsSubject(t), Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	row := r.Rows[0]
	if row.Bodies != 4 || row.Refused != 0 || row.IdleMB <= 0 || row.PeakMB < row.IdleMB || row.AfterMB <= 0 {
		t.Errorf("row is %+v", row)
	}
	if least, most := 64.0/1024, 128.0/1024; row.InFlightMB < least || row.InFlightMB > most {
		t.Errorf("%g MB in flight, want one or two bodies of 64 KB", row.InFlightMB)
	}
	var out strings.Builder
	if err := r.Print(&out); err != nil || !strings.Contains(out.String(), row.Contender) {
		t.Errorf("%v, printed %q", err, out.String())
	}
	lineuptest.WantEmptyTemp(t)
}

func TestBodiesAreOfOneSizeAndUnlike(t *testing.T) {
	payload, err := backend.ChatBody(4096)
	if err != nil {
		t.Fatal(err)
	}
	one, two := numbered(payload, 1), numbered(payload, 48)
	if len(one) != len(payload) || len(two) != len(payload) || bytes.Equal(one, two) {
		t.Errorf("bodies of %d and %d bytes, made of %d", len(one), len(two), len(payload))
	}
}
