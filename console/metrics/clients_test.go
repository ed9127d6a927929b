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
	m.RecordExchange(e)
	m.RecordExchange(e)
	e.Client, e.Status, e.Usage = "bob", 429, event.Usage{}
	m.RecordExchange(e)
	got := samples(t, m)
	for series, want := range map[string]string{
		`epitome_client_exchanges_total{client="alice",status="200"}`: "2",
		`epitome_client_exchanges_total{client="bob",status="429"}`:   "1",
		`epitome_client_tokens_total{client="alice",part="input"}`:    "60",
		`epitome_client_tokens_total{client="alice",part="output"}`:   "8",
		`epitome_client_tokens_total{client="bob",part="input"}`:      "0",
		`epitome_client_exchanges_total{client="",status="200"}`:      "",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %q", series, got[series], want)
		}
	}
}
