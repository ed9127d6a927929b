package rewritetest

import (
	"compress/gzip"
	"embed"
	"io"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

//go:embed testdata/outputs/manifest.toml testdata/outputs/*.txt.gz
var outputs embed.FS

// FailingOutput is one row of testdata/outputs/manifest.toml: what a tool printed that failed in the middle of much
// else.
type FailingOutput struct {
	Name    string   // of its script and its text
	Tool    string   // and version
	Command string   // that the agent gave
	Made    string   // what was broken on purpose
	Fails   []string // the lines that tell what went wrong, word for word; the first is the one to see
	JSON    bool     // that may be shown in another layout
}

// Outputs returns all rows of the manifest.
func Outputs(tb testing.TB) []FailingOutput {
	tb.Helper()
	raw, err := outputs.ReadFile("testdata/outputs/manifest.toml")
	if err != nil {
		tb.Fatal(err)
	}
	var list struct{ Output []FailingOutput }
	if err := toml.Unmarshal(raw, &list); err != nil {
		tb.Fatal(err)
	}
	return list.Output
}

// OutputText returns what the tool of the output with this name printed.
func OutputText(tb testing.TB, name string) string {
	tb.Helper()
	f, err := outputs.Open("testdata/outputs/" + name + ".txt.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}
