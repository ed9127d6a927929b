package demo

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"text/template"
)

// packages are those of the service that the agent works on. Each is the subject of one task in turn.
var packages = strings.Fields("ledger settle fees payout fx refund audit tax report limits notify dispute")

func packageOf(task int) string { return packages[task%len(packages)] }

// asksService reports whether a task has a request to the running service, which is every second one.
func asksService(task int) bool { return task%2 == 0 }

// symbolOf returns the function of a package that everything in it calls.
func symbolOf(pkg string) string { return "Round" + strings.ToUpper(pkg[:1]) + pkg[1:] }

// dice returns random numbers for one thing that no other thing changes.
func dice(seed uint64, thing string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(thing)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// traceOf returns the trace with which a package's test fails.
func traceOf(seed uint64, pkg string) string {
	return fmt.Sprintf("tr-%08x", dice(seed, "trace "+pkg).Uint32())
}

// stuckIn returns the batch of a package that is stuck.
func stuckIn(seed uint64, pkg string) string {
	return fmt.Sprintf("bat_%s%08x", pkg[:2], dice(seed, "stuck "+pkg).Uint32())
}

//go:embed props.tmpl
var propsText string

var vocabulary = strings.Fields("Settle Post Match Accrue Reverse Allocate Convert Clear Split Carry Quote Reserve Batch Entry " +
	"Invoice Charge Payout Fee Rate Window Balance Hold Refund Mandate Gross Net Rest Share Delta Limit Total Amount Quota Spread")

// prop returns a file's content or the result of a tool call from the templates. Variant makes it another one for the same
// package, and size is its number of functions or lines.
func prop(seed uint64, name, pkg, variant string, size int) string {
	d := dice(seed, name+" "+pkg+" "+variant)
	word := func() string { return vocabulary[d.IntN(len(vocabulary))] }
	t := template.Must(template.New("").Funcs(template.FuncMap{
		"Word": word, "word": func() string { return strings.ToLower(word()) },
		"number": func(most int) int { return 1 + d.IntN(most) },
		"hex":    func() string { return fmt.Sprintf("%08x", d.Uint32()) },
		"bar":    func(done, of int) string { return strings.Repeat("#", done*40/of) + strings.Repeat(".", 40-done*40/of) },
	}).Parse(propsText))
	var b strings.Builder
	err := t.ExecuteTemplate(&b, name, map[string]any{"Package": pkg, "Symbol": symbolOf(pkg), "Size": size, "Half": size / 2,
		"Trace": traceOf(seed, pkg), "Stuck": stuckIn(seed, pkg)})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return b.String()
}
