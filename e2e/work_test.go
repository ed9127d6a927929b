//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"epitome/internal/fakeapi"
)

// task is what the user asks of an agent.
const task = `Customers see a difference of a cent in sums of this repository.

Rule: never change money.Parse, others depend on it.
Rule: amounts are rounded half to even, once, after the sum.

Go through the packages ledger, settle, fees, payout and fx one by one: find where a package loses the cent, fix it,
run its tests with ./check PACKAGE, and look at what the service answers with ./fetch PACKAGE. At the end say which
batch is stuck, and why.`

// packages are those that the user names; an agent with turns left begins again.
var packages = []string{"ledger", "settle", "fees", "payout", "fx"}

// closing is what the model says at the end, and nothing else has.
const closing = "Done: all packages round half to even, once. Batch B-141 is stuck, because its hold was never lifted."

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

	mu    sync.Mutex // guards what follows
	moves [][]fakeapi.Part
	last  func(body []byte) []fakeapi.Part // the moves behind the planned ones; nil for none
}

// newWork writes a repository for so many turns of an agent with these tools, and plans what the model does in them.
func newWork(t *testing.T, turns int, agent tools) *work {
	w := &work{dir: t.TempDir(), tools: agent}
	w.file(t, "check", `#!/bin/sh
if grep -q HalfEven $1/$1.go; then cat .out/$1.pass; else cat .out/$1.fail; exit 1; fi
`)
	w.file(t, "fetch", "#!/bin/sh\ncat .out/$1.json\n")
	for k := 0; len(w.moves) < turns; k++ {
		w.plan(t, packages[k%len(packages)])
	}
	w.moves = w.moves[:turns]
	return w
}

// answer is the model: it makes the next move wherever it has tools. Beside the session agents ask for titles and the
// like.
func (w *work) answer(x fakeapi.Exchange) []fakeapi.Part {
	if text := fakeapi.Summary(x.Body); text != "" {
		return []fakeapi.Part{fakeapi.Text(text)}
	}
	if !w.asks(x.Body) {
		return []fakeapi.Part{fakeapi.Text("Cents in sums")}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.moves) > 0 {
		next := w.moves[0]
		w.moves = w.moves[1:]
		return next
	}
	if last := w.last; last != nil {
		w.last = nil
		if parts := last(x.Body); parts != nil {
			return parts
		}
	}
	return []fakeapi.Part{fakeapi.Text(closing)}
}

// asks reports whether a request is one of the session.
func (w *work) asks(body []byte) bool {
	return bytes.Contains(body, []byte(`"name":"`+w.tools.bash+`"`)) && !compacts(body) && fakeapi.Summary(body) == ""
}

// compacts reports whether an agent asks for a compaction of its own.
func compacts(body []byte) bool {
	return bytes.Contains(body, []byte(`{"type":"compaction_trigger"}`)) ||
		bytes.Contains(body, []byte("You are performing a CONTEXT CHECKPOINT COMPACTION"))
}

