package subject

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"epitome/bench/policy"
	"epitome/config"
	"epitome/config/configtest"
	"epitome/rewrite/chat"
)

// A request that is larger than the window when all else is done is refused, and comes again as the program would send
// it then.
func TestRefusedRequestsAreRescued(t *testing.T) {
	arguments, err := json.Marshal(map[string]any{"text": strings.Repeat("word ", 20_000)})
	if err != nil {
		t.Fatal(err)
	}
	messages := []any{map[string]any{"role": "user", "content": "Begin."},
		map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"id": "1", "type": "function", "function": map[string]any{"name": "think", "arguments": string(arguments)}}}},
		map[string]any{"role": "tool", "tool_call_id": "1", "content": "Well."}}
	body, err := json.Marshal(map[string]any{"model": "gpt-5", "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	const window = 16_000
	{
		p := Subject{Conf: config.Defaults(configtest.Text()), Unit: policy.Served(), Code: true}
		s, err := p.Open(policy.Setting{Window: window, Dialect: chat.Dialect{}})
		if err != nil {
			t.Fatal(err)
		}
		shaped, err := s.Shape(body, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := chat.Dialect{}.Read(shaped.Body, nil)
		if err != nil {
			t.Fatal(err)
		}
		meter, err := p.Unit.Meter(r.Model)
		if err != nil {
			t.Fatal(err)
		}
		total := meter.Fixed(r)
		for i := range r.Items {
			total += meter.ReadItem(r, i).Tokens
		}
		if total > window {
			t.Errorf("%d tokens in a window of %d", total, window)
		}
		if err = s.Close(); err != nil {
			t.Error(err)
		}
	}
}
