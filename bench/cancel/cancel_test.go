package cancel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/bench/lineup"
	"epitome/bench/lineup/lineuptest"
	"epitome/bench/wire"
)

func TestCancelGoals(t *testing.T) {
	r := &Report{Subject: "epitome", Rows: []Row{
		{Contender: "epitome", Phase: Waiting, Leave: byFIN, Tries: 100, P99MS: new(50.0)},
		{Contender: "epitome", Phase: Idle, Leave: byRST, Tries: 100, P99MS: new(51.0)},
		{Contender: "epitome", Phase: Sending, Leave: byFIN, Tries: 3, Unnoticed: 3},
		{Contender: lineup.BareName, Phase: Waiting, Leave: byFIN, Tries: 3, Unnoticed: 3},
	}}
	r.settle()
	want := []string{"idle, RST, p99: 51.00 ms, goal ≤ 50", "sending, FIN, unnoticed: 3.00 tries, goal ≤ 0"}
	if got := r.Missed(); !slices.Equal(got, want) {
		t.Errorf("missed %q, want %q", got, want)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestCancelTellsWhoNotices(t *testing.T) {
	report, err := Run(t.Context(), Options{Lineup: lineuptest.BareAsSubject(t), Quick: true, Tries: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Rows) != 4*2*3 {
		t.Fatalf("%d rows, want 4 phases × 2 ways × 3 contenders", len(report.Rows))
	}
	for _, row := range report.Rows {
		// The bare baseline watches no client: it cannot notice while it waits for the upstream.
		blind := row.Contender != lineup.DirectName && (row.Phase == Waiting || row.Phase == Idle)
		if noticed := row.Unnoticed < row.Tries; noticed && blind {
			t.Errorf("%s, %s, %s: %d of %d tries unnoticed", row.Contender, row.Phase, row.Leave, row.Unnoticed,
				row.Tries)
		}
	}
	lineuptest.WantEmptyTemp(t)
}

func TestTryFailsWhenTheProxyChangedTheBody(t *testing.T) {
	w, err := newWitness(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	f := func(phase Phase, made int, want string) {
		t.Helper()
		exchange := w.expect(phase)
		defer exchange.end()
		conn, err := wire.Dial(w.addr, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err = fmt.Fprintf(conn.Conn, "POST %s HTTP/1.1\r\nHost: a\r\n%s: %d\r\nContent-Length: 2\r\n\r\n{}",
			exchange.target(), wire.MadeHeader, made); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(exchange.reach(conn)); !strings.HasPrefix(got, want) {
			t.Errorf("%s, a body of 2 bytes that was made of %d: error %q, want %q", phase, made, got, want)
		}
	}
	for _, phase := range []Phase{Waiting, Sending} {
		f(phase, 2, "<nil>")
		f(phase, 3, "the proxy changed the request's body")
	}
}
