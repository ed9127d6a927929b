package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/messages"
	"epitome/tokenize"
)

// BenchmarkShape measures one turn of an agent: at first sight, by a process that knows nothing; and known, where all
// but the last two items were seen. With no decision everything goes as it came; replayed, results that were cleared or
// cut earlier are sent so again.
func BenchmarkShape(b *testing.B) {
	for _, size := range []int{100 << 10, 800 << 10, 4 << 20} {
		for _, decided := range []bool{false, true} {
			for _, known := range []bool{false, true} {
				name := fmt.Sprintf("%dK/%s/%s", size>>10, map[bool]string{false: "first", true: "known"}[known],
					map[bool]string{false: "untouched", true: "replayed"}[decided])
				b.Run(name, func(b *testing.B) { benchmarkShape(b, size, known, decided) })
			}
		}
	}
}

func benchmarkShape(b *testing.B, size int, known, decided bool) {
	s := newSession(size)
	w := newBench(4_000_000)
	if !decided {
		w.limits.Rent = 0
	} else {
		w.limits.Offload, w.limits.OffloadReads = 400, 400
	}
	out := w.shape(s.body(len(s.items)))
	if out.Report.Err != nil || len(out.Report.Changes) > 0 != decided {
		b.Fatalf("%v, %d changes", out.Report.Err, len(out.Report.Changes))
	}
	const suffix = `],"stream":true}`
	whole := []byte(s.body(len(s.items)))
	whole = whole[:len(whole)-len(suffix)]
	limits := w.limits
	limits.Rent = 0  // what is measured is no new decision
	const most = 200 // turns; then the conversation begins again, so that its size stays what it is
	turn, all := most, 0
	var body []byte
	room := make([]byte, 0, 2*size) // as the proxy lends it
	lend := func(int) []byte { return room }
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if turn++; turn > most || !known {
			b.StopTimer()
			turn, body = 0, append(make([]byte, 0, len(whole)+most*300), whole...)
			w.memo = tokenize.NewMemo(1 << 16)
			w.restart()
			if known {
				w.Shape(Input{Dialect: chat.Dialect{}, Body: append(body, suffix...), Upstream: "up", Limits: &limits})
			}
			b.StartTimer()
		}
		body = fmt.Appendf(body, `,{"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":`+
			`{"name":"bash","arguments":"{\"command\":\"make part%d\"}"}}]},{"role":"tool","tool_call_id":"t%d","content":"all is well"}`, all, all, all)
		all++
		w.Shape(Input{Dialect: chat.Dialect{}, Body: append(body, suffix...), Upstream: "up", Limits: &limits, Lend: lend})
	}
}

// BenchmarkShapeMessages is a known turn of Claude Code at some 800 KB, without marks for the cache and with one that
// moves to the newest block.
func BenchmarkShapeMessages(b *testing.B) {
	for _, moving := range []bool{false, true} {
		b.Run(map[bool]string{false: "unmarked", true: "moving"}[moving], func(b *testing.B) { benchmarkMessages(b, moving) })
	}
}

func benchmarkMessages(b *testing.B, moving bool) {
	c := newCoder(4_000_000, userBlocks(textBlock(theTask)))
	c.limits.Offload, c.limits.OffloadReads = 1<<30, 1<<30
	for range 300 {
		c.work(1, 1_000)
	}
	const most, mark = 200, `,"cache_control":{"type":"ephemeral"}` // turns; then it begins again
	open := `{"model":"claude-opus-4-6","messages":[`
	whole := []byte(open + strings.Join(c.items, ",\n"))
	turn, all := most, 0
	var body, sent []byte
	b.SetBytes(int64(len(whole)))
	b.ReportAllocs()
	for b.Loop() {
		if turn++; turn > most {
			b.StopTimer()
			turn, body = 0, append(make([]byte, 0, len(whole)+most*600), whole...)
			c.restart()
			c.Shape(Input{Dialect: messages.Dialect{}, Body: append(body, `]}`...), Upstream: "up", Limits: &c.limits})
			b.StartTimer()
		}
		body = fmt.Appendf(body, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"make part%d"}}]},`+
			`{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","content":"all is well","is_error":false`, all, all, all)
		all++
		sent = append(sent[:0], body...)
		if moving {
			sent = append(sent, mark...)
		}
		body = append(body, `}]}`...)
		sent = append(sent, `}]}]}`...)
		c.Shape(Input{Dialect: messages.Dialect{}, Body: sent, Upstream: "up", Limits: &c.limits})
	}
}
