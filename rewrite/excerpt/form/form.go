// Package form holds the forms in which tools write lines: a row for each, with the output that shows it.
//
// It promises that a row is found by a line alone, whatever stands around it, and that a line which has several forms
// has the sharpest of them.
package form

import (
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/pattern/lazy"
	"epitome/rewrite/excerpt/glance"
)

// Kind is what a line tells.
type Kind uint8

// Kinds of lines. From Total on they tell of the whole run.
const (
	Plain   Kind = iota
	Noise        // progress, and what went well
	Frame        // of a stack trace
	Warning      // of what may be wrong
	Hint         // it has words of trouble, but may mean something else
	Heading      // of a part that tells of failures
	Reason       // why it failed: a message, expected and received, code with a mark
	Failure      // what failed
	Total        // counts at the end
	State        // how it all ended
	Loss         // what will be gone for good
)

// Verdict is what a line says of the whole run.
type Verdict int8

// Verdicts of lines.
const (
	Silent      Verdict = iota
	Succeeds            // all went well
	Fails               // it failed
	FailsIfLast         // it failed, unless others go on behind it
	Sought              // what failures above it were to show: those are none of the run
)

const digits = "0123456789"

// Row is a form in which a tool writes lines. A line has the form if all that is given fits.
type Row struct {
	Tool   string
	Kind   Kind
	first  string           // with which the line begins, behind white space and what collectors of logs put before
	begins string           // or the bytes of which it begins with one
	needs  glance.Set       // words that it has, all of these
	has    string           // what stands somewhere behind that
	end    string           // with which the line ends
	like   *pattern.Pattern // what the line matches, from its body on
	Says   Verdict
	Loose  bool   // others may begin a line so, too
	Whole  bool   // it says by itself what failed and why
	Told   bool   // others may tell of it on the way: in a log's line of a low level, and in one that a search found
	Late   bool   // it tells less than others of its kind: style, progress, code beside a message
	Opens  bool   // its message stands on the next line
	Below  bool   // its place stands on a line above it
	Same   bool   // all its lines have one shape, as those of progress and of traces have
	Tally  bool   // the numbers say how the run ended: it failed if any of those that failed is above zero
	sample string // of real output
}

// fits reports whether the body of a line has the form. g is what was seen of it.
func (r *Row) fits(body string, g *glance.Glance) bool {
	if !strings.HasPrefix(body, r.first) || g.All&r.needs != r.needs {
		return false
	}
	if r.end != "" && !strings.HasSuffix(body, r.end) {
		return false
	}
	if r.has != "" && !strings.Contains(body[len(r.first):], r.has) {
		return false
	}
	return r.like == nil || r.like.MatchString(body)
}

// tables are all rows, in the order in which they are tried.
func tables() [][]Row {
	return [][]Row{testRows, scriptTestRows, compilerRows, builderRows, packageRows, machineRows, memoryRows,
		operationRows, clusterRows, deviceRows, engineRows, scanRows, databaseRows, shellRows,
		saidAtEnd(errorTexts[:]), abroadRows, saidAtEnd(textsAbroad[:]), traceRows}
}

// Index finds the rows that a line may have, by the first byte of its body.
type Index struct {
	rows [256][]*Row
	ends [256][]*Row // those of which the end is known alone, by its last byte
	any  []*Row      // the others without a beginning
}

// All is the index of all rows, built when it is first used: a result of a line would cost less than building it.
var All = lazy.Of(newIndex)

// newIndex builds the index of all rows.
func newIndex() *Index {
	x := &Index{}
	for _, table := range tables() {
		for i := range table {
			x.add(&table[i])
		}
	}
	for _, list := range x.rows {
		slices.SortStableFunc(list, func(a, b *Row) int { return b.sharpness() - a.sharpness() })
	}
	return x
}

// add puts a row where the lines are looked up that may have its form.
func (x *Index) add(r *Row) {
	switch {
	case r.first != "":
		x.rows[r.first[0]] = append(x.rows[r.first[0]], r)
	case r.begins != "":
		for _, c := range []byte(r.begins) {
			x.rows[c] = append(x.rows[c], r)
		}
	case r.end != "" && r.needs == 0:
		last := r.end[len(r.end)-1]
		x.ends[last] = append(x.ends[last], r)
	default:
		x.any = append(x.any, r)
	}
}

// sharpness says how much a row asks of a line: of several that fit, the sharpest has it.
func (r *Row) sharpness() int {
	n := 2 * len(r.first)
	if r.has != "" || r.end != "" || r.like != nil {
		n++
	}
	return n
}

// Find returns the row whose form the body of a line has; nil if none.
func (x *Index) Find(body string, g *glance.Glance) *Row {
	if len(body) > glance.MostSeen {
		body = body[:glance.MostSeen]
	}
	if body = strings.TrimRight(body, " \r"); body == "" {
		return nil
	}
	for _, r := range x.rows[body[0]] {
		if r.fits(body, g) {
			return r
		}
	}
	for _, list := range [...][]*Row{x.any, x.ends[body[len(body)-1]]} {
		for _, r := range list {
			if r.fits(body, g) {
				return r
			}
		}
	}
	return nil
}

// Shape is one for all lines of a form that say the same of a run's parts.
func (r *Row) Shape(g *glance.Glance) uint64 {
	return glance.Hash(r.first+r.has+r.end) ^ uint64(g.Words&(glance.Fail|glance.Trouble|glance.Pod))
}

// VerdictOf is what the numbers of a total say.
func VerdictOf(g *glance.Glance) Verdict {
	switch {
	case g.Bad > 0:
		return Fails
	case g.Bad == 0 && g.Good > 0:
		return Succeeds
	}
	return Silent
}
