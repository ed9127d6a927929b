package logs

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"epitome/event"
)

func TestLogLinesTellOfRescues(t *testing.T) {
	var log bytes.Buffer
	r := New(slog.New(slog.NewTextHandler(&log, nil)))
	e := event.Exchange{
		ID: "1", Upstream: "up", Mode: "on", Action: "rescue", Status: 200,
		Rescue: event.Rescue{
			Kind: "input", Tries: 2, Stages: "clear, compact", Rescued: true, TokensBefore: 9, TokensAfter: 5,
			WindowBefore: 8, WindowAfter: 6,
		},
	}
	e.Model, e.Conversation = "m", "c1"
	r.RecordExchange(e)
	e.Action, e.Status, e.Rescue = "none", 400, event.Rescue{Kind: "rate"}
	r.RecordExchange(e)
	e.Status, e.Rescue, e.Hint = 200, event.Rescue{}, event.Hint{Kind: event.Suspected, Tokens: 2048}
	e.TokensUsed, e.TokensAfter = 2000, event.Tokens{User: 9000}
	r.RecordExchange(e)
	e.Hint.Kind = event.Learned
	r.RecordExchange(e)
	e.Hint, e.TokensUsed = event.Hint{Kind: event.Refuted, Tokens: 2048}, 7000
	r.RecordExchange(e)
	for _, line := range []string{
		`level=INFO msg=rescue id=1 conversation=c1 upstream=up model=m verdict=input outcome=rescued tries=2 ` +
			`stages="clear, compact" tokens_before=9 tokens_after=5 window_before=8 window_learned=6`,
		`level=WARN msg=rescue id=1 conversation=c1 upstream=up model=m verdict=rate outcome=refused`,
		`msg=context_window_warning id=1 conversation=c1 upstream=up model=m reason="the provider counted far fewer tokens than were sent: it may cut requests without a word; ` +
			`the window is learned only if the next such answer tells the same and none counts more" tokens=9000 tokens_counted=2000 window_suspected=2048`,
		`as in an answer before: it seems to cut requests without a word" tokens=9000 tokens_counted=2000 window_learned=2048`,
		`level=INFO msg=context_window_corrected id=1 conversation=c1 upstream=up model=m reason="` +
			`an answer is to more tokens than this window has: it counts no longer" ` +
			`tokens=9000 tokens_counted=7000 window_refuted=2048`,
	} {
		if !strings.Contains(log.String(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, &log)
		}
	}
}
