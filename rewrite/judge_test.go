package rewrite

import (
	"epitome/rewrite/conversation"
)

// judge looks at one request and what was sent in its place, and says which promise is broken.
type judge struct {
	teller
	was, now *conversation.Request
	out      Output
	scale    conversation.Scale
	bench    *bench
}

// wrote reports whether a model wrote the line, as it is shown.
func (j *judge) wrote(line string) bool {
	return j.bench.narrator != nil && j.bench.narrator.wrote(line)
}

// get is what the artifact holds.
func (j *judge) get(artifact string) ([]byte, error) { return j.bench.cupboard.Get(artifact) }

// recapOf is a summary of a span: two that are equal say the same of the same messages.
type recapOf struct {
	text     string
	chain    conversation.Link // of all messages up to the span's end
	from, to int
}

// known holds the parts of the summary against its span, once for each: later requests repeat it.
func (s *spanFacts) known(text string, chain conversation.Link) {
	s.Helper()
	it := recapOf{text, chain, s.from, s.to}
	lines, known := s.bench.recaps.Load(it)
	if known {
		s.lines = lines.(string)
		return
	}
	s.learn()
	s.parts(sawFrame.FindStringSubmatch(text)[3])
	s.bench.recaps.Store(it, s.lines)
}

// teller is a test of any kind.
type teller interface {
	Helper()
	Fatalf(format string, args ...any)
}
