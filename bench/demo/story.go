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

var packages = strings.Fields("ledger settle fees payout fx refund audit tax report limits notify dispute")

// task is a job for the agent, about a package of the service that it works on.
type task struct {
	Number  int // from 0
	Package string
	Symbol  string // the function that everything in the package calls
	Trace   string // with which the package's test fails
	Again   bool   // the package was the subject before
	Service bool   // the agent also asks the running service
}

func newTask(n int) task {
	name := packages[n%len(packages)]
	return task{Number: n, Package: name, Symbol: "Round" + strings.ToUpper(name[:1]) + name[1:],
		Trace: fmt.Sprintf("tr-%08x", randomFor(name).Uint32()), Again: n >= len(packages), Service: n%2 == 0}
}

// randomFor returns random numbers for one thing: each time the same.
func randomFor(thing string) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256([]byte(thing))))
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

// step is one answer of the model, with the result of its call.
type step struct {
	Words, Tool, Result string
	Args                map[string]string
	NeedsTrace          bool // of the failed test

	needs *question // whose answer the model must know
	about string    // what a search reads
}

// steps returns the steps of a task.
func (t task) steps() (steps []step) {
	if err := json.Unmarshal([]byte(t.prop("steps", 0)), &steps); err != nil {
		panic("BUG: " + err.Error())
	}
	return steps
}

// message returns the step as the model's answer. The ID is that of its call.
func (x step) message(id string) message {
	m := message{Role: "assistant", Content: x.Words}
	if x.Tool != "" {
		function := fields{"name": x.Tool, "arguments": string(encode(x.Args))}
		m.Calls = encode([]fields{{"id": id, "type": "function", "function": function}})
	}
	return m
}

// String says in a few words what the step does.
func (x step) String() string {
	name, _, _ := strings.Cut(x.Tool, "_")
	object := cmp.Or(x.about, x.Args["pattern"], x.Args["path"], x.Args["url"], x.Args["command"])
	return strings.TrimPrefix(name+" "+object, "bash ")
}

// question is a question about an earlier turn.
type question struct {
	label   string
	pattern *regexp.Regexp // its first group is the answer
	want    string
}

// traceQuestion asks for the trace of the task's failed test.
func (t task) traceQuestion() *question {
	pattern := regexp.MustCompile("Test" + t.Symbol + ` trace=(tr-[0-9a-f]{8})`)
	return &question{"the trace of " + t.Package, pattern, t.Trace}
}

var changeNumber = &question{"the change number", regexp.MustCompile(`change number (CHG-[0-9]{5})`), "CHG-65806"}

// in returns the answer if the messages hold it.
func (q *question) in(messages []message) string {
	for _, m := range messages {
		if found := q.pattern.FindStringSubmatch(m.Content); found != nil {
			return found[1]
		}
	}
	return ""
}

// artifact matches the path of a file that epitome names in the place of a result or in a summary.
var artifact = regexp.MustCompile(`(?:/|[A-Za-z]:\\)\S*[a-z2-7]{26}\.txt`)

// search returns a search for the answer in the files that the messages name.
func (q *question) search(messages []message) step {
	var paths, found []string
	for _, m := range messages {
		paths = append(paths, artifact.FindAllString(m.Content, -1)...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, path := range paths {
		text, _ := os.ReadFile(path) // a lost file has no matches
		if match := q.pattern.Find(text); match != nil {
			found = append(found, filepath.Base(path)+": "+string(match))
		}
	}
	return step{Words: "The request no longer shows it. I look in the files that it names.", Tool: "grep",
		about:  english.Plural(len(paths), "stored file", ""),
		Args:   map[string]string{"pattern": q.pattern.String(), "path": strings.Join(paths, "\n")},
		Result: cmp.Or(strings.Join(found, "\n"), "no matches")}
}
