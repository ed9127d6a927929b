package demo

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/dustin/go-humanize/english"
)

// step is one answer of the model, with the result of its call and what the system or the user says before it.
type step struct {
	System, User, About string // About says in a few words what the user speaks of
	Words, Tool, Result string
	Args                map[string]string
	Needs               *question // whose answer the model must know

	isSearched bool   // the model has searched for what it needs
	isSearch   bool   // it does so
	found      string // the answer to the question
}

// question is a question about an earlier turn.
type question struct {
	Pattern string // an expression, whose first group is the answer
	Want    string
}

// task is a job for the agent, about a package of the service that it works on.
type task struct {
	Number  int // from 0
	Package string
	Symbol  string // the function that everything in the package calls
	Trace   string // with which the package's test fails
	Again   bool   // the package was the subject before
	Service bool   // the agent also asks the running service
}

var packages = strings.Fields("ledger settle fees payout fx refund audit tax report limits notify dispute")

func newTask(n int) task {
	name := packages[n%len(packages)]
	return task{Number: n, Package: name, Symbol: "Round" + strings.ToUpper(name[:1]) + name[1:],
		Trace: fmt.Sprintf("tr-%08x", randomFor(name).Uint32()), Again: n >= len(packages), Service: n%2 == 0}
}

// script returns the steps of a session with about so many requests: the user sets a goal, then one task after the
// other, and asks about earlier turns on the way and at the end. Searches are requests, too, about one in ten.
func script(turns int) []step {
	steps := newTask(0).steps("begin")
	for n := 0; len(steps) < turns*9/10; n++ {
		steps = append(steps, newTask(n).steps("job")...)
		if n == 1 || n == 4 {
			steps = append(steps, newTask(n/2).steps("ask")...)
		}
	}
	return append(steps[:turns*9/10], newTask(0).steps("end")...)
}

// steps returns the steps that a template has for a task.
func (t task) steps(template string) (steps []step) {
	err := json.Unmarshal([]byte(t.prop(template, 0)), &steps)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return steps
}

//go:embed props.tmpl
var propsText string

var vocabulary = strings.Fields("Settle Post Match Accrue Reverse Allocate Convert Clear Split Carry Quote Reserve " +
	"Batch Entry Invoice Charge Payout Fee Rate Window Balance Hold Refund Mandate Gross Net Rest Share Delta Limit")

// prop returns a text from the templates, such as a source file. Size is its number of functions or lines.
func (t task) prop(name string, size int) string {
	d := randomFor(fmt.Sprint(name, t.Number, size))
	word := func() string { return vocabulary[d.IntN(len(vocabulary))] }
	props := template.Must(template.New("").Funcs(template.FuncMap{
		"Word":   word,
		"word":   func() string { return strings.ToLower(word()) },
		"number": func(most int) int { return 1 + d.IntN(most) },
		"hex":    func() string { return fmt.Sprintf("%08x", d.Uint32()) },
		"quote":  func(name string, size int) string { return string(encode(t.prop(name, size))) },
	}).Parse(propsText))
	var b strings.Builder
	err := props.ExecuteTemplate(&b, name, struct {
		task
		Size, Half int
	}{t, size, size / 2})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return b.String()
}

// randomFor returns random numbers for one thing: each time the same.
func randomFor(thing string) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256([]byte(thing))))
}

// String says in a few words what the step does.
func (x step) String() string {
	name, _, _ := strings.Cut(x.Tool, "_")
	object := cmp.Or(x.About, x.Args["pattern"], x.Args["path"], x.Args["url"], x.Args["command"])
	return strings.TrimPrefix(name+" "+object, "bash ")
}

// after returns the step that the model takes after a request with these messages. Where they lack what x needs, it
// first searches the files that they name, which lie in a folder.
func (x step) after(messages []message, folder string) step {
	if x.Needs == nil {
		return x
	}
	pattern := regexp.MustCompile(x.Needs.Pattern)
	for _, m := range messages {
		if match := pattern.FindStringSubmatch(m.Content); match != nil {
			x.found = match[1]
		}
	}
	if x.found == "" && !x.isSearched {
		return search(pattern, messages, folder)
	}
	x.Words = strings.ReplaceAll(x.Words, "{found}", x.found)
	return x
}

// artifact matches the path of a file that epitome names in the place of a result or in a summary.
var artifact = regexp.MustCompile(`(?:/|[A-Za-z]:\\)\S*[a-z2-7]{26}\.txt`)

// search returns a search for a pattern in the files that the messages name. They lie in a folder, whatever it is
// called there.
func search(pattern *regexp.Regexp, messages []message, folder string) step {
	var paths, found []string
	for _, m := range messages {
		paths = append(paths, artifact.FindAllString(m.Content, -1)...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, path := range paths {
		text, _ := os.ReadFile(filepath.Join(folder, filepath.Base(path))) // a lost file has no matches
		if match := pattern.Find(text); match != nil {
			found = append(found, filepath.Base(path)+": "+string(match))
		}
	}
	return step{Words: "The request no longer shows it. I look in the files that it names.", Tool: "grep",
		About:    english.Plural(len(paths), "stored file", ""),
		Args:     map[string]string{"pattern": pattern.String(), "path": strings.Join(paths, "\n")},
		Result:   cmp.Or(strings.Join(found, "\n"), "no matches"),
		isSearch: true}
}
