package metrics

import (
	"testing"

	"epitome/event"
)

func TestMetricsCountRescues(t *testing.T) {
	m := New(idle)
	e := event.Exchange{
		ID: "1", Upstream: "up", Mode: "on", Action: "rescue", Status: 200,
		Rescue: event.Rescue{
			Kind: "input", Tries: 2, Stages: "clear, compact", Rescued: true, TokensBefore: 9, TokensAfter: 5,
			WindowBefore: 8, WindowAfter: 6,
		},
	}
	e.Model, e.Conversation = "m", "c1"
	m.RecordExchange(e)
	e.Action, e.Status, e.Rescue = "none", 400, event.Rescue{Kind: "rate"}
	m.RecordExchange(e)
	e.Status, e.Rescue, e.Hint = 200, event.Rescue{}, event.Hint{Kind: event.Suspected, Tokens: 2048}
	e.TokensUsed, e.TokensAfter = 2000, event.Tokens{User: 9000}
	m.RecordExchange(e)
	got := samples(t, m)
	for series, want := range map[string]string{
		`epitome_rescues_total{outcome="rescued",upstream="up",verdict="input"}`: "1",
		`epitome_rescues_total{outcome="refused",upstream="up",verdict="rate"}`:  "1",
		`epitome_rescue_tries_total{upstream="up"}`:                              "2",
		`epitome_silent_cuts_total{upstream="up"}`:                               "1",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %q", series, got[series], want)
		}
	}
}
