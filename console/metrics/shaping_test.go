package metrics

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"epitome/event/eventtest"
)

func TestMetricsCountWhatIsDoneToConversations(t *testing.T) {
	m := New(idle)
	m.RecordExchange(eventtest.Conversation())
	m.RecordExchange(eventtest.Conversation())
	seen := eventtest.Conversation()
	seen.Mode = "observe"
	m.RecordExchange(seen)
	failed := eventtest.Exchange()
	failed.Action, failed.ShapeTime, failed.Inner = "bypass", time.Second, "what failed"
	m.RecordExchange(failed)
	m.RecordExchange(eventtest.Exchange())

	got := samples(t, m)
	for series, want := range map[string]string{
		`epitome_exchanges_total{action="clear",fault="",status="200",upstream="openai"}`: "2",
		`epitome_exchanges_total{action="none",fault="",status="200",upstream="openai"}`:  "2",
		// observed ones were sent as they came
		`epitome_exchanges_total{action="bypass",fault="",status="200",upstream="openai"}`: "1",
		`epitome_received_tokens_total{part="results",upstream="openai"}`:                  "600",
		`epitome_sent_tokens_total{part="results",upstream="openai"}`:                      "8",
		`epitome_sent_tokens_total{part="user",upstream="openai"}`:                         "40",
		`epitome_received_tokens_total{part="system",upstream="openai"}`:                   "2",
		`epitome_observed_shaped_tokens_total{part="results",upstream="openai"}`:           "4",
		`epitome_changes_total{rung="clear",upstream="openai"}`:                            "4",
		`epitome_changes_total{rung="offload",upstream="openai"}`:                          "2",
		`epitome_observed_changes_total{rung="clear",upstream="openai"}`:                   "2",
		`epitome_bypasses_total{upstream="openai"}`:                                        "1",
		`epitome_shape_seconds_count{upstream="openai"}`:                                   "4",
		`epitome_shape_seconds_bucket{upstream="openai",le="0.002"}`:                       "3",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %s", series, got[series], want)
		}
	}
}

func TestNoLabelIsOfAConversation(t *testing.T) {
	m := New(idle)
	m.RecordExchange(eventtest.Conversation())
	before := slices.Sorted(maps.Keys(samples(t, m)))
	for i := range 20 {
		e := eventtest.Conversation()
		e.Model, e.Conversation, e.Reason, e.Inner = fmt.Sprintf("m%d", i), fmt.Sprintf("c%d", i), fmt.Sprintf("r%d",
			i), fmt.Sprintf("i%d", i)
		e.Window = i
		m.RecordExchange(e)
		e.Mode = fmt.Sprintf("mode-%d", i)
		m.RecordExchange(e)
	}
	if keys := slices.Sorted(maps.Keys(samples(t, m))); !slices.Equal(keys, before) {
		t.Errorf("the series depend on what conversations say: were %q, are %q", before, keys)
	}
}
