package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"epitome/rewrite/chat"
)

// shown is one file of testdata/shown: texts of one kind as a model sees them, each under a line that says when.
type shown struct {
	file string
	show func(t *testing.T, p *showing)
}

// showing collects the texts of one file.
type showing struct {
	t     *testing.T
	texts []string
}

// add takes in what a model sees at some time.
func (p *showing) add(when string, texts ...string) {
	p.t.Helper()
	if len(texts) == 0 {
		p.t.Errorf("%s: nothing is shown", when)
	}
	p.texts = append(p.texts, "#### "+when+"\n\n")
	for _, s := range texts {
		p.texts = append(p.texts, strings.TrimRight(s, "\n")+"\n\n")
	}
	p.texts = append(p.texts, "\n")
}

// TestEveryTextAModelIsShown writes and holds testdata/shown, to be read from top to bottom by a person.
func TestEveryTextAModelIsShown(t *testing.T) {
	for i, s := range allShown {
		t.Run(s.file, func(t *testing.T) {
			p := &showing{t: t}
			s.show(t, p)
			path := filepath.Join("testdata/shown", fmt.Sprintf("%02d-%s.txt", i+1, s.file))
			got := strings.Join(p.texts, "")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(path); err != nil || string(want) != got {
				t.Errorf("%s is not what is shown: go test ./rewrite -run EveryText -update: %v", path, err)
			}
		})
	}
}

// textRooms are the rooms whose texts a model may be shown.
var textRooms = []string{"abridge", "addition", "compact", "ladder", "outline", "plan", "recap", "recap/agenda",
	"recap/deed", "recap/filing", "recap/intext", "recap/spoken", "runs"}

// TestNoTextOfAModelIsForgotten wants each sentence of the rooms that write texts in testdata/shown, or not-shown.txt
// there: reasons for logs and reports, and texts that no scene brings about.
func TestNoTextOfAModelIsForgotten(t *testing.T) {
	files, err := filepath.Glob("testdata/shown/*.txt")
	if others := 3; err != nil || len(files) != len(allShown)+others { // not-shown.txt, what summarize asks, memories
		t.Errorf("%d files, and %d kinds of texts: %v", len(files)-others, len(allShown), err)
	}
	seen := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen += string(text)
	}
	for _, room := range textRooms {
		sources, _ := filepath.Glob(room + "/*.go")
		for _, file := range sources {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, s := range sentencesIn(t, file) {
				if !strings.Contains(seen, s) {
					t.Errorf("%s: no file of testdata/shown has %q: add a scene to allShown, or the text to not-shown.txt",
						file, s)
				}
			}
		}
	}
}

// verbs part a format into what is written as it stands.
var verbs = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z%]|[\n\t"]`)

// sentencesIn returns the runs of three words and more of a file's string literals. Errors are none.
func sentencesIn(t *testing.T, file string) (list []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			silent := []string{"fmt.Errorf", "errors.New", "pattern.Of", "regexp.MustCompile"}
			if slices.Contains(silent, types.ExprString(c.Fun)) {
				return false
			}
		}
		l, ok := n.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return true
		}
		text, _ := strconv.Unquote(l.Value)
		for _, run := range verbs.Split(text, -1) {
			if run = strings.TrimSpace(run); strings.Count(run, " ") >= 2 {
				list = append(list, run)
			}
		}
		return true
	})
	return list
}

// changed returns the texts of the messages that are sent in another form than that in which they came. Messages of the
// assistant stand there as they are, calls and all.
func changed(t *testing.T, a *agent, out Output) (list []string) {
	t.Helper()
	r, err := chat.Read(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Items {
		raw := string(r.Items[i].Of(out.Body))
		if slices.Contains(a.items, raw) {
			continue
		}
		texts := strings.Join(textsOf(r, &r.Items[i]), "\n")
		if strings.Contains(raw, `"tool_calls"`) {
			texts = raw
		}
		list = append(list, texts)
	}
	return list
}

// readable is an agent whose limits leave texts that a person reads at once.
func readable(window int) *agent {
	a := newAgent(window, userSays(theTask))
	a.limits.Floor, a.limits.OffloadShare = 100, 1
	a.limits.Offload, a.limits.OffloadKeep = 1_500, 450
	a.limits.OffloadReads, a.limits.ReadsKeep = 1_500, 450
	return a
}

// result is what a model sees of the result of one call.
func result(t *testing.T, a *agent, tool, arguments, output string) string {
	t.Helper()
	a.does(tool, arguments, output)
	out := a.ask(t)
	text := changed(t, a, out)
	if len(text) == 0 {
		t.Fatalf("%s %s is sent as it came", tool, arguments)
	}
	return text[len(text)-1]
}
