package demo

import (
	"fmt"
	"regexp"
	"strings"

	"epitome/bench/sessions"
)

// What the user wants. The user tells the rules in the second turn, asks for one package after the other, and now and
// then for something that was said or seen long before.

// task is one package that the user asks for.
type task struct {
	pkg    string
	symbol string
	files  []string
	web    bool // the model looks at what the service answers, too
	round  int  // 0 for the first time
}

var packages = [...]string{"ledger", "settle", "fees", "payout", "fx", "refund", "audit", "tax", "report", "limits",
	"notify", "dispute"}

// taskAt returns the i-th task. After the last package comes the first one again.
func taskAt(i int) task {
	pkg := packages[i%len(packages)]
	t := task{pkg: pkg, symbol: "Round" + strings.ToUpper(pkg[:1]) + pkg[1:], web: i%2 == 0, round: i / len(packages)}
	for _, name := range []string{pkg, "round", "totals"} {
		t.files = append(t.files, pkg+"/"+name+".go")
	}
	return t
}

// test returns the test that fails first.
func (t task) test() string { return t.subject().Test() }

// subject returns what the contents of the package are about.
func (t task) subject() sessions.Subject { return sessions.Subject{Package: t.pkg, Symbol: t.symbol} }

func (t task) url() string { return "http://settle.internal/v1/batches?package=" + t.pkg }

// words returns the words in which the user asks for the task.
func (t task) words() string {
	switch {
	case t.round > 0:
		return fmt.Sprintf("Have a second look at %s: does %s hold with negative amounts?", t.pkg, t.symbol)
	case t.web:
		return fmt.Sprintf("Now package %s. Customers see a difference of a cent in its sums; look at what the service answers as well.", t.pkg)
	}
	return fmt.Sprintf("Good. Go on with package %s, the same way: find where %s loses the cent, fix it, run its tests.", t.pkg, t.symbol)
}

// probe is a question about something earlier.
type probe struct {
	label   string
	short   string
	pattern *regexp.Regexp // its first group is the answer
	hint    string         // stands in the text that names the artifact
}

// in returns the answer, if the request holds it.
func (p *probe) in(v *view) string {
	for i := range v.messages {
		if m := p.pattern.FindStringSubmatch(string(v.messages[i].Content)); m != nil {
			return m[1]
		}
	}
	return ""
}

func (p *probe) question() string { return "A question in between. " + p.label + ": what was it?" }

// failureOf asks for the trace with which a package's test failed.
func failureOf(t task) *probe {
	return &probe{"The trace with which " + t.test() + " failed", "the failed trace",
		regexp.MustCompile(t.test() + ` trace=(tr-[0-9a-f]{8})`), "PKG=" + t.pkg}
}

// stuckIn asks for the batch that was stuck when the service was asked about a package.
func stuckIn(t task) *probe {
	// In a transcript the result is written as JSON in JSON.
	answer := regexp.MustCompile(`(bat_[0-9a-z]{6}` + t.pkg[:2] + `[0-9a-z]{2})[\\", ]+state[\\": ]+stuck`)
	return &probe{"The batch of " + t.pkg + " that was stuck", "the stuck batch", answer, "package=" + t.pkg}
}

// changeNumber asks for what the user has told in the second turn.
func changeNumber() *probe {
	return &probe{"The change number of the release", "the change number", regexp.MustCompile(`change number (CHG-[0-9]{5})`), "change number"}
}

// probes returns all questions: between has them by turn, end has those at the end of the session.
func probes() (between map[int]*probe, end []*probe) {
	return map[int]*probe{4: failureOf(taskAt(0)), 8: stuckIn(taskAt(2))}, []*probe{stuckIn(taskAt(0)), changeNumber()}
}

// probeIn returns the question that a user's message asks; nil if it asks none.
func probeIn(said string) *probe {
	between, end := probes()
	for _, p := range between {
		end = append(end, p)
	}
	for _, p := range end {
		if said == p.question() {
			return p
		}
	}
	return nil
}

// user is the one whom the agent works for.
type user struct {
	change string // number of the release
	turns  int    // of the session
	said   int    // messages so far
	tasks  int
	last   []*probe // still to be asked at the end
	asked  map[int]*probe
}

func newUser(change string, turns int) *user {
	between, end := probes()
	return &user{change: change, turns: turns, last: end, asked: between}
}

// says returns the user's message in the given turn, and the question in it. ok is false once the user has gone.
func (u *user) says(turn int) (words string, p *probe, ok bool) {
	u.said++
	switch {
	case u.said == 1:
		return "Goal: make the sums of the service settle agree with its ledger to the cent, package by package. Run a package's tests after each change.", nil, true
	case u.said == 2:
		return "Two things. Rule: never touch store/migrate.go. Rule: the release goes out under change number " +
			u.change +
			"; I will ask you for it at the very end. " + taskAt(0).words(), nil, true
	case turn > u.turns-closing:
		if len(u.last) == 0 {
			return "", nil, false
		}
		p, u.last = u.last[0], u.last[1:]
		return p.question(), p, true
	}
	if p = u.asked[u.said]; p != nil {
		return p.question(), p, true
	}
	u.tasks++
	return taskAt(u.tasks).words(), nil, true
}
