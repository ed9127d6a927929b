package metrics

import (
	"testing"

	"epitome/event"
	"epitome/event/eventtest"
)

func TestExchangesCountForTheirClients(t *testing.T) {
	m := New(idle)
	e := eventtest.Exchange()
	m.RecordExchange(e) // of nobody in particular
	e.Client, e.Usage = "alice", event.Usage{Source: event.UsageProvider, Input: 30, Output: 4}
	e.Bill = event.Bill{Measured: true, Billed: 1_500_000_000}
	m.RecordExchange(e)
	m.RecordExchange(e)
	e.Client, e.Status, e.Usage, e.Bill = "bob", 429, event.Usage{}, event.Bill{}
	m.RecordExchange(e)
	got := samples(t, m)
	for series, want := range map[string]string{
		`epitome_client_exchanges_total{client="alice",status="200"}`: "2",
		`epitome_client_exchanges_total{client="bob",status="429"}`:   "1",
		`epitome_client_tokens_total{client="alice",part="input"}`:    "60",
		`epitome_client_tokens_total{client="alice",part="output"}`:   "8",
		`epitome_client_tokens_total{client="bob",part="input"}`:      "0",
		`epitome_client_exchanges_total{client="",status="200"}`:      "",
		`epitome_client_billed_dollars_total{client="alice"}`:         "3",
		`epitome_client_billed_dollars_total{client="bob"}`:           "",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %q", series, got[series], want)
		}
	}
}
