package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// resultText is what the k-th call of a script's conversation gave: some 15 000 tokens in 1 500 lines, with what tells it from others.
func resultText(k int) string {
	var b strings.Builder
	for line := 1; line <= 1500; line++ {
		fmt.Fprintf(&b, "row %d of table_%d: value %d\n", line, k, line*line+k)
	}
	return b.String()
}

// conversationOf is a request with so many calls and their results.
func conversationOf(calls int) []byte {
	type object = map[string]any
	messages := []object{{"role": "system", "content": "You look things up."}, {"role": "user", "content": "Look at the tables."}}
	for k := 1; k <= calls; k++ {
		id := fmt.Sprintf("call_%d", k)
		messages = append(messages,
			object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function",
				"function": object{"name": "query", "arguments": fmt.Sprintf(`{"table":"table_%d"}`, k)}}}},
			object{"role": "tool", "tool_call_id": id, "content": resultText(k)})
	}
	body, err := json.Marshal(object{"model": "m", "messages": messages})
	if err != nil {
		panic(err)
	}
	return body
}

func (s *stage) conversation(args []string) {
	s.want(args, 2, "conversation FILE N")
	s.Check(os.WriteFile(s.MkAbs(args[0]), conversationOf(s.number(args[1])), 0o600))
}

func (s *stage) result(args []string) {
	s.want(args, 2, "result FILE K")
	s.Check(os.WriteFile(s.MkAbs(args[0]), []byte(resultText(s.number(args[1]))), 0o600))
}

func (s *stage) number(text string) int {
	n, err := strconv.Atoi(text)
	s.Check(err)
	return n
}

func (s *stage) sent(args []string) {
	s.want(args, 3, "sent NAME K FILE")
	k := s.number(args[1])
	var bodies [][]byte
	for _, r := range s.upstreamNamed(args[0]).Requests() {
		if strings.HasSuffix(r.Target, "/chat/completions") { // it is asked in the background how much its models hold, too
			bodies = append(bodies, r.Body)
		}
	}
	if k < 1 || k > len(bodies) {
		s.Fatalf("upstream %s got %d conversations", args[0], len(bodies))
	}
	s.Check(os.WriteFile(s.MkAbs(args[2]), bodies[k-1], 0o600))
}

func (s *stage) capture(args []string) {
	s.want(args, 3, "capture VAR FILE REGEXP")
	m := s.pattern(args[2]).FindStringSubmatch(s.ReadFile(args[1]))
	if len(m) < 2 {
		s.Fatalf("%s has no %#q with a group", args[1], args[2])
	}
	s.Setenv(args[0], m[1])
}
