package abridge

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/rewritetest"
)

var (
	show   = flag.String("show", "", "a folder for what a model sees of each real output")
	update = flag.Bool("update", false, "write docs/outputs.md, to be read before it is committed")
)

// The limits of a result in a large window, in tokens.
const (
	outputLimit = 8_000
	outputKeep  = 2_000
)

// holdMiddle holds that the output is as the manifest says: over the limit, and silent of its failure at both ends.
func holdMiddle(t *testing.T, o rewritetest.FailingOutput, text string, tokens int) {
	t.Helper()
	if tokens <= outputLimit {
		t.Errorf("%d tokens are no more than %d", tokens, outputLimit)
	}
	for _, line := range o.Fails {
		at := strings.Index("\n"+text, "\n"+line+"\n")
		if at < len(text)/4 || at > len(text)*3/4 {
			t.Errorf("%q stands at byte %d of %d", line, at, len(text))
		}
		if again := strings.LastIndex("\n"+text, "\n"+line+"\n"); again > len(text)*3/4 {
			t.Errorf("%q stands at byte %d of %d again", line, again, len(text))
		}
	}
}

// shownOf returns the lines of Fails that are shown whole.
func shownOf(o rewritetest.FailingOutput, shown string) (list []string) {
	bare := strings.NewReplacer(" ", "", "\n", ",")
	for _, line := range o.Fails {
		if strings.Contains("\n"+shown+"\n", "\n"+line+"\n") ||
			o.JSON && strings.Contains(bare.Replace(shown), strings.TrimSuffix(bare.Replace(line), ",")) {
			list = append(list, line)
		}
	}
	return list
}

// outputRow is what a model sees of one output.
type outputRow struct {
	rewritetest.FailingOutput
	tokens, kept int    // of the whole, of what is shown
	seen         int    // lines of Fails
	shown        string // in its place
}

// seeOutput shortens an output, and holds that the lines that tell are visible whole.
func seeOutput(t *testing.T, o rewritetest.FailingOutput) outputRow {
	t.Helper()
	text := rewritetest.OutputText(t, o.Name)
	p := planned(t, plantest.Command(o.Command, text))
	c := shortening(t, p, 0, outputLimit, outputKeep)
	holdMiddle(t, o, text, c.Tokens)
	shown, _, ok := c.Shorten()
	if !ok {
		t.Fatal("it is not shortened")
	}
	if *show != "" {
		if err := os.WriteFile(filepath.Join(*show, o.Name), []byte(shown), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	told := shownOf(o, shown)
	for _, line := range o.Fails {
		if !slices.Contains(told, line) {
			t.Errorf("not seen: %q", line)
		}
	}
	return outputRow{o, c.Tokens, p.Count(shown), len(told), shown}
}

// TestTheFailingLineOfARealOutputIsVisible shows each output as a model sees it at first sight. docs/outputs.md is held
// to that.
func TestTheFailingLineOfARealOutputIsVisible(t *testing.T) {
	const page = "../../docs/outputs.md"
	var rows []outputRow
	for _, o := range rewritetest.Outputs(t) {
		t.Run(o.Name, func(t *testing.T) { rows = append(rows, seeOutput(t, o)) })
	}
	if len(rows) < 30 {
		t.Errorf("%d outputs, and 30 are to be shown", len(rows))
	}
	got := outputPage(rows)
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(page); err != nil || string(want) != got {
		t.Errorf("docs/outputs.md is not what is seen: go test ./rewrite/abridge -run RealOutput -update; %v", err)
	}
}

const outputIntro = `# What a model sees of outputs that fail in their middle

Each output below is of a real tool in which something was broken on purpose. Each has more than 8 000 tokens, and the
lines that tell what went wrong stand in its middle half. epitome puts some 2 000 tokens in its place. The model sees
the failing line of every one, whole. A test holds that, and writes this page.

*Tokens* counts the whole output and what the model gets. *Seen* counts the lines that tell. Where one row stands for a
loop or for several commands, the runs before and after the failing one ended well.

`

const outputOutro = `
Not to be had where these were made: dotnet (xbuild of Mono writes messages of the same form), a Kubernetes server
(kubectl works on files here), providers of terraform (the failing resource is its own). The outputs and the scripts that
made them are in [rewrite/rewritetest/testdata/outputs](../rewrite/rewritetest/testdata/outputs).

## Three of them, whole
`

// outputPage is docs/outputs.md.
func outputPage(rows []outputRow) string {
	const longest = 100 // characters of a line in the table
	code := strings.NewReplacer("|", "\\|", "`", "'")
	var b, whole strings.Builder
	b.WriteString(outputIntro + "| tool | what is broken | tokens | seen | the failing line |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		line := []rune(strings.TrimSpace(r.Fails[0]))
		if len(line) > longest {
			line = append(line[:longest], '…')
		}
		fmt.Fprintf(&b, "| %s | %s | %d → %d | %d of %d | `%s` |\n",
			r.Tool, r.Made, r.tokens, r.kept, r.seen, len(r.Fails),
			code.Replace(string(line)))
		if slices.Contains([]string{"go-test", "make-gcc", "json-list"}, r.Name) {
			fmt.Fprintf(&whole, "\n`%s`, %s: %d of %d tokens.\n\n```text\n%s\n```\n",
				r.Command, r.Tool, r.kept, r.tokens, strings.TrimRight(r.shown, "\n"))
		}
	}
	return b.String() + outputOutro + whole.String()
}
