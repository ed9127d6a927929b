package rewrite

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"epitome/rewrite/chat"
)

// session is a conversation of at least so many bytes behind the head, as an agent at work makes it: reads, commands
// and edits in turn. Every text is another one. Its requests are the beginnings that end in a result.
type session struct {
	head, items []string
}

func newSession(bytes int) *session {
	s := &session{head: []string{`{"role":"system","content":"` + strings.Repeat("You are an agent. ", 500) + `"}`}}
	s.add(`{"role":"user","content":"Make all tests pass."}`)
	for n := 0; bytes > 0; n++ {
		id, file := fmt.Sprint("call_", n), fmt.Sprintf("src/part%d.go", n%40)
		name, arguments := "Read", `{\"file_path\":\"`+file+`\"}`
		switch n % 3 {
		case 1:
			name, arguments = "bash", fmt.Sprintf(`{\"command\":\"make test%d\"}`, n)
		case 2:
			name, arguments = "Edit", `{\"file_path\":\"`+file+fmt.Sprintf(`\",\"new_string\":\"part %d\"}`, n)
		}
		bytes -= s.add(`{"role":"assistant","content":"Now part ` + id + `.","tool_calls":[{"id":"` + id +
			`","type":"function","function":{"name":"` + name + `","arguments":"` + arguments + `"}}]}`)
		bytes -= s.add(`{"role":"tool","tool_call_id":"` + id + `","content":"` + strings.Join(sessionLines(n, 10+n%97), "") + `"}`)
	}
	return s
}

func sessionLines(n, lines int) []string {
	list := make([]string, lines)
	for i := range list {
		list[i] = fmt.Sprintf(`%d\tresult %d of step %d: value = compute(%d) // \"ok\"\n`, i+1, i, n, n*7919+i)
	}
	return list
}

func (s *session) add(item string) int {
	s.items = append(s.items, item)
	return len(item)
}

// body is the request that has the first n items.
func (s *session) body(n int) string {
	return `{"model":"gpt-5","messages":[` + strings.Join(append(s.head, s.items[:n]...), ",") + `],"stream":true}`
}

// A million tokens are no other work for each of them than a hundred thousand.
func TestShapingIsLinear(t *testing.T) {
	cost := func(bytes int) (allocated, lookups float64) {
		body := newSession(bytes)
		b := newBench(1_200_000)
		request := body.body(len(body.items))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out := b.shape(request)
		runtime.ReadMemStats(&after)
		if out.Report.Err != nil {
			t.Fatal(out.Report.Err)
		}
		if bytes > 3<<20 && out.Report.Before.Total() < 1_000_000 {
			t.Fatalf("only %d tokens", out.Report.Before.Total())
		}
		return float64(after.TotalAlloc - before.TotalAlloc), float64(b.notes.gets)
	}
	cost(1 << 18) // what is made once
	small, few := cost(1 << 19)
	large, many := cost(1 << 22)
	if ratio := large / small; ratio > 12 {
		t.Errorf("eight times the conversation allocates %.1f times as much (%.0f and %.0f bytes)", ratio, small, large)
	}
	if ratio := many / few; ratio > 12 {
		t.Errorf("eight times the conversation asks the ledger %.1f times as often", ratio)
	}
}

// A turn costs what is new in it, however long the conversation is.
func TestATurnCostsWhatIsNew(t *testing.T) {
	cost := func(bytes int) float64 {
		s := newSession(bytes)
		b := newBench(4_000_000)
		n := len(s.items)
		for i := n - 6; i < n; i += 2 {
			b.shape(s.body(i))
		}
		gets := b.notes.gets
		if out := b.shape(s.body(n)); out.Report.Err != nil || out.Report.Decided {
			t.Fatalf("%+v", out.Report)
		}
		return float64(b.notes.gets - gets)
	}
	if small, large := cost(1<<18), cost(1<<21); large > small {
		t.Errorf("the ledger is asked %.0f times in a short conversation, and %.0f times in a long one", small, large)
	}
}

func TestLargeBodiesAreShaped(t *testing.T) {
	t.Parallel()
	f := func(name, line string, size int) {
		t.Helper()
		b := newBench(200_000)
		content := strings.Repeat(line, size/len(line))
		if name == "JSON" {
			content = "[" + strings.TrimSuffix(content, `,\n`) + "]"
		}
		body := `{"model":"gpt-5","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":null,"tool_calls":` +
			`[{"id":"c","type":"function","function":{"name":"bash","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"` + content + `"}]}`
		out := b.shape(body)
		if out.Report.Err != nil || out.Report.Action != ActionOffload || len(out.Body) > 64<<10 {
			t.Errorf("%s: %v, %s to %d bytes: %s", name, out.Report.Err, out.Report.Action, len(out.Body), out.Report.Reason)
		}
	}
	f("lines", sessionLines(7, 1)[0], 10<<20)
	f("one line", "0123456789abcdef ", 10<<20)
	f("base64", "QUJDREVG", 2<<20)
	f("JSON", `{\"id\":1,\"name\":\"an item\"},\n`, 2<<20)
	f("escapes", `\u00e9\u4e2d`, 2<<20)
	f("frames", `\r50% \u001b[31mred\u001b[0m`, 2<<20)
}

func TestVeryLargeBodiesAreShaped(t *testing.T) {
	t.Parallel()
	s := newSession(16 << 20)
	b := newBench(1_000_000)
	out := b.shape(s.body(len(s.items)))
	if out.Report.Err != nil || out.Report.Action != ActionCompact {
		t.Errorf("16 MB: %v, %s", out.Report.Err, out.Report.Action)
	}
}

// bytesOfShaping is how much memory one shaping takes that is garbage afterwards, or kept.
func bytesOfShaping(b *bench, asked Input) uint64 {
	const rounds = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		b.Shape(asked)
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / rounds
}

// What was seen and needs nothing new allocates a few objects, however much of it there is; what is replaced in it a
// few more.
func TestKnownPrefixAllocatesLittle(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	f := func(rent float64, most, each float64) {
		t.Helper()
		s := newSession(800 << 10)
		b := newBench(4_000_000)
		b.limits.Rent = rent
		body := []byte(s.body(len(s.items)))
		asked := Input{Dialect: chat.Dialect{}, Body: body, Upstream: "up", Limits: &b.limits}
		b.Shape(asked)
		out := b.Shape(asked)
		if cleared := out.Report.Repeated; cleared > 0 != (rent > 0) {
			t.Fatalf("%d results are cleared", cleared)
		}
		most += each * float64(out.Report.Repeated)
		if n := testing.AllocsPerRun(20, func() { b.Shape(asked) }); n > most {
			t.Errorf("%.0f allocations for a request that was seen, of which %d items are replaced; at most %.0f", n, out.Report.Repeated, most)
		}
		if n := bytesOfShaping(b, asked); rent == 0 && n > 32<<10 {
			t.Errorf("%d bytes of memory for a request of %d items that was seen; want at most 32 KB, whatever their number", n, len(s.items))
		}
	}
	f(0, 60, 0)
	f(2, 100, 4)
}
