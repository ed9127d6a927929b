package commandtest

import (
	"os"
	"strconv"
	"strings"

	"epitome/internal/fakeapi/scriptedtest"
)

func writeConversation(s *stage, args []string) {
	write := scriptedtest.Conversation
	switch {
	case len(args) > 0 && args[0] == "-messages":
		args, write = args[1:], scriptedtest.MessagesConversation
	case len(args) > 0 && args[0] == "-responses":
		args, write = args[1:], scriptedtest.ResponsesConversation
	}
	s.want(args, 2, "conversation [-messages|-responses] FILE N")
	s.Check(os.WriteFile(s.MkAbs(args[0]), write(s.number(args[1])), 0o600))
}

func writeResult(s *stage, args []string) {
	s.want(args, 2, "result FILE K")
	s.Check(os.WriteFile(s.MkAbs(args[0]), []byte(scriptedtest.ResultText(s.number(args[1]))), 0o600))
}

func (s *stage) number(text string) int {
	n, err := strconv.Atoi(text)
	s.Check(err)
	return n
}

func writeSent(s *stage, args []string) {
	s.want(args, 3, "sent NAME K FILE")
	k := s.number(args[1])
	var bodies [][]byte
	for _, r := range s.upstreamNamed(args[0]).Requests() {
		// it is asked in the background how much its models hold, too
		if strings.HasSuffix(r.Target, "/chat/completions") || strings.HasSuffix(r.Target, "/messages") ||
			strings.HasSuffix(r.Target, "/responses") {
			bodies = append(bodies, r.Body)
		}
	}
	if k < 1 || k > len(bodies) {
		s.Fatalf("upstream %s got %d conversations", args[0], len(bodies))
	}
	s.Check(os.WriteFile(s.MkAbs(args[2]), bodies[k-1], 0o600))
}

func captureGroup(s *stage, args []string) {
	s.want(args, 3, "capture VAR FILE REGEXP")
	m := s.pattern(args[2]).FindStringSubmatch(s.ReadFile(args[1]))
	if len(m) < 2 {
		s.Fatalf("%s has no %#q with a group", args[1], args[2])
	}
	s.Setenv(args[0], m[1])
}
