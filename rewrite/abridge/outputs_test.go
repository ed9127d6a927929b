package abridge

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"epitome/rewrite/plan/plantest"
)

// failingOutput is one row of testdata/outputs/manifest.toml: what a tool that failed once printed.
type failingOutput struct {
	Name    string   // of its script and its text
	Tool    string   // and version
	Command string   // that the agent gave
	Made    string   // what was broken on purpose, or where the text is public
	Fails   []string // the lines that tell what went wrong, word for word, in their order; the first is the one to see
}

// outputLimit is the limit of a result in a large window, in tokens.
const outputLimit = 8_000

// failingOutputs returns the rows of the manifest.
func failingOutputs(t *testing.T) []failingOutput {
	t.Helper()
	raw, err := os.ReadFile("testdata/outputs/manifest.toml")
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Output []failingOutput }
	if err := toml.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list.Output
}

// text returns what the tool printed.
func (o *failingOutput) text(t *testing.T) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata/outputs", o.Name+".txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// holdMiddle holds that the output is as the manifest says: over the limit, and silent of its failure at both ends.
func (o *failingOutput) holdMiddle(t *testing.T, text string, tokens int) {
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

// TestRealOutputsFailInTheirMiddle holds what the manifest says of each output.
func TestRealOutputsFailInTheirMiddle(t *testing.T) {
	for _, o := range failingOutputs(t) {
		t.Run(o.Name, func(t *testing.T) {
			text := o.text(t)
			p := planned(t, plantest.Command(o.Command, text))
			o.holdMiddle(t, text, shortening(t, p, 0, 0, 0).Tokens)
		})
	}
}
