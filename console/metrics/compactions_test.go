package metrics

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"epitome/event"
	"epitome/event/eventtest"
)

func TestMetricsCountCompactions(t *testing.T) {
	m := New(idle)
	for _, kind := range []string{event.CompactionStarted, event.CompactionStarted, event.CompactionCompleted,
		event.CompactionCompleted, event.CompactionFailed} {
		m.RecordCompaction(eventtest.Compaction(kind))
	}
	for _, kind := range []string{event.SummaryStarted, event.SummaryCompleted, event.SummaryFailed,
		event.SummaryFailed} {
		m.RecordSummary(eventtest.Summary(kind))
	}
	odd := eventtest.Summary(event.SummaryFailed) // a provider that counts below nothing ends no process
	odd.Upstream, odd.Cost = "odd", event.Cost{Requests: 1, InputTokens: -1, CachedTokens: -1, OutputTokens: -1}
	m.RecordSummary(odd)
	m.RecordWarning(eventtest.Warning("budget"))

	got := samples(t, m)
	for series, want := range map[string]string{
		`epitome_compactions_total{mode="hybrid",outcome="completed",reason="threshold",upstream="openai"}`: "2",
		`epitome_compactions_total{mode="hybrid",outcome="failed",reason="threshold",upstream="openai"}`:    "1",
		`epitome_own_requests_total{outcome="completed",upstream="local"}`:                                  "2",
		`epitome_own_requests_total{outcome="failed",upstream="local"}`:                                     "4",
		`epitome_own_input_tokens_total{upstream="local"}`:                                                  "2700",
		`epitome_own_cached_tokens_total{upstream="local"}`:                                                 "2100",
		`epitome_own_output_tokens_total{upstream="local"}`:                                                 "240",
		`epitome_own_input_tokens_total{upstream="odd"}`:                                                    "0",
		`epitome_context_window_warnings_total{reason="budget",upstream="openai"}`:                          "1",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %s", series, got[series], want)
		}
	}
}

func TestNoLabelIsOfACompaction(t *testing.T) {
	m := New(idle)
	record := func(i int) {
		c, s, w := eventtest.Compaction(event.CompactionCompleted), eventtest.Summary(event.SummaryFailed),
			eventtest.Warning("threshold")
		c.Conversation, c.Model, c.Why, c.Detail, c.Files = fmt.Sprint("c", i), fmt.Sprint("m", i), fmt.Sprint("w",
			i), fmt.Sprint("d", i), i
		s.Conversation, s.Model, s.Reason, s.Detail, s.Way = c.Conversation, c.Model, c.Why, c.Detail, fmt.Sprint("way",
			i)
		w.Conversation, w.Model, w.Window = c.Conversation, c.Model, i
		m.RecordCompaction(c)
		m.RecordSummary(s)
		m.RecordWarning(w)
	}
	record(0)
	before := slices.Sorted(maps.Keys(samples(t, m)))
	for i := range 20 {
		record(i)
	}
	if keys := slices.Sorted(maps.Keys(samples(t, m))); !slices.Equal(keys, before) {
		t.Errorf("the series depend on what conversations say: were %q, are %q", before, keys)
	}
}
