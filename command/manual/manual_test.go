package manual

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"epitome/command/line"
	"epitome/internal/need"
)

// grammar is a command line with everything that a description may hold.
type grammar struct {
	Mode   string `placeholder:"MODE" words:"on,off" help:"What it does. Default: on."`
	Folder string `placeholder:"FOLDER" group:"late" help:"Where it lies."`
	Secret string `hidden:"" help:"Nothing to see."`

	Serve struct{} `cmd:"" default:"" help:"Run it."`
	Run   struct {
		Command []string `arg:"" optional:"" passthrough:"" help:"What to run."`
	} `cmd:"" help:"Run something else."`
	Bench struct {
		Load struct {
			Dialect string `placeholder:"NAME" enum:",chat,messages" default:"" help:"What's asked [for]: one of \"two\"."`
			Page    string `placeholder:"FILE" help:"A file - or .none of it."`
			Quick   bool   `short:"q" help:"Be quick."`
		} `cmd:"" help:"Measure."`
		Inner struct{} `cmd:"" hidden:"" help:"Not to be seen."`
	} `cmd:"" help:"Measure something."`
	Shell struct {
		Name string `arg:"" enum:"bash,zsh" help:"The shell."`
	} `cmd:"" help:"Say something for a shell."`
}

func described() *line.Command {
	return line.New(line.About{Name: "prog", Help: "A program. It does much.",
		Groups: []line.Group{{Key: "late", Title: "Last of all:"}}}, &grammar{})
}

func TestPageHasWhatTheParserReads(t *testing.T) {
	page := Page(described(), Edition{"v1.2.3", "2026-11-21"})
	for _, want := range []string{
		".TH PROG 1 \"2026-11-21\" \"prog v1.2.3\" \"\"\n", "prog \\- A program\n", `\fBprog bench load\fR [\fIflags\fR]`,
		`.SS "prog shell <name>"`, ".TP\n\\fB\\-q, \\-\\-quick\\fR\nBe quick.\n", `\fB\-\-page\fR=\fIFILE\fR`,
		"What\\(aqs asked [for]: one of \"two\".\n", "Last of all:\n.TP\n\\fB\\-\\-folder\\fR",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q does not stand in\n%s", want, page)
		}
	}
	for _, hidden := range []string{"secret", "Not to be seen"} {
		if strings.Contains(page, hidden) {
			t.Errorf("%q stands in the page, and is hidden", hidden)
		}
	}
}

func TestEscapedWordsAreNoRoff(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := escape(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	f(".so /etc/passwd", `\&.so /etc/passwd`)
	f(`'quoted' \fB`, `\(aqquoted\(aq \efB`)
	f("--flag", `\-\-flag`)
}

// Each case is a line up to the cursor, and what is offered there.
func TestBashOffersWhatMayFollow(t *testing.T) {
	script := written(t, "bash")
	f := func(line, want string) {
		t.Helper()
		try := `source "$1"; shift; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _prog; echo "${COMPREPLY[*]}"`
		args := append([]string{"-c", try, "bash", script}, strings.Split(line, "|")...)
		if got := output(t, "bash", args...); got != want {
			t.Errorf("%s: offered %q, want %q", line, got, want)
		}
	}
	f("prog|", "serve run bench shell")
	f("prog|bench|", "load")
	f("prog|be", "bench")
	f("prog|bench|load|--dialect|", "chat messages")
	f("prog|bench|load|--dialect|=|m", "messages")
	f("prog|bench|load|--dialect|=", "chat messages")
	f("prog|bench|load|--p", "--page")
	f("prog|bench|load|--mo", "--mode")
	f("prog|--mode|o", "on off")
	f("prog|bench|load|--mode|of", "off")
	f("prog|shell|", "bash zsh")
	f("prog|--se", "")
	f("prog|run|agent|--mo", "")
	f("prog|run|--|bas", output(t, "bash", "-c", "compgen -c bas | tr '\\n' ' ' | sed 's/ $//'"))
	f("prog|bench|load|--page|"+script[:len(script)-1], script)
}

func TestFishOffersWhatMayFollow(t *testing.T) {
	script := written(t, "fish")
	f := func(line, want string) {
		t.Helper()
		got := output(t, "fish", "--no-config", "-c", `source $argv[1]; complete -C $argv[2] | string split -f1 \t; true`, script, line)
		if got = strings.Join(strings.Fields(got), " "); got != want {
			t.Errorf("%s: offered %q, want %q", line, got, want)
		}
	}
	f("prog ", "bench run serve shell")
	f("prog bench ", "load")
	f("prog bench load --dialect ", "chat messages")
	f("prog bench load --q", "--quick")
	f("prog bench load --mode ", "off on")
	f("prog shell ", "bash zsh")
	f("prog --se", "")
}

// That zsh reads its script is all that shows without a terminal.
func TestZshReadsItsScript(t *testing.T) {
	script := written(t, "zsh")
	try := `autoload -U compinit; compinit -u -D; source $1; print $_comps[prog]; whence _prog_bench_load >/dev/null && print there`
	if got := output(t, "zsh", "-f", "-c", try, "zsh", script); got != "_prog\nthere" {
		t.Errorf("zsh says %q", got)
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"'--dialect=[Whats asked (for), one of \"two\"]:NAME:(chat messages)'",
		"'--page=[A file - or .none of it]:FILE:_files'", "'--folder=[Where it lies]:FOLDER:_files -/'", "'--quick[Be quick]'"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not stand in\n%s", want, text)
		}
	}
}

func TestOtherShellsAreRefused(t *testing.T) {
	if text, err := Completion(described(), "tcsh"); err == nil || !strings.Contains(err.Error(), "bash, zsh or fish") {
		t.Errorf("%q, %v", text, err)
	}
}

// written is a file with the completions for a shell, which must be here.
func written(t *testing.T, shell string) string {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		need.Skip(t, "there is no %s", shell)
	}
	text, err := Completion(described(), shell)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return strings.TrimSpace(string(out))
}
