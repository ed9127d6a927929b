package team

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/bench/report"
)

func TestEachTurnBeginsWithTheOneBefore(t *testing.T) {
	before := request(7, 1)
	for turn := 2; turn <= turnsOfTalk+1; turn++ {
		now := request(7, turn)
		if !json.Valid(now) || !bytes.HasPrefix(now, before[:len(before)-len("]}")]) {
			t.Fatalf("turn %d does not begin with turn %d", turn, turn-1)
		}
		before = now
	}
	if len(before) < 3*window {
		t.Errorf("%d bytes do not fill a window of %d tokens", len(before), window)
	}
	if bytes.Equal(request(7, 5), request(8, 5)) {
		t.Error("two conversations are one")
	}
}

// echo answers each PING on a listener of its own.
func echo(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for ask := make([]byte, len("PING\r\n")); ; {
					if _, err := io.ReadFull(c, ask); err != nil {
						return
					}
					if _, err := io.WriteString(c, "+PONG\r\n"); err != nil {
						return
					}
				}
			}()
		}
	}()
	return ln.Addr().String()
}

func TestRelayHoldsBackBothWaysAndEnds(t *testing.T) {
	const delay = 20 * time.Millisecond
	r, err := startRelay(echo(t), delay)
	if err != nil {
		t.Fatal(err)
	}
	took, err := roundTrips(r.addr(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if least := slices.Min(took); least < 2*delay {
		t.Errorf("an answer came within %s", least)
	}
	open, err := net.Dial("tcp", r.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()
	r.close() // which waits for all that it carries
	if _, err := roundTrips(r.addr(), 1); err == nil {
		t.Error("it goes on behind its end")
	}
}

func TestGoalsSayWhatWasMissed(t *testing.T) {
	core := 60.0
	r := &Report{Machine: report.Machine{CPUs: 2}, TripUS: 1000, TakeOver: Compared{Added: 5000},
		CPU: &Compared{Shared: 150, Own: 100}, Throughput: []Throughput{{Epitomes: 1}, {Epitomes: 4, StoreCore: &core}},
		Freezes: []Freeze{
			{TimeoutMS: 150, FirstMS: 299, ThenUS: 10, BackMS: 500},
			{TimeoutMS: 150, FirstMS: 320, MoreWaited: 1, ThenUS: 20, BackMS: 2500},
			{TimeoutMS: 150, FirstMS: 300, ThenUS: 9000, BackMS: 500},
		}}
	r.settle()
	want := []string{"5.00 ×", "1.50 ×", "60.00 %", "320.00 ms", "1.00 turns", "2500.00 ms"}
	missed := r.Missed()
	if len(missed) != len(want) {
		t.Fatalf("missed %q", missed)
	}
	for i, m := range missed {
		if !strings.Contains(m, want[i]) {
			t.Errorf("missed %q, want %s", m, want[i])
		}
	}
	if len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0], "2 processors") {
		t.Errorf("skipped %q", r.Skipped)
	}
	var out strings.Builder
	if err := r.Print(&out); err != nil || !strings.Contains(out.String(), "MISSED") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestWhatWasNotReadMissesNothing(t *testing.T) {
	r := &Report{Machine: report.Machine{CPUs: 8}, TripUS: 1000, TakeOver: Compared{Added: 4000},
		Throughput: []Throughput{{Epitomes: 4}}}
	r.settle()
	if missed := r.Missed(); len(missed) != 0 || len(r.Skipped) != 0 {
		t.Errorf("missed %q, skipped %q", missed, r.Skipped)
	}
}
