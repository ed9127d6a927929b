package action

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Reading calls is bounded, for each and for all of a conversation. What is not read is known by its tool.
func TestReadingCallsIsBounded(t *testing.T) {
	learn := func(n int, arguments string) (read int) {
		body := string(span.AppendQuoted(nil, arguments))
		r := &conversation.Request{Body: []byte(body)}
		calls := NewCalls()
		calls.work = mostWork - mostWork/20 // of calls before
		for k := range n {
			id := fmt.Sprint(k)
			it := &conversation.Item{Role: conversation.Assistant, Begins: true,
				Calls: []conversation.Call{{ID: id, Name: "bash", Arguments: span.Span{Start: 0, End: len(body)}}}}
			calls.Learn(r, it)
			a := calls.SourceOf(&conversation.Item{Answers: id}).Action
			if a.Kind != Shell {
				t.Fatalf("call %d: %v", k, a.Kind)
			}
			if len(a.Reads) > 0 {
				read++
			}
		}
		return read
	}
	if n := learn(2_000, `{"command":"cd shop && cat rates.go && make test","description":"Look at the rates and test them"}`); n != 2_000 {
		t.Errorf("of 2 000 ordinary calls %d are read", n)
	}
	if n := learn(1, `{"command":"cat rates.go","description":"`+strings.Repeat("x", 1<<20)+`"}`); n != 0 {
		t.Error("a call of a megabyte is read")
	}
	many := `{"command":"cat rates.go","keys":[` + strings.TrimSuffix(strings.Repeat("0,", 20_000), ",") + `]}`
	if n := learn(30, many); n == 0 || n > 5 {
		t.Errorf("of 30 calls of 20 000 values %d are read", n)
	}
	files := `{"command":"cat`
	for k := range 45 {
		files += fmt.Sprintf(" rates%d.go", k)
	}
	if n := learn(200, files+`"}`); n == 0 || n > 70 {
		t.Errorf("of 200 calls of 45 files %d are read", n)
	}
	steps := `{"command":"cat rates.go;` + strings.Repeat("cd a;", 4_000) + `"}`
	if n := learn(20, steps); n == 0 || n > 10 {
		t.Errorf("of 20 calls of 4 000 commands %d are read", n)
	}
}
