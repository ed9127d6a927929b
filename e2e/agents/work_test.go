//go:build e2e

package agents_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"epitome/bench/sessions"
	"epitome/e2e/sdktest"
)

// task is what the user asks of an agent.
const task = `Customers see a difference of a cent in sums of this repository.

Rule: never change money.Parse, others depend on it.
Rule: amounts are rounded half to even, once, after the sum.

Go through the packages ledger, settle, fees, payout and fx one by one: find where a package loses the cent, fix it,
run its tests with ./check PACKAGE, and look at what the service answers with ./fetch PACKAGE. At the end say which
batch is stuck, and why.`

// packages are those that the user names; an agent with time left begins again.
var packages = []string{"ledger", "settle", "fees", "payout", "fx"}

// resultBytes is about what one result brings.
const resultBytes = 20_000

// tools are what an agent calls its tools for files and commands. "" is one that it lacks.
type tools struct {
	bash, read, edit, write string
	command                 string // argument of bash
	path, old, now          string // arguments of read, edit and write
	patch                   string // takes free text, and does what edit and write do
}

// work is a repository in a folder, and the model that works on it.
type work struct {
	dir   string
	tools tools
	think bool              // where the request allows it
	core  map[string]string // the file of each package that rounds

	mu    sync.Mutex // guards what follows
	moves []move
	// last makes the move behind the planned ones, if it can tell from the request what to do. nil: there is none
	last func(body []byte) (move, bool)
}

// move is what the model says in one turn, and which tools it calls.
type move struct {
	thought string
	words   string
	calls   []call
}

// call calls a tool; input is JSON, unless the tool takes free text.
type call struct {
	tool, input string
	free        bool
	item        string // the whole of it, as Responses has it; empty: it is made of the others
}

// newWork writes a repository for so many turns of an agent with these tools, and plans what the model does in them.
func newWork(t *testing.T, turns int, agent tools, think bool) *work {
	w := &work{dir: t.TempDir(), tools: agent, think: think, core: map[string]string{}}
	for k := 0; len(w.moves) < turns; k++ {
		w.plan(t, k)
	}
	w.moves = w.moves[:turns]
	return w
}

// answer is the model: it makes the next move wherever it has tools.
func (w *work) answer(body []byte) move {
	if summary := sdktest.Summary(body); summary != "" {
		return move{words: summary}
	}
	if !w.asks(body) {
		return move{words: "Cents in sums"}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.moves) == 0 {
		if last := w.last; last != nil {
			w.last = nil
			if m, ok := last(body); ok {
				return m
			}
		}
		return move{words: closing}
	}
	next := w.moves[0]
	w.moves = w.moves[1:]
	return next
}

// asks tells whether a request is one of the session: beside it agents ask for titles and the like, without tools.
func (w *work) asks(body []byte) bool {
	return bytes.Contains(body, []byte(`"name":"`+w.tools.bash+`"`)) && !compacts(body) &&
		sdktest.Summary(body) == ""
}

// closing is what the model says at the end, and nothing else has.
const closing = "Done: all packages round half to even, once. Batch B-141 is stuck, because its hold was never lifted."

// plan adds what the model does with one package.
func (w *work) plan(t *testing.T, k int) {
	pkg := packages[k%len(packages)]
	s := sessions.Subject{Package: pkg, Symbol: "Round" + strings.ToUpper(pkg[:1]) + pkg[1:]}
	w.furnish(t, s)
	about := func(format string) string { return fmt.Sprintf(format, pkg, s.Symbol) }
	w.move(about("I look where package %s calls %s."), w.shell("grep -rn '%s(' %s | head -c %d", s.Symbol, pkg, resultBytes))
	w.move("The core of the package first.", w.readFile(pkg, pkg+".go"))
	w.move(about("And what it is built on: package %s has two more files that call %s."),
		w.readFile(pkg, "round.go"), w.readFile(pkg, "totals.go"))
	w.move(about("Now the tests of %s as they are, before I change %s."), w.shell("./check %s", pkg))
	w.move(about("Decision: package %s rounds half to even in %s, once, after the sum."),
		w.editFile(pkg, "cents.Floor()", "cents.HalfEven()"), w.shell("./check %s", pkg))
	w.move(about("What does the service answer for %s? A batch that %s rounded wrongly should be stuck."),
		w.shell("./fetch %s", pkg))
	w.move(about("A test of its own for package %s, so that %s stays as it is."),
		w.writeFile(pkg, "cents_test.go", sessions.TestSource(sessions.Dice(3, pkg), s)), w.shell("cat .out/%s.page", pkg))
	w.move("Once more what stands there now, and what has not changed.",
		w.shell("cat %s/%s.go", pkg, pkg), w.readFile(pkg, "round.go"))
}

