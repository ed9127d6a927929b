package agents_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// shares says of each request but the first how much of the one before it begins with, in percent of its bytes: a
// provider has read that part already. Markers of the cache do not count, as they move with each request.
func shares(bodies [][]byte) []float64 {
	var all []float64
	var before []string
	for i, body := range bodies {
		now := pieces(body)
		if i > 0 {
			all = append(all, share(before, now))
		}
		before = now
	}
	return all
}

func share(before, now []string) float64 {
	same, whole := 0, 0
	broken := false
	for i, piece := range before {
		broken = broken || i >= len(now) || now[i] != piece
		if whole += len(piece); !broken {
			same += len(piece)
		}
	}
	return 100 * float64(same) / float64(max(whole, 1))
}

// pieces are a request's tools, blocks of the system prompt and blocks of its messages, in the order in which a
// provider reads them.
func pieces(body []byte) []string {
	var request struct {
		Tools    []any
		System   any
		Messages []struct {
			Role    string
			Content any
		}
		Instructions any // of Responses, as the input
		Input        []any
	}
	if json.Unmarshal(body, &request) != nil {
		return nil
	}
	var all []string
	for _, tool := range request.Tools {
		all = append(all, spell("tool", tool))
	}
	for _, block := range blocks(request.System) {
		all = append(all, spell("system", block))
	}
	for _, m := range request.Messages {
		for _, block := range blocks(m.Content) {
			all = append(all, spell(m.Role, block))
		}
	}
	for _, block := range append(blocks(request.Instructions), request.Input...) {
		all = append(all, spell("input", block))
	}
	return all
}

// blocks are the blocks of a content; a string is one text.
func blocks(content any) []any {
	switch c := content.(type) {
	case string:
		return []any{map[string]any{"type": "text", "text": c}}
	case []any:
		return c
	}
	return nil
}

// spell writes a piece the same way whatever its key order and markers.
func spell(role string, piece any) string {
	if fields, ok := piece.(map[string]any); ok {
		delete(fields, "cache_control")
	}
	text, err := json.Marshal(piece)
	if err != nil {
		panic(err)
	}
	return role + string(text)
}

// spread is the mean, the median and the least of some shares.
func spread(all []float64) (mean, median, worst float64) {
	sorted := slices.Sorted(slices.Values(all))
	for _, s := range sorted {
		mean += s / float64(len(sorted))
	}
	return mean, sorted[len(sorted)/2], sorted[0]
}

func TestSharesOfThePrefix(t *testing.T) {
	body := func(texts ...string) []byte {
		var all []any
		for _, text := range texts {
			all = append(all, map[string]any{"role": "user", "content": text})
		}
		raw, _ := json.Marshal(map[string]any{"messages": all, "tools": []any{map[string]any{"name": "Bash"}}})
		return raw
	}
	f := func(want string, bodies ...[]byte) {
		t.Helper()
		if got := fmt.Sprintf("%.0f", shares(bodies)); got != want {
			t.Errorf("shares are %s, want %s", got, want)
		}
	}
	f("[100]", body("one"), body("one", "two"))
	f("[100 100]", body("one"), body("one", "two"), body("one", "two"))
	f("[37]", body("one"), body("eins", "two"))
	f("[100]", body("one"), []byte(`{"messages":[{"role":"user","content":[{"cache_control":{},"text":"one","type":"text"}]}],
		"tools":[{"cache_control":{"type":"ephemeral"},"name":"Bash"}]}`))
	f("[0]", body("one"), []byte(`{"messages":[]}`))
}
