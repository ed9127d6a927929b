package replay

import (
	"slices"
	"strings"

	"epitome/bench/policy"
	"epitome/internal/lazyregexp"
)

// lineIndex has the lines of the client's messages, with the messages that hold each, by their place, in order.
type lineIndex map[string][]int32

func newLineIndex(messages []*message) lineIndex {
	ix := make(lineIndex)
	for i, m := range messages {
		if m.origin != i { // an equal one came before
			continue
		}
		for line := range m.linesOf() {
			at := ix[line]
			if len(at) == 0 || at[len(at)-1] != int32(i) { //nolint:gosec // a conversation has fewer messages
				ix[line] = append(at, int32(i)) //nolint:gosec // as above
			}
		}
	}
	return ix
}

// linesOf yields the lines of a message's text and of its calls' arguments, as they are compared.
func (m *message) linesOf() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, text := range []string{m.Text, m.Args} {
			for line := range strings.SplitSeq(text, "\n") {
				if line = compared(line); line != "" && !yield(line) {
					return
				}
			}
		}
	}
}

// escape is what a terminal does not show: colours, and other orders to it.
var escape = lazyregexp.New("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")

// compared returns a line as a terminal shows it, without white space at its end: what two lines have to have in common
// to be the same.
func compared(line string) string {
	line = strings.TrimRightFunc(line, policy.IsBlank)
	if strings.IndexByte(line, '\x1b') >= 0 {
		line = strings.TrimRightFunc(escape().ReplaceAllString(line, ""), policy.IsBlank)
	}
	return line[strings.LastIndexByte(line, '\r')+1:]
}

// added is what a text that quotes lines may have before each of them: its number, or a mark of quoting.
var added = lazyregexp.New(`^(?: *[0-9]+(?:: ?|\t|→| ?\| ?)|> ?)`)

// keptBefore returns the lines of a message which the client's messages before place end have word for word, in their
// order, each with a line end before it and behind it.
func (ix lineIndex) keptBefore(end int, m *message) string {
	var kept strings.Builder
	for line := range m.linesOf() {
		if line = ix.original(end, line); line == "" {
			continue
		}
		if kept.Len() == 0 {
			kept.WriteByte('\n')
		}
		kept.WriteString(line + "\n")
	}
	return kept.String()
}

// original returns the client's line that a line quotes; empty if it quotes none.
func (ix lineIndex) original(end int, line string) string {
	if ix.isBefore(end, line) {
		return line
	}
	if mark := added().FindString(line); mark != "" && ix.isBefore(end, line[len(mark):]) {
		return line[len(mark):]
	}
	return ""
}

func (ix lineIndex) isBefore(end int, line string) bool {
	at := ix[line]
	return len(at) > 0 && int(at[0]) < end
}

// shows reports whether a line stands in a request: in a message of the client's that is there whole, or word for word
// in one that is none of the client's. line is as it is compared.
func (p *player) shows(line string, now request) bool {
	for _, i := range p.recording.lines[line] {
		if p.sentIn[i] == p.tally.requests {
			return true
		}
	}
	return slices.ContainsFunc(now.made, func(m *message) bool {
		return strings.Contains(m.kept, "\n"+line+"\n")
	})
}
