package line_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the help texts anew, to be read before they are committed")

// Each file of testdata/help.txtar is named by a command's words and a width.
func TestHelpIsWritten(t *testing.T) {
	path := filepath.Join("testdata", "help.txtar")
	want, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range want.Files {
		got := helpOf(t, file.Name)
		if want.Files[i].Data = []byte(got); !*update && got != string(file.Data) {
			t.Errorf("%s:\n%s\nwant\n%s", file.Name, got, file.Data)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func helpOf(t *testing.T, name string) string {
	t.Helper()
	var g grammar
	words := strings.Fields(name)
	width, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := newProgram(&g).Parse(append(words[:len(words)-1], "--help"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := parsed.Command.WriteHelp(&b, width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Whoever describes a command line sees what help shows, and what it leaves out.
func TestCommandsAreDescribed(t *testing.T) {
	program := newProgram(&grammar{})
	f := func(path string, want ...string) {
		t.Helper()
		c := program
		for word := range strings.FieldsSeq(path) {
			for _, child := range c.Commands() {
				if child.Name == word {
					c = child
				}
			}
		}
		got := []string{"of " + c.Path() + ":"}
		for _, child := range c.Leaves() {
			got = append(got, child.Path())
		}
		for _, f := range c.Flags() {
			values := strings.Join(f.KnownValues(), " ")
			got = append(got, strings.TrimSpace(f.String()+" "+f.Example()+" "+values+" "+f.Title()))
		}
		for _, a := range c.Arguments() {
			got = append(got, a.String()+" "+a.Placeholder())
		}
		if got, want := strings.Join(got, "\n"), strings.Join(want, "\n"); got != want {
			t.Errorf("%s, want\n%s", got, want)
		}
	}
	f("", "of :", "serve", "run", "bench load", "bench files", "shell", "--help", "--config FILE  For all commands:",
		"--mode MODE on off For all commands:", "--version")
	f("bench load", "of bench load:", "--json", "--check   For who works on it:", "--against FILE,...",
		"--dialect NAME chat messages",
		"--how HOW fast slow", "--at-once 8", "--rounds 12",
		"--seed 1", "--minutes 2", "--since TIME", "--lines A-B", "--first-one", "--last")
	f("bench files", "of bench files:", "--json", "--check   For who works on it:", "<name> ", "[<path> ...] PATHS")
	f("run", "of run:", "[<command> ...] ")
	f("bench inner", "of bench inner:")
}
