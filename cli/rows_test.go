package cli

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/rogpeppe/go-internal/testscript"
)

var rowsFile = flag.String("rows", "", "a file for the table of all rows that scripts have played")

// TestRows plays what a user would try, as docs/configuration.md and docs/operations.md tell it: each script of
// testdata/rows once for each API, which $API names (chat, messages or responses); a script that is for some of them
// begins with a condition like [!chat] skip. Besides the commands of TestScripts, which may have rows, too, they have
//
//	row [CMR] ID SENTENCE         begins a row, which holds if all goes well until the next; the letters are for scripts
//	                              that play several APIs by themselves
//	[!] shows FILE REGEXP         FILE matches; a row's first match stands in the table
//	model KEY=VALUE...            starts a strict provider of the three APIs; $model is its URL
//	begin [-again] NAME ARG...    serves like serve in front of the model, with NAME.toml if there is one; again, a
//	                              conversation is to go on as the last program sent it
//	turn [-h HEADER] [-set JSON] TALK
//	                              sends a conversation to the program that was begun last, with members set
//	play [-h HEADER] [-set JSON] [-at NAME] [-turns N-M] TALK
//	                              sends it as an agent would, one request for each answer of the model that it has, or
//	                              for the N-th to the M-th, to the program that was begun last or to another
//
// A TALK is a file of lines such as "user: Go on.", "agent: Yes.", "call bash {"command":"ls"}" and "= main.go", a call's
// result; see readTalk. Both commands write the last answer to the file answer, its request to sent.json and, in
// the form of a TALK, to sent.txt, the last request for a summary to asked.txt, and a line for each turn to turns.txt.
func TestRows(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts stop programs by signals, which Windows does not have")
	}
	for _, api := range []string{"chat", "messages", "responses"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir:       filepath.Join("testdata", "rows"),
				Cmds:      commands(),
				Condition: func(name string) (bool, error) { return name == api, nil },
				Setup: func(env *testscript.Env) error {
					env.Setenv("API", api)
					return setStage(env)
				},
			})
		})
	}
}

// A row is something that a user would try. It holds for an API once a script has shown it.
type row struct {
	id, sentence string
	holds        string // a letter for each API
	fails        string
	shown        string // the first thing that a script found
}

// table has the rows of all scripts.
var table struct {
	sync.Mutex
	rows map[string]*row
}

func (s *stage) row(args []string) {
	s.endRow()
	apis := "C"
	if api := s.Getenv("API"); api != "" {
		apis = strings.ToUpper(api[:1])
	}
	if strings.Trim(args[0], "CMR") == "" {
		apis, args = args[0], args[1:]
	}
	if len(args) != 2 {
		s.Fatalf("a row has an ID and a sentence")
	}
	s.open, s.openFor = row{id: args[0], sentence: args[1], shown: s.Name()}, apis
}

// endRow enters the row that a script is at into the table.
func (s *stage) endRow() {
	if s.open.id == "" {
		return
	}
	table.Lock()
	defer table.Unlock()
	if table.rows == nil {
		table.rows = map[string]*row{}
	}
	r := table.rows[s.open.id]
	if r == nil {
		first := s.open
		r = &first
		table.rows[r.id] = r
	}
	if s.tb.Failed() {
		r.fails += s.openFor
	} else {
		r.holds += s.openFor
	}
	s.open = row{}
}

func (s *stage) shows(args []string) {
	text := s.ReadFile(args[0])
	found := s.pattern(args[1]).FindString(text)
	if (found != "") == s.negated {
		s.Fatalf("%s:\n%s", args[0], text)
	}
	if !s.negated && s.open.shown == s.Name() {
		s.open.shown = found
	}
}

// withTable runs tests and writes the table.
type withTable struct{ *testing.M }

func (m withTable) Run() int {
	code := m.M.Run()
	if *rowsFile == "" {
		return code
	}
	err := os.WriteFile(*rowsFile, formatTable(), 0o644)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func formatTable() []byte {
	rows := make([]*row, 0, len(table.rows))
	for _, r := range table.rows {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.id, b.id) })
	var text bytes.Buffer
	out := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	failed := 0
	for _, r := range rows {
		holds := "yes"
		if r.fails != "" {
			holds = "NO: " + inOrder(r.fails)
			failed++
		}
		shown := strings.Join(strings.Fields(r.shown), " ")
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%.60s\n", r.id, inOrder(r.holds), holds, r.sentence, shown)
	}
	_ = out.Flush()
	fmt.Fprintf(&text, "%d rows, %d of them do not hold\n", len(rows), failed)
	return text.Bytes()
}

// inOrder returns the letters of APIs, each once.
func inOrder(letters string) string {
	all := []byte(letters)
	slices.Sort(all)
	return string(bytes.TrimSpace(slices.Compact(all)))
}
