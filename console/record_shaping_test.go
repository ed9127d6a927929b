package console

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"epitome/event"
)

// shaped is the story of a conversation of which something was taken out.
func shaped() event.Exchange {
	e := story()
	e.Action = "clear"
	e.Shaping = event.Shaping{
		Model: "m", Conversation: "c1", Window: 1000, TokensBefore: event.Tokens{System: 1, User: 20, Results: 300},
		TokensAfter: event.Tokens{System: 1, User: 20, Results: 4}, Decided: true, Broke: true, Offloaded: 1, Cleared: 2,
		Reason: "why not more", ShapeTime: 1500 * time.Microsecond, Inner: "what failed",
	}
	return e
}

func TestMetricsCountWhatIsDoneToConversations(t *testing.T) {
	o := New(Config{}, listening("127.0.0.1:7070"))
	o.Record(shaped())
	o.Record(shaped())
	seen := shaped()
	seen.Mode = "observe"
	o.Record(seen)
	failed := story()
	failed.Action, failed.ShapeTime, failed.Inner = "bypass", time.Second, "what failed"
	o.Record(failed)
	o.Record(story())

	got := samples(t, o)
	for series, want := range map[string]string{
		`epitome_exchanges_total{action="clear",fault="",status="200",upstream="openai"}`:                 "2",
		`epitome_exchanges_total{action="none",fault="",status="200",upstream="openai"}`:                  "2", // observed ones were sent as they came
		`epitome_exchanges_total{action="bypass",fault="",status="200",upstream="openai"}`:                "1",
		`epitome_conversation_tokens_total{mode="on",part="results",side="before",upstream="openai"}`:     "600",
		`epitome_conversation_tokens_total{mode="on",part="results",side="after",upstream="openai"}`:      "8",
		`epitome_conversation_tokens_total{mode="on",part="user",side="after",upstream="openai"}`:         "40",
		`epitome_conversation_tokens_total{mode="on",part="system",side="before",upstream="openai"}`:      "2",
		`epitome_conversation_tokens_total{mode="observe",part="results",side="after",upstream="openai"}`: "4",
		`epitome_changes_total{mode="on",rung="clear",upstream="openai"}`:                                 "4",
		`epitome_changes_total{mode="on",rung="offload",upstream="openai"}`:                               "2",
		`epitome_changes_total{mode="observe",rung="clear",upstream="openai"}`:                            "2",
		`epitome_bypasses_total{upstream="openai"}`:                                                       "1",
		`epitome_shape_seconds_count{upstream="openai"}`:                                                  "4",
		`epitome_shape_seconds_bucket{upstream="openai",le="0.002"}`:                                      "3",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %s", series, got[series], want)
		}
	}
}

func TestNoLabelIsOfAConversation(t *testing.T) {
	o := New(Config{}, listening("127.0.0.1:7070"))
	o.Record(shaped())
	before := slices.Sorted(maps.Keys(samples(t, o)))
	for i := range 20 {
		e := shaped()
		e.Model, e.Conversation, e.Reason, e.Inner = fmt.Sprintf("m%d", i), fmt.Sprintf("c%d", i), fmt.Sprintf("r%d", i), fmt.Sprintf("i%d", i)
		e.Window = i
		o.Record(e)
		e.Mode = fmt.Sprintf("mode-%d", i)
		o.Record(e)
	}
	if keys := slices.Sorted(maps.Keys(samples(t, o))); !slices.Equal(keys, before) {
		t.Errorf("the series depend on what conversations say: were %q, are %q", before, keys)
	}
}

func TestLogLineTellsOfAConversation(t *testing.T) {
	f := func(e event.Exchange, more map[string]any) {
		t.Helper()
		want := map[string]any{
			"level": "INFO", "msg": "exchange", "id": "x-1", "method": "POST", "path": "/v1/chat/completions", "upstream": "openai", "status": 200.0,
			"action": e.Action, "in": 100.0, "out": 2000.0, "first_byte_ms": 300.0, "duration_ms": 1500.0, "mode": "on", "shape_ms": 1.5,
		}
		maps.Copy(want, more)
		if got := logged(t, e); !maps.Equal(got, want) {
			t.Errorf("got\n%v, want\n%v", got, want)
		}
	}
	f(shaped(), map[string]any{
		"level": "WARN", "model": "m", "conversation": "c1", "window": 1000.0, "tokens_before": 321.0, "tokens_after": 25.0,
		"decided": true, "broke": true, "offloaded": 1.0, "cleared": 2.0, "reason": "why not more", "inner": "what failed",
	})
	e := story() // what is not known is not said
	e.Mode, e.ShapeTime, e.Reason = "observe", 1500*time.Microsecond, "the body is not a JSON object"
	f(e, map[string]any{"mode": "observe", "reason": "the body is not a JSON object"})
}
