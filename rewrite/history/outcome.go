package history

import (
	"bytes"
	"fmt"
	"strings"
)

// saysFailure reports whether a result, as it stands in the body, says that its call did nothing.
func saysFailure(raw []byte) bool {
	const short = 4_000 // bytes; a longer one is no mere complaint
	if len(raw) > short {
		return false
	}
	text := bytes.TrimLeft(raw, "\"[{ \n")
	for _, word := range []string{"error", "<tool_use_error", "failed", "exception", "traceback"} {
		n := len(word)
		if len(text) >= n && bytes.EqualFold(text[:n], []byte(word)) && (len(text) == n || !partOfName(text[n])) {
			return true
		}
	}
	return false
}

// StateInWords writes a state, as Outcome returns it, in words.
func StateInWords(state string) string {
	switch s := strings.TrimSpace(state); {
	case s == "✓":
		return "exit code 0"
	case s == "✗":
		return "failed"
	case s != "":
		return "exit code " + strings.TrimSpace(strings.TrimPrefix(s, "✗"))
	}
	return ""
}

// Outcome returns the state in which the call ended, as a mark for a stub; empty if its result does not tell. raw is
// the result as it stands in the body.
func (c *Source) Outcome(raw []byte) string {
	code, told := 0, false
	if c.Action.Kind == KindShell {
		code, told = exitState(raw)
	}
	switch {
	case code > 0:
		return fmt.Sprintf("✗ %d ", code)
	case saysFailure(raw):
		return "✗ "
	case told:
		return "✓ "
	}
	return ""
}

// exitState returns the exit state that a command's output tells at its beginning or end.
func exitState(raw []byte) (code int, told bool) {
	const ends = 200 // bytes
	for _, text := range [][]byte{raw[max(0, len(raw)-ends):], raw[:min(len(raw), ends)]} {
		text = bytes.ToLower(text)
		for _, word := range []string{"exit code", "exit_code", "exitcode", "exit status", "returncode", "exited with code"} {
			i := bytes.LastIndex(text, []byte(word))
			if i >= 0 && !told {
				code, told = leadingNumber(bytes.TrimLeft(text[i+len(word):], " :=\\\"'>"))
			}
		}
	}
	return code, told
}

// leadingNumber returns the number of up to three digits with which a text begins.
func leadingNumber(text []byte) (n int, ok bool) {
	for i := 0; i < len(text) && i < 3 && text[i] >= '0' && text[i] <= '9'; i++ {
		n, ok = n*10+int(text[i]-'0'), true
	}
	return n, ok
}