func (w *work) move(words string, calls ...call) {
	m := move{words: words, calls: calls}
	if w.think {
		m.thought = fmt.Sprintf("Step %d. %s", len(w.moves)+1, sessions.Paragraph(sessions.Dice(1, words), 8))
	}
	w.moves = append(w.moves, m)
}

func (w *work) shell(format string, args ...any) call {
	return calling(w.tools.bash, map[string]string{w.tools.command: fmt.Sprintf(format, args...), "description": "Runs a command"})
}

func (w *work) readFile(pkg, name string) call {
	if w.tools.read == "" {
		return w.shell("cat %s/%s", pkg, name)
	}
	return calling(w.tools.read, map[string]string{w.tools.path: filepath.Join(w.dir, pkg, name)})
}

func (w *work) editFile(pkg, old, now string) call {
	if w.tools.patch != "" {
		name := filepath.Join(pkg, pkg+".go")
		line := "" // that has the old text, if the file is still as it was written
		for each := range strings.Lines(w.core[pkg]) {
			if strings.Contains(each, old) {
				line = each
			}
		}
		return w.patch("*** Update File: " + name + "\n@@\n-" + line + "+" + strings.Replace(line, old, now, 1))
	}
	if w.tools.edit == "" {
		return w.shell("sed -i 's/%s/%s/' %s/%s.go", old, now, pkg, pkg)
	}
	return calling(w.tools.edit, map[string]string{
		w.tools.path: filepath.Join(w.dir, pkg, pkg+".go"), w.tools.old: old, w.tools.now: now})
}

func (w *work) writeFile(pkg, name, content string) call {
	// the next round has another file: an agent may refuse to write over one that it has not read
	name = fmt.Sprintf("%d_%s", len(w.moves), name)
	if w.tools.patch != "" {
		lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
		return w.patch("*** Add File: " + filepath.Join(pkg, name) + "\n+" + strings.Join(lines, "\n+") + "\n")
	}
	if w.tools.write == "" {
		return w.shell("cat > %s/%s <<'END'\n%sEND", pkg, name, content)
	}
	return calling(w.tools.write, map[string]string{w.tools.path: filepath.Join(w.dir, pkg, name), "content": content})
}

// patch changes files by what each of them gets.
func (w *work) patch(change string) call {
	return call{tool: w.tools.patch, input: "*** Begin Patch\n" + change + "*** End Patch\n", free: true}
}

func calling(tool string, input map[string]string) call {
	text, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return call{tool: tool, input: string(text)}
}

// furnish writes a package, and what the commands on it print.
func (w *work) furnish(t *testing.T, s sessions.Subject) {
	file := func(name, content string) {
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.core[s.Package] = source(s, "core", resultBytes)
	file(filepath.Join(s.Package, s.Package+".go"), w.core[s.Package])
	file(filepath.Join(s.Package, "round.go"), source(s, "round", resultBytes/2))
	file(filepath.Join(s.Package, "totals.go"), source(s, "totals", resultBytes/2))
	id := func(i int) string { return fmt.Sprintf("B-%d", i) }
	file(".out/"+s.Package+".fail", fit(s.Package+"fail", func(k int, d *rand.Rand) string {
		return sessions.Failing(d, s, fmt.Sprintf("tr-%08x", 0xbadcafe+k), id)
	}))
	file(".out/"+s.Package+".pass", fit(s.Package+"pass", func(k int, d *rand.Rand) (all string) {
		for part := range k {
			all += sessions.Passing(d, sessions.Subject{Package: fmt.Sprintf("%s/part%d", s.Package, part), Symbol: s.Symbol})
		}
		return all
	}))
	file(".out/"+s.Package+".page", fit(s.Package+"page", func(k int, d *rand.Rand) string {
		return sessions.Page(d, "wiki.settle.internal", "rounding in "+s.Package, k)
	}))
	file(".out/"+s.Package+".json", sessions.Batches(sessions.Dice(7, s.Package), s.Package, id))
	file("check", "#!/bin/sh\nif grep -q HalfEven $1/$1.go; then cat .out/$1.pass; else cat .out/$1.fail; exit 1; fi\n")
	file("fetch", "#!/bin/sh\ncat .out/$1.json\n")
}

// fit returns the first text of about resultBytes; text makes the k-th. Agents keep much longer outputs to themselves.
func fit(of string, text func(k int, d *rand.Rand) string) string {
	for k := 1; ; k++ {
		if all := text(k, sessions.Dice(uint64(k), of)); len(all) > resultBytes*4/5 && len(all) < resultBytes*6/5 {
			return all
		}
	}
}

// source is a file of about so many bytes. Only the core has the function that rounds.
func source(s sessions.Subject, name string, size int) string {
	functions := 1
	text := ""
	for len(text) < size {
		text = sessions.Source(sessions.Dice(5, s.Package+name), s, functions)
		functions += 1 + (size-len(text))/2000
	}
	return text
}
