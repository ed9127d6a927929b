//go:build !race

// The race detector lets regexp take new memory again and again.

package overflow

import (
	"runtime"
	"strings"
	"testing"
)

// Whoever answers may not take the time or the memory of the proxy, whatever the answer.
func TestReadingIsBounded(t *testing.T) {
	for _, unit := range []string{
		"too long ", "tokens exceed prompt ", "context length # 12345 ", "tool call ", "12345 ", `{"error":`, "[",
		`{\"message\":\"`, "data: {}\n", "x.",
		"request id ", "(parameter=", `{"`, "\xff", "超", "\\",
	} {
		for _, around := range []string{"%", `{"error":{"message":"%"}}`, `[{"error":"%"},`, "event: error\ndata: %\n\n"} {
			body := []byte(strings.Replace(around, "%", strings.Repeat(unit, 8<<20/len(unit)), 1))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			v := Read(Answer{Status: 400, Body: body}, Sent{})
			runtime.ReadMemStats(&after)
			sound(t, v, Sent{})
			if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
				t.Errorf("%q in %q takes %d bytes", unit, around, took)
			}
		}
	}
	late := strings.Repeat(" ", mostBody) + `{"error":{"message":"prompt is too long"}}`
	if v := Read(Answer{Status: 400, Body: []byte("x" + late)}, Sent{}); v.Kind != NotOurs {
		t.Errorf("what stands behind the bound is read: %+v", v)
	}
	early := `{"error":{"message":"The prompt is too long: ` + strings.Repeat("and so on ", 1<<20)
	if v := Read(Answer{Status: 400, Body: []byte(early)}, Sent{}); v.Kind != Input {
		t.Errorf("what the bound cuts off is not read: %+v", v)
	}
}
