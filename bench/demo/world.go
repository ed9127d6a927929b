package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"epitome/bench/sessions"
)

// world is the make-believe repository, and what the agent's tools answer there. It depends on the seed and on what
// was done to it, and on nothing else; only what epitome has put aside is read from the disk.
type world struct {
	seed  uint64
	files map[string]string
	runs  map[string]int // how often the tests of each package ran
	reads int            // how many files that epitome has written were read
	wrong []string       // calls that an agent which sees its conversation would not have made
}

func newWorld(seed uint64) *world {
	w := &world{seed: seed, files: map[string]string{}, runs: map[string]int{}}
	for i := range packages {
		t := taskAt(i)
		for k, path := range t.files {
			w.files[path] = sessions.Source(sessions.Dice(seed, "source "+path), t.subject(), [...]int{26, 11, 9}[k])
		}
	}
	return w
}

func (w *world) dice(of string) *rand.Rand { return sessions.Dice(w.seed, of) }

// change returns the number that the user tells.
func (w *world) change() string { return fmt.Sprintf("CHG-%05d", 10_000+w.dice("change").IntN(90_000)) }

// trace returns the trace of a package's failure.
func (w *world) trace(pkg string) string {
	return fmt.Sprintf("tr-%08x", w.dice("trace "+pkg).Uint32())
}

// batch returns the i-th batch of a package.
func (w *world) batch(pkg string, i int) string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
	d, id := w.dice(fmt.Sprintf("batch %s %d", pkg, i)), make([]byte, 10)
	for k := range id {
		id[k] = letters[d.IntN(len(letters))]
	}
	copy(id[6:], pkg[:2])
	return "bat_" + string(id)
}

func (w *world) failingLog(t task) string {
	return sessions.Failing(w.dice("failing "+t.pkg), t.subject(), w.trace(t.pkg),
		func(i int) string { return w.batch(t.pkg, i) })
}

func (w *world) passingLog(t task) string {
	return sessions.Passing(w.dice("passing "+t.pkg), t.subject())
}

// batches returns what the service answers.
func (w *world) batches(pkg string) string {
	return sessions.Batches(w.dice("batches "+pkg), pkg, func(i int) string { return w.batch(pkg, i) })
}

// truth returns the right answer to a probe.
func (w *world) truth(p *probe) string {
	for i := range packages {
		switch t := taskAt(i); p.label {
		case failureOf(t).label:
			return w.trace(t.pkg)
		case stuckIn(t).label:
			return w.batch(t.pkg, sessions.StuckAt)
		}
	}
	return w.change()
}

// run does what a tool is asked for.
func (w *world) run(c toolCall) string {
	var a struct {
		Path    string
		Pattern string
		Command string
		URL     string
		Old     string `json:"old_text"`
		New     string `json:"new_text"`
		Content string
		Limit   int
	}
	if err := json.Unmarshal([]byte(c.Function.Arguments), &a); err != nil {
		return w.mistake(c, "arguments are no JSON: "+err.Error())
	}
	switch c.Function.Name {
	case readTool:
		return w.read(c, a.Path, a.Limit)
	case searchTool:
		return w.grep(c, a.Pattern, a.Path)
	case editTool:
		return w.edit(c, a.Path, a.Old, a.New)
	case writeTool:
		w.files[a.Path] = a.Content
		return fmt.Sprintf("wrote %s: %d bytes", a.Path, len(a.Content))
	case shellTool:
		return w.shell(c, a.Command)
	case webTool:
		return w.web(c, a.URL)
	}
	return w.mistake(c, "there is no such tool")
}

func (w *world) mistake(c toolCall, why string) string {
	w.wrong = append(w.wrong, c.Function.Name+" "+c.Function.Arguments+": "+why)
	return "error: " + why
}

func (w *world) read(c toolCall, path string, limit int) string {
	content, ok := w.files[path]
	if !ok {
		return w.mistake(c, "no such file: "+path)
	}
	if limit > 0 {
		lines := strings.SplitAfter(content, "\n")
		content = strings.Join(lines[:min(limit, len(lines))], "")
	}
	return content
}

func (w *world) edit(c toolCall, path, old, fresh string) string {
	if old == "" || !strings.Contains(w.files[path], old) {
		return w.mistake(c, "old_text does not stand in "+path)
	}
	line := 1 + strings.Count(w.files[path][:strings.Index(w.files[path], old)], "\n")
	w.files[path] = strings.Replace(w.files[path], old, fresh, 1)
	return fmt.Sprintf("edited %s: 1 replacement, line %d", path, line)
}

// Bounds of what grep prints.
const (
	mostMatches = 40
	matchBefore = 60  // bytes of a line
	matchAfter  = 160 // likewise, the match included
)

// grep searches the repository, or the files named one to a line.
func (w *world) grep(c toolCall, pattern, path string) string {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return w.mistake(c, err.Error())
	}
	var b strings.Builder
	n := 0
	search := func(name, content string) {
		lines := 1
		for at := 0; n < mostMatches; n++ {
			m := re.FindStringIndex(content[at:])
			if m == nil {
				return
			}
			lines += strings.Count(content[at:at+m[0]], "\n")
			from, to := at+m[0], at+m[1]
			fmt.Fprintf(&b, "%s:%d: %s\n", name, lines, around(content, from, to))
			lines += strings.Count(content[from:to], "\n")
			at = to
		}
	}
	if path == "." {
		for _, name := range slices.Sorted(maps.Keys(w.files)) {
			search(name, w.files[name])
		}
	} else {
		for name := range strings.SplitSeq(path, "\n") {
			content, err := read(name)
			if err != nil {
				return w.mistake(c, err.Error())
			}
			w.reads++
			search("…"+name[max(0, len(name)-12):], string(content))
		}
	}
	if n == 0 {
		return "no matches"
	}
	return b.String()
}

// read returns what epitome has put under a path, or under a URL.
func read(name string) ([]byte, error) {
	if !strings.HasPrefix(name, "http") {
		return os.ReadFile(name)
	}
	resp, err := (&http.Client{Timeout: time.Minute}).Get(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("cannot fetch %s: status %d", name, resp.StatusCode)
	}
	return io.ReadAll(resp.Body)
}

// around returns a match with what stands beside it on its line.
func around(content string, from, to int) string {
	begin := max(strings.LastIndexByte(content[:from], '\n')+1, from-matchBefore)
	end := min(len(content), from+matchAfter)
	if n := strings.IndexByte(content[to:end], '\n'); n >= 0 {
		end = to + n
	}
	return strings.ToValidUTF8(content[begin:max(end, to)], "")
}

func (w *world) shell(c toolCall, command string) string {
	pkg, ok := strings.CutPrefix(command, "make test PKG=")
	i := slices.Index(packages[:], pkg)
	if !ok || i < 0 {
		return w.mistake(c, "command not found: "+command)
	}
	w.runs[pkg]++
	if w.runs[pkg]%2 == 1 {
		return w.failingLog(taskAt(i))
	}
	return w.passingLog(taskAt(i))
}

func (w *world) web(c toolCall, url string) string {
	for i := range packages {
		if t := taskAt(i); t.url() == url {
			return w.batches(t.pkg)
		}
	}
	return w.mistake(c, "404 not found: "+url)
}
