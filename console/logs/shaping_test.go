package logs

import (
	"maps"
	"testing"
	"time"

	"epitome/event"
	"epitome/event/eventtest"
)

func TestLogLineTellsOfAConversation(t *testing.T) {
	f := func(e event.Exchange, more map[string]any) {
		t.Helper()
		want := map[string]any{
			"level": "INFO", "msg": "exchange", "id": "x-1", "method": "POST", "path": "/v1/chat/completions",
			"upstream": "openai", "status": 200.0,
			"action": e.Action, "in": 100.0, "out": 2000.0, "first_byte_ms": 300.0, "duration_ms": 1500.0, "mode": "on",
			"shape_ms": 1.5,
		}
		maps.Copy(want, more)
		if got := logged(t, e); !maps.Equal(got, want) {
			t.Errorf("got\n%v, want\n%v", got, want)
		}
	}
	f(eventtest.Conversation(), map[string]any{
		"level": "WARN", "model": "m", "conversation": "c1", "window": 1000.0, "tokens_before": 321.0,
		"tokens_after": 25.0,
		"decided":      true, "broke": true, "offloaded": 1.0, "cleared": 2.0, "causes": "over_limit, rent", "reason": "why not more",
		"inner": "what failed",
	})
	large := eventtest.Exchange()
	large.Mode, large.ShapeTime, large.Estimated = "on", 1500*time.Microsecond, true
	f(large, map[string]any{"estimated": true})
	e := eventtest.Exchange() // what is not known is not said
	e.Mode, e.ShapeTime, e.Reason = "observe", 1500*time.Microsecond, "the body is not a JSON object"
	f(e, map[string]any{"mode": "observe", "reason": "the body is not a JSON object"})
}