func (w *work) file(t *testing.T, name, content string) {
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// lines is a text of some 20 KB, of which each line stands nowhere else.
func lines(format, of string) string {
	var text strings.Builder
	for n := 0; text.Len() < 20_000; n++ {
		fmt.Fprintf(&text, format+"\n", of, n, n*n%997)
	}
	return text.String()
}

// plan writes a package and what commands on it print, and adds what the model does with it.
func (w *work) plan(t *testing.T, pkg string) {
	const round = "func Round(a money.Amount) money.Amount {\n\tcents := a.Cents()\n\treturn cents.Floor()\n}\n\n"
	const function = "func %[1]sStep%[2]d(in money.Amount) money.Amount { return in.Scale(%[2]d).Plus(%[3]d) }"
	w.file(t, pkg+"/"+pkg+".go", "package "+pkg+"\n\n"+round+lines(function, pkg))
	w.file(t, pkg+"/totals.go", "package "+pkg+"\n\n"+lines(function, pkg+"Total"))
	w.file(t, pkg+"/rates.go", "package "+pkg+"\n\n"+lines(function, pkg+"Rate"))
	const failure = "--- FAIL: TestRound: got 12.35, want 12.34\n"
	w.file(t, ".out/"+pkg+".fail", lines("ok   %s part %d in %d ms", pkg)+failure)
	w.file(t, ".out/"+pkg+".pass", lines("ok   %s part %d passes in %d ms", pkg))
	w.file(t, ".out/"+pkg+".json", lines(`{"package":"%s","batch":"B-%d","cents":%d,"state":"settled"}`, pkg))
	name := fmt.Sprintf("cents%d_test.go", len(w.moves)) // an agent may refuse to write over what it has not read
	w.move("I look where package %s rounds.", pkg, w.shell("grep -rn 'Step1' %s | head -c 20000", pkg))
	w.move("The core of %s first.", pkg, w.readFile(pkg+"/"+pkg+".go"))
	w.move("Package %s has two more files.", pkg, w.readFile(pkg+"/totals.go"), w.readFile(pkg+"/rates.go"))
	w.move("The tests of %s as they are.", pkg, w.shell("./check %s", pkg))
	w.move("Decision: package %s rounds half to even, once, after the sum.", pkg,
		w.editFile(pkg+"/"+pkg+".go", "cents.Floor()", "cents.HalfEven()"), w.shell("./check %s", pkg))
	w.move("The service's answer for %s? A batch that was rounded wrongly should be stuck.", pkg,
		w.shell("./fetch %s", pkg))
	w.move("A test of its own for package %s.", pkg, w.writeFile(pkg+"/"+name, lines("// %s case %d: %d cents", pkg)))
	w.move("Once more the code of %s as it is now.", pkg, w.shell("cat %s/%s.go", pkg, pkg),
		w.readFile(pkg+"/totals.go"))
}

// move has the model think, say something of a package and make calls.
func (w *work) move(words, pkg string, calls ...fakeapi.Part) {
	words = fmt.Sprintf(words, pkg)
	thought := fmt.Sprintf("Step %d. %s", len(w.moves)+1, strings.Repeat(words+" The cent must not be lost again. ", 8))
	w.moves = append(w.moves, append([]fakeapi.Part{fakeapi.Think(thought), fakeapi.Text(words)}, calls...))
}

// call calls a tool with arguments that are strings: names and values.
func call(tool string, arguments ...string) fakeapi.Part {
	all := map[string]string{}
	for i := 0; i < len(arguments); i += 2 {
		all[arguments[i]] = arguments[i+1]
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return fakeapi.Call("", tool, string(text))
}

func (w *work) shell(format string, args ...any) fakeapi.Part {
	return call(w.tools.bash, w.tools.command, fmt.Sprintf(format, args...), "description", "Runs a command")
}

func (w *work) readFile(name string) fakeapi.Part {
	if w.tools.read == "" {
		return w.shell("cat %s", name)
	}
	return call(w.tools.read, w.tools.path, filepath.Join(w.dir, name))
}

func (w *work) editFile(name, old, now string) fakeapi.Part {
	switch {
	case w.tools.patch != "":
		return w.patch("*** Update File: " + name + "\n@@\n-\treturn " + old + "\n+\treturn " + now + "\n")
	case w.tools.edit == "":
		return w.shell("sed -i 's/%s/%s/' %s", old, now, name)
	}
	return call(w.tools.edit, w.tools.path, filepath.Join(w.dir, name), w.tools.old, old, w.tools.now, now)
}

func (w *work) writeFile(name, content string) fakeapi.Part {
	switch {
	case w.tools.patch != "":
		added := strings.ReplaceAll(strings.TrimSuffix(content, "\n"), "\n", "\n+")
		return w.patch("*** Add File: " + name + "\n+" + added + "\n")
	case w.tools.write == "":
		return w.shell("cat > %s <<'END'\n%sEND", name, content)
	}
	return call(w.tools.write, w.tools.path, filepath.Join(w.dir, name), "content", content)
}

func (w *work) patch(change string) fakeapi.Part {
	return fakeapi.Custom(w.tools.patch, "*** Begin Patch\n"+change+"*** End Patch\n")
}

// leastCached is the share of all input tokens, in percent, that has to come from the provider's cache.
const leastCached = 60

// judge holds what reached the provider to what is promised of a session with so many turns.
func (w *work) judge(t *testing.T, p *fakeapi.Provider, turns int) {
	t.Helper()
	answered, tooLong, input, cached := 0, 0, 0, 0
	for _, x := range posts(p) {
		switch {
		case x.Refusal != nil && x.Refusal.TooLong():
			tooLong++
		case x.Refusal != nil:
			t.Errorf("the provider refused %s: %v", x.Target, x.Refusal)
		case !x.Counting && w.asks(x.Body):
			answered, input, cached = answered+1, input+x.Usage.Input, cached+x.Usage.Read
		}
	}
	if tooLong > 1 || answered < turns+1 {
		t.Errorf("%d requests were answered, want %d; %d were too long, want at most one, by which the window is "+
			"learned", answered, turns+1, tooLong)
	}
	// an agent without markers has no cache
	if share := 100 * cached / max(input, 1); cached > 0 && share < leastCached {
		t.Errorf("%d%% of the input tokens came from the cache, want %d%%", share, leastCached)
	}
}

var artifact = regexp.MustCompile(`[\w/.-]+/artifacts/\w+\.txt`)

// judgeArtifacts holds that the last request sends the model to files that lie there.
func judgeArtifacts(t *testing.T, p *fakeapi.Provider) {
	t.Helper()
	all := posts(p)
	named := artifact.FindAllString(string(all[len(all)-1].Body), -1)
	if len(named) == 0 {
		t.Error("the last request names no artifact: nothing was taken out, and the session shows nothing")
	}
	for _, path := range named {
		if file, err := os.Stat(path); err != nil || file.Size() == 0 {
			t.Errorf("the last request sends the model to %s, where there is nothing (%v)", path, err)
		}
	}
}

// judge holds what the client saw and sent to what is promised: no error, and all to the byte until something was taken
// out.
func (p *tap) judge(t *testing.T, provider *fakeapi.Provider) {
	t.Helper()
	var sent [][]byte
	for _, x := range posts(provider) {
		if fakeapi.Summary(x.Body) == "" {
			sent = append(sent, x.Body)
		}
	}
	untouched, rescues, whole := 0, 0, true
	for i, s := range p.passages {
		if fault := s.fault(); fault != "" {
			t.Errorf("the client's request %d was answered with an error: %s", i+1, tail(fault))
		}
		if s.action == "rescue" {
			rescues++
		}
		if whole = whole && s.action == "none"; whole {
			untouched++
			if i >= len(sent) || !bytes.Equal(sent[i], s.body) {
				t.Errorf("request %d, in which nothing was rewritten, is not what the client sent", i+1)
			}
		}
	}
	if rescues > 1 || untouched < 1 || untouched == len(p.passages) {
		t.Errorf("%d of %d requests passed unchanged, and %d were rescued", untouched, len(p.passages), rescues)
	}
}

// tail is the end of a long text.
func tail(text string) string { return strings.TrimSpace(text[max(0, len(text)-4000):]) }
