package excerpt

import (
	"slices"
	"strings"
	"sync"

	"epitome/pattern"
	"epitome/rewrite/excerpt/glance"
)

// kind is what a line tells.
type kind uint8

const (
	plain   kind = iota
	noise        // progress, and what went well
	frame        // of a stack trace
	warning      // of what may be wrong
	hint         // it has words of trouble, but may mean something else
	heading      // of a part that tells of failures
	reason       // why it failed: a message, expected and received, code with a mark
	failure      // what failed
	total        // counts at the end
	state        // how it all ended
	loss         // what will be gone for good
)

const digits = "0123456789"

// row is a form in which a tool writes lines. A line has the form if all that is given fits.
type row struct {
	tool   string
	kind   kind
	first  string           // with which the line begins, behind white space and what collectors of logs put before
	begins string           // or the bytes of which it begins with one
	needs  glance.Set       // words that it has, all of these
	has    string           // what stands somewhere behind that
	end    string           // with which the line ends
	like   *pattern.Pattern // what the line matches, from its body on
	says   Outcome          // of the whole run
	loose  bool             // others may begin a line so, too
	whole  bool             // it says by itself what failed and why
	late   bool             // it tells less than others of its kind: style, progress, code beside a message
	opens  bool             // its message stands on the next line
	tally  bool             // the numbers say how the run ended: Failed if any of those that failed is above zero
	sample string           // of real output
}

// fits reports whether the body of a line has the form. g is what was seen of it.
func (r *row) fits(body string, g *glance.Glance) bool {
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
func tables() [][]row {
	return [][]row{testRows, scriptTestRows, compilerRows, builderRows, packageRows, machineRows, memoryRows,
		operationRows, abroadRows, traceRows}
}

// index finds the rows that a line may have, by the first byte of its body.
type index struct {
	rows [256][]*row
	ends [256][]*row // those of which the end is known alone, by its last byte
	any  []*row      // the others without a beginning
}

// allRows is the index of all rows, built when it is first used: a result of a line would cost less than building it.
var allRows = sync.OnceValue(newIndex)

// newIndex builds the index of all rows.
func newIndex() *index {
	x := &index{}
	for _, table := range tables() {
		for i := range table {
			x.add(&table[i])
		}
	}
	for _, list := range x.rows {
		slices.SortStableFunc(list, func(a, b *row) int { return b.sharpness() - a.sharpness() })
	}
	return x
}

// add puts a row where the lines are looked up that may have its form.
func (x *index) add(r *row) {
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
func (r *row) sharpness() int {
	n := 2 * len(r.first)
	if r.has != "" || r.end != "" || r.like != nil {
		n++
	}
	return n
}

// find returns the row whose form the body of a line has; nil if none.
func (x *index) find(body string, g *glance.Glance) *row {
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
	for _, list := range [...][]*row{x.any, x.ends[body[len(body)-1]]} {
		for _, r := range list {
			if r.fits(body, g) {
				return r
			}
		}
	}
	return nil
}
