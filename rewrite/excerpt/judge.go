package excerpt

import (
	"strings"

	"epitome/rewrite/excerpt/glance"
	"epitome/rewrite/excerpt/looks"
	"epitome/rewrite/excerpt/stamp"
	"epitome/rewrite/linenumber"
)

// line is one line of a text, and what it tells.
type line struct {
	start, end int    // bytes of the text, with its end
	said       int    // where it begins behind a number that a tool put before it
	shape      uint64 // equal for lines of one form
	indent     int
	clock      int32 // the time of day that it begins with, in seconds; -1 if it has none
	kind       kind
	weight     int8 // of several lines of a kind the heavier tells more, 0 to 3
	says       Outcome
	row        *row  // whose form it has; nil if none
	under      int32 // the line that names the file of a place without one, and one more; 0 if there is none
	lines      int   // how many lines it stands for, that were not read; 0 if it is one that was
	chat       bool  // a log's line of a low level, in no tool's form
	troubled   bool  // it may tell of a failure, or was not read whole: no success is told beside it
}

// body returns what a line of a text says, without the number that a tool put before it.
func (l *line) body(text string) string { return text[l.said:l.end] }

// judge tells what the lines of one text say.
type judge struct {
	index   *index
	numbers linenumber.Mark
}

// newJudge returns a judge.
func newJudge() *judge { return &judge{index: allRows()} }

// look says what a line tells.
func (j *judge) look(text string, start, end int) line {
	said := start + j.numbers.Len(text[start:end])
	l := line{start: start, end: end, said: said, clock: stamp.Clock(text[said:min(end, said+stamp.Longest)])}
	body, indent := stamp.Strip(text[said:end])
	l.indent = indent
	if body == "" {
		return l
	}
	g := glance.Of(body)
	l.shape = g.Shape
	if r := j.index.find(body, &g); r != nil {
		l.kind, l.weight, l.says, l.row = r.kind, 3, r.says, r
		if r.loose || r.late {
			l.weight = 2
		}
		if r.kind == noise || r.kind == frame {
			l.shape = glance.Hash(r.first+r.has+r.end) ^ uint64(g.Words&(glance.Fail|glance.Trouble|glance.Pod))
		}
		if r.tally {
			l.says = outcomeOf(&g)
		}
	} else {
		l.kind, l.weight = kindOf(&g, body)
		l.chat = l.kind == plain && looks.IsChat(body)
	}
	l.troubled = l.isTroubled(body, &g)
	if end-said > glance.MostSeen { // it was not read whole, and is like its equals alone
		l.troubled, l.shape = true, glance.Hash(text[said:end])
	}
	return l
}

// isTroubled reports whether a line may tell of a failure. In doubt it does: what tells of a success that was none is
// worse than what tells of nothing.
func (l *line) isTroubled(body string, g *glance.Glance) bool {
	fails := g.Words&glance.Fail != 0 || g.Errs
	switch {
	case l.row == nil:
		return fails || g.Bad > 0 || l.kind == failure || l.kind == hint || looks.HasCross(body)
	case l.kind == noise, l.kind == frame:
		return false
	case l.kind == warning:
		return fails
	case l.kind == failure, l.kind == heading, l.says == Failed, g.Bad > 0:
		return true
	case l.kind == state:
		return l.says != Succeeded
	}
	return fails && g.Bad < 0
}

// outcomeOf is what the numbers of a total say.
func outcomeOf(g *glance.Glance) Outcome {
	switch {
	case g.Bad > 0:
		return Failed
	case g.Bad == 0 && g.Good > 0:
		return Succeeded
	}
	return Unknown
}

// kindOf says what a line tells that has no tool's form.
func kindOf(g *glance.Glance, body string) (kind, int8) {
	const longTotal = 200 // bytes; a longer line is prose
	switch {
	case g.Bad >= 0 && g.Bad+g.Good > 0 && len(body) < longTotal && g.Words&glance.Count != 0:
		return total, 1
	case g.Strong&(glance.Fail|glance.Pod) != 0 || g.Named:
		if looks.IsCode(body) {
			return hint, 0
		}
		if g.Named {
			return failure, 3
		}
		return failure, 2
	case g.Strong&glance.Trouble != 0 && !looks.IsCode(body):
		return failure, 1
	case g.Strong&glance.Warn != 0:
		return warning, 1
	case g.Words&(glance.Fail|glance.Trouble|glance.Pod) != 0:
		if looks.IsCode(body) {
			return plain, 0
		}
		return hint, 1
	case g.Words&glance.Warn != 0:
		return warning, 0
	case strings.HasPrefix(body, "✓"), strings.HasPrefix(body, "√"), strings.HasPrefix(body, "✔"):
		return noise, 0
	}
	return plain, 0
}
