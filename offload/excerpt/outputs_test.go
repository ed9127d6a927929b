package excerpt

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"epitome/tokenize"
)

// failingOutput is a row of testdata/outputs/manifest.toml: the output of a tool that fails in its middle half.
type failingOutput struct {
	Name  string   // of its script and its text
	Fails []string // the lines that say why, word for word, the first of them first
	JSON  bool     // these lines may be shown in another layout
}

func failingOutputs(t *testing.T) []failingOutput {
	t.Helper()
	raw, err := os.ReadFile("testdata/outputs/manifest.toml")
	var list struct{ Output []failingOutput }
	err = errors.Join(err, toml.Unmarshal(raw, &list))
	if err != nil {
		t.Fatal(err)
	}
	return list.Output
}

func (o failingOutput) text(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/outputs/" + o.Name + ".txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shows reports whether an excerpt has a line of the output.
func (o failingOutput) shows(shown, line string) bool {
	bare := strings.NewReplacer(" ", "", "\n", ",")
	return strings.Contains("\n"+shown+"\n", "\n"+line+"\n") ||
		o.JSON && strings.Contains(bare.Replace(shown), strings.TrimSuffix(bare.Replace(line), ","))
}

// Excerpts of the outputs of 62 tools show the first line that says why they failed in at least 95 % of them, and at
// least 88 % of all such lines.
func TestTheFailingLineOfARealOutputIsVisible(t *testing.T) {
	const keep, slack = 2_000, 150 // tokens
	count := tokenize.CountString
	first, lines, seen := 0, 0, 0
	all := failingOutputs(t)
	for _, o := range all {
		text := o.text(t)
		holdLines(t, text, 1_000)
		if laidOut, ok := LaidOut(text, true); ok {
			text = laidOut
		}
		shown, _ := Lines(text, true, keep, count)
		if n := count(shown); n == 0 || n > keep+slack {
			t.Errorf("%s: %d tokens are shown", o.Name, n)
		}
		for i, line := range o.Fails {
			lines++
			if !o.shows(shown, line) {
				t.Logf("%s: not shown: %s", o.Name, line)
				continue
			}
			seen++
			if i == 0 {
				first++
			}
		}
	}
	t.Logf("first lines: %d of %d, all lines: %d of %d", first, len(all), seen, lines)
	if 100*first < 95*len(all) || 100*seen < 88*lines {
		t.Error("too few are shown")
	}
}
