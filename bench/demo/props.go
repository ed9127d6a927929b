package demo

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"text/template"
)

var packages = strings.Fields("ledger settle fees payout fx refund audit tax report limits notify dispute")

// task is one job for the agent: a package of the service that it works on. After the last one comes the first again.
type task struct {
	Number int // from 0
	seed   uint64
}

func (t task) Package() string { return packages[t.Number%len(packages)] }

// Round returns how often the package was the subject before.
func (t task) Round() int { return t.Number / len(packages) }

// Service reports whether the agent also asks the running service, which it does every second time.
func (t task) Service() bool { return t.Number%2 == 0 }

// Symbol returns the function that everything in the package calls.
func (t task) Symbol() string { return "Round" + strings.ToUpper(t.Package()[:1]) + t.Package()[1:] }

// Trace returns the trace with which the package's test fails.
func (t task) Trace() string {
	return fmt.Sprintf("tr-%08x", dice(t.seed, "trace "+t.Package()).Uint32())
}

// Stuck returns the batch that is stuck in the service.
func (t task) Stuck() string {
	return fmt.Sprintf("bat_%s%08x", t.Package()[:2], dice(t.seed, "stuck "+t.Package()).Uint32())
}

// Change returns the change number of the release.
func (t task) Change() string {
	return fmt.Sprintf("CHG-%05d", 10_000+dice(t.seed, "change").IntN(90_000))
}

// dice returns random numbers for one thing that no other thing changes.
func dice(seed uint64, thing string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(thing)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

//go:embed props.tmpl
var propsText string

var vocabulary = strings.Fields("Settle Post Match Accrue Reverse Allocate Convert Clear Split Carry Quote Reserve " +
	"Batch Entry Invoice Charge Payout Fee Rate Window Balance Hold Refund Mandate Gross Net Rest Share Delta Limit")

// prop returns a text from the templates, such as a source file. Size is its number of functions or lines.
func (t task) prop(name string, size int) string {
	d := dice(t.seed, fmt.Sprint(name, t.Number, size))
	word := func() string { return vocabulary[d.IntN(len(vocabulary))] }
	funcs := template.FuncMap{
		"Word": word, "word": func() string { return strings.ToLower(word()) },
		"number": func(most int) int { return 1 + d.IntN(most) },
		"hex":    func() string { return fmt.Sprintf("%08x", d.Uint32()) },
	}
	var b strings.Builder
	data := struct {
		task
		Size, Half int
	}{t, size, size / 2}
	if err := template.Must(template.New("").Funcs(funcs).Parse(propsText)).ExecuteTemplate(&b, name, data); err != nil {
		panic("BUG: " + err.Error())
	}
	return b.String()
}
