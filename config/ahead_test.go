package config

import (
	"slices"
	"strings"
	"testing"

	"epitome/config/configtest"
)

// A setting of which nothing comes is told, with the line in which it stands and what would help.
func TestDistillThatDoesNothingIsTold(t *testing.T) {
	const local = "\n[upstreams.here]\nurl = \"http://localhost:11434/v1\"\n"
	const distill = "[summarize]\ndistill = true\nmodel = \"small\"\n"
	f := func(text string, idle ...string) {
		t.Helper()
		path := written(t, text)
		c, err := Load(configtest.Text(), path, Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, err := range CheckAhead(c) {
			said := strings.ReplaceAll(err.Error(), path, "FILE")
			name, _, _ := strings.Cut(strings.TrimPrefix(said[strings.Index(said, " the upstream "):], " the upstream "), ":")
			if got = append(got, name); !strings.Contains(said, "summarize.distill does nothing") || !strings.Contains(said, `prepare = "on"`) ||
				!strings.HasPrefix(said, "FILE:") {
				t.Errorf("%s", said)
			}
		}
		if !slices.Equal(got, idle) {
			t.Errorf("%s\nit does nothing for %v, want %v", text, got, idle)
		}
	}
	f(local)
	f(distill)
	f(distill+local, "here")
	f("upstream = \"here\"\n"+distill+local, "here")
	f("upstream = \"here\"\n" + distill + "prepare = \"on\"\n" + local)
	f("upstream = \"here\"\n" + distill + "upstream = \"openai\"\n" + local)
	f(distill + "upstream = \"here\"\n" + local) // it is there to be asked
	f("upstream = \"here\"\n"+distill+"upstream = \"here\"\n"+local, "here")
}
