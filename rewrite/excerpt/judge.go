package excerpt

import (
	"strings"

	"epitome/rewrite/excerpt/form"
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
	kind       form.Kind
	weight     int8 // of several lines of a kind the heavier tells more, 0 to 3
	says       form.Verdict
	row        *form.Row // whose form it has; nil if none
	under      int32     // the line above that names its file or place, if it has none, and one more; else 0
	lines      int       // how many lines it stands for, that were not read; 0 if it is one that was
	chat       bool      // a log's line of a low level, in no tool's form
	troubled   bool      // it may tell of a failure, or was not read whole: no success is told beside it
	raised     bool      // a trace of Python ends in it
}

// body returns what a line of a text says, without the number that a tool put before it.
func (l *line) body(text string) string { return text[l.said:l.end] }

// judge tells what the lines of one text say.
type judge struct {
	forms   *form.Index
	numbers linenumber.Mark
}

// newJudge returns a judge.
func newJudge() *judge { return &judge{forms: form.All.Get()} }

// look says what a line tells.
func (j *judge) look(text string, start, end int) line {
	said := start + j.numbers.Len(text[start:end])
	l := line{start: start, end: end, said: said, clock: stamp.Clock(text[said:min(end, said+stamp.Longest)])}
	body, indent := stamp.Strip(text[said:end])
	l.indent = indent
	if body == "" {
		return l
	}
	if looks.IsBlob(body) {
		l.shape = shapeOfBlobs
		return l
	}
	g := glance.Of(body)
	l.shape = g.Shape
	if r := j.forms.Find(body, &g); r != nil && !(r.Told && looks.IsRetold(body)) {
		l.kind, l.weight, l.says, l.row = r.Kind, 3, r.Says, r
		if r.Loose || r.Late {
			l.weight = 2
		}
		if r.Kind == form.Noise || r.Kind == form.Frame || r.Same {
			l.shape = r.Shape(&g)
		}
		if r.Tally {
			l.says = form.VerdictOf(&g)
		}
	} else {
		l.kind, l.weight = kindOf(&g, body)
		l.chat = l.kind == form.Plain && looks.IsChat(body)
	}
	l.troubled = l.isTroubled(body, &g)
	if end-said > glance.MostSeen { // it was not read whole, and is like its equals alone
		l.troubled, l.shape = true, glance.Hash(text[said:end])
	}
	return l
}

// shapeOfBlobs is that of all lines of bytes in base 64.
const shapeOfBlobs = 0xb10b

// isTroubled reports whether a line may tell of a failure. In doubt it does: what tells of a success that was none is
// worse than what tells of nothing.
func (l *line) isTroubled(body string, g *glance.Glance) bool {
	fails := g.Words&glance.Fail != 0 || g.Errs
	switch {
	case l.row == nil:
		return fails || g.Bad > 0 || l.kind == form.Failure || l.kind == form.Hint || looks.HasCross(body)
	case l.kind == form.Noise, l.kind == form.Frame:
		return false
	case l.kind == form.Warning:
		return fails
	case l.kind == form.Failure, l.kind == form.Heading, l.says == form.Fails, g.Bad > 0:
		return true
	case l.kind == form.State:
		return l.says != form.Succeeds
	}
	return fails && g.Bad < 0
}

// kindOf says what a line tells that has no tool's form.
func kindOf(g *glance.Glance, body string) (form.Kind, int8) {
	const longTotal = 200 // bytes; a longer line is prose
	switch {
	case g.Bad >= 0 && g.Bad+g.Good > 0 && len(body) < longTotal && g.Words&glance.Count != 0:
		return form.Total, 1
	case g.Strong&(glance.Fail|glance.Pod) != 0 || g.Named:
		if looks.IsCode(body) {
			return form.Hint, 0
		}
		if g.Named {
			return form.Failure, 3
		}
		return form.Failure, 2
	case g.Strong&glance.Trouble != 0 && !looks.IsCode(body):
		return form.Failure, 1
	case g.Strong&glance.Warn != 0:
		return form.Warning, 1
	case g.Words&(glance.Fail|glance.Trouble|glance.Pod) != 0:
		if looks.IsCode(body) {
			return form.Plain, 0
		}
		return form.Hint, 1
	case g.Words&glance.Warn != 0:
		return form.Warning, 0
	case strings.HasPrefix(body, "✓"), strings.HasPrefix(body, "√"), strings.HasPrefix(body, "✔"):
		return form.Noise, 0
	}
	return form.Plain, 0
}
