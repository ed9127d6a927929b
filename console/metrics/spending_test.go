package metrics

import (
	"testing"

	"epitome/event"
	"epitome/event/eventtest"
)

// paid is an exchange whose price is known.
func paid() event.Exchange {
	e := eventtest.Conversation()
	e.Model, e.Miss = "what the client calls it", event.MissPause
	e.Usage = event.Usage{Source: event.UsageProvider, Input: 1000, Read: 600, Write5m: 100, Write1h: 50, Output: 70}
	e.Bill = event.Bill{Price: "openai/gpt-5.2", Billed: 1_500_000, Measured: true, Raw: 4_000_000, Sent: 1_000_001, Ruled: true}
	return e
}

func TestMetricsCountWhatIsSpent(t *testing.T) {
	m := New(idle)
	m.RecordExchange(paid())
	m.RecordExchange(paid())
	unknown := paid()
	unknown.Bill = event.Bill{Unpriced: event.UnpricedModel, Beyond: true}
	m.RecordExchange(unknown)
	failed := paid()
	failed.Usage, failed.Miss, failed.Bill = event.Usage{}, event.NoMiss, event.Bill{Unpriced: event.UnpricedFailed}
	m.RecordExchange(failed)
	odd := paid()
	odd.Usage.Odd, odd.Bill, odd.Mode = true, event.Bill{Price: "openai/gpt-5.2", Unpriced: event.UnpricedOdd}, event.ModeOff
	m.RecordExchange(odd)
	observed := paid()
	observed.Mode, observed.Usage, observed.Miss = event.ModeObserve, event.Usage{}, event.NoMiss
	m.RecordExchange(observed)
	charged := paid() // by the provider's own word: what it would have cost as it came is not known
	charged.Usage, charged.Miss = event.Usage{}, event.NoMiss
	charged.Bill = event.Bill{Unpriced: event.UnpricedModel, Billed: 2_000_000, Measured: true}
	m.RecordExchange(charged)
	summary := eventtest.Summary(event.SummaryCompleted)
	summary.Own = event.Charge{Price: "local/small", Nano: 7_000_000_000}
	m.RecordSummary(summary)
	summary.Own, summary.Cost.InputTokens = event.Charge{}, 900
	m.RecordSummary(summary)

	got := samples(t, m)
	for series, want := range map[string]string{
		`epitome_usage_input_tokens_total{model="gpt-5.2",upstream="openai"}`:              "2000",
		`epitome_usage_input_tokens_total{model="other",upstream="openai"}`:                "1000",
		`epitome_usage_cache_read_tokens_total{model="gpt-5.2",upstream="openai"}`:         "1200",
		`epitome_usage_cache_write_tokens_total{model="gpt-5.2",upstream="openai"}`:        "300",
		`epitome_usage_output_tokens_total{model="gpt-5.2",upstream="openai"}`:             "140",
		`epitome_billed_dollars_total{model="gpt-5.2",upstream="openai"}`:                  "0.0045",
		`epitome_saved_dollars{model="gpt-5.2",upstream="openai"}`:                         "0.005999998",
		`epitome_own_dollars_total{model="small",upstream="local"}`:                        "7",
		`epitome_saved_dollars{model="small",upstream="local"}`:                            "-7",
		`epitome_billed_dollars_total{model="other",upstream="openai"}`:                    "0.002",
		`epitome_unpriced_exchanges_total{reason="model",upstream="openai"}`:               "2",
		`epitome_unpriced_exchanges_total{reason="odd",upstream="openai"}`:                 "1",
		`epitome_unpriced_exchanges_total{reason="failed",upstream="openai"}`:              "",
		`epitome_uncharged_summaries_total{upstream="local"}`:                              "1",
		`epitome_beyond_window_exchanges_total{upstream="openai"}`:                         "1",
		`epitome_cache_misses_total{cause="pause",upstream="openai"}`:                      "4",
		`epitome_window_used_ratio_count{upstream="openai"}`:                               "5",
		`epitome_window_used_ratio_sum{upstream="openai"}`:                                 "0.125",
		`epitome_billed_dollars_total{model="what the client calls it",upstream="openai"}`: "",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %q", series, got[series], want)
		}
	}
}

func TestModelsAreCalledWhatTheirPricesAre(t *testing.T) {
	f := func(price, want string) {
		t.Helper()
		if got := saleOf("up", price); got != (sale{"up", want}) {
			t.Errorf("a price %q is of %v, want %s", price, got, want)
		}
	}
	f("", "other")
	f("openai/gpt-5.2", "gpt-5.2")
	f("config/my/*", "my/*")
	f("free", "free")
}

func TestWhatNoEventTellsIsAmongTheMetrics(t *testing.T) {
	got := samples(t, watching())
	for name, want := range map[string]string{
		"epitome_events_dropped_total": "3", "epitome_spans_dropped_total": "4",
		"epitome_event_watchers": "2", "epitome_live_conversations": "5",
		"epitome_artifact_bytes": "70", "epitome_artifact_quota_bytes": "100", "epitome_store_bytes": "9",
		"epitome_shared_store_up": "1", "epitome_shared_store_questions_total": "30",
		"epitome_shared_store_unanswered_total": "2", "epitome_shared_store_refused_total": "1",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %s", name, got[name], want)
		}
	}
	found := false
	for series, value := range got {
		found = found || value == "1" && len(series) > 30 && series[:18] == "epitome_build_info"
	}
	if !found {
		t.Errorf("nothing says which build this is: %v", got)
	}
}

// watching has all the metrics that there are.
func watching() *Recorder {
	m := New(idle)
	count := func(n int64) func() int64 { return func() int64 { return n } }
	m.Watch(Watched{
		Version: "v1", Dropped: func() uint64 { return 3 },
		Spans:     func() uint64 { return 4 },
		Watchers:  func() int { return 2 },
		Live:      func() int { return 5 },
		Artifacts: count(70), Quota: count(100), Store: count(9),
		Kept:   func() bool { return true },
		Shared: func() Shared { return Shared{Up: true, Asked: 30, Unanswered: 2, Refused: 1} },
	})
	return m
}
