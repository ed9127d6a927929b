package messages

import (
	"strings"
	"testing"
)

// BenchmarkDigest sums up items as agents send them: what a user says, in one block and in two, a result, and an answer
// that calls a tool.
func BenchmarkDigest(b *testing.B) {
	f := func(name, message string) {
		b.Run(name, func(b *testing.B) {
			body := []byte(`{"messages":[` + message + `]}`)
			r, err := Dialect{}.Read(body, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(message)))
			b.ReportAllocs()
			for b.Loop() {
				for i := range r.Items {
					if _, err := r.Dialect.Digest(body, &r.Items[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	text := strings.Repeat("some words of it, ", 100)
	f("text", `{"role":"user","content":"`+text+`"}`)
	f("block", `{"role":"user","content":[{"type":"text","text":"`+text+`"}]}`)
	f("blocks", `{"role":"user","content":[{"type":"text","text":"Mend it."},{"type":"text","text":"`+text+`"}]}`)
	f("result", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"`+text+`"}]}`)
	f("call", `{"role":"assistant","content":[{"type":"text","text":"I look."},`+
		`{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}`)
}
