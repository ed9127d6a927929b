package rewrite_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"epitome/dialect/conversation"
	"epitome/dialect/responses"
	"epitome/rewrite"
)

// An output that stands in JSON beside its exit code is cut, kept and quoted as its lines, and the JSON stays around it.
func TestWrappedOutputsAreReadAsLines(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "compiling part %d of the \"shop\"\n", i)
		if i == 400 {
			b.WriteString("fatal: part 400 needs more memory\n")
		}
	}
	output := b.String()
	wrapped := `{"output":` + quoted(output) + `,"metadata":{"exit_code":3,"duration_seconds":1.5}}`
	shapes := maps.Clone(keepAPIs)
	shell := keepAPIs["responses"]
	shell.called = func(id int, result string) string {
		return fmt.Sprintf(`{"type":"local_shell_call","call_id":"c%d","id":"c%[1]d","status":"completed",`+
			`"action":{"type":"exec","command":["make"],"env":{}}},`+
			`{"type":"local_shell_call_output","id":"c%[1]d","output":%s}`, id, quoted(result))
	}
	shell.dialect = responses.Dialect{}
	shapes["local shell"] = shell
	for name, api := range shapes {
		for id := range 2 {
			id = 4 + id // a string in one of them, a list in the other
			t.Run(fmt.Sprint(name, id), func(t *testing.T) {
				body := `{"model":"m",` + api.before + strings.Join([]string{api.said("Build it."), api.called(id, wrapped),
					api.said("Go on."), api.agents("Well."), api.said("Go on.")}, ",") + `]}`
				s := newStorage()
				limits := defaultLimits()
				limits.KeepTail = 100
				in := rewrite.Input{Dialect: api.dialect, Body: []byte(body), Limits: &limits}
				p := start(s)
				p.window.Store(200_000)
				out := p.Shape(in)
				r, err := api.dialect.Read(out.Body, nil)
				if err != nil {
					t.Fatal(err)
				}
				at := slices.IndexFunc(r.Items, func(it conversation.Item) bool { return it.Role == conversation.Tool })
				var sent struct {
					Output   string
					Metadata map[string]float64
				}
				if err := json.Unmarshal([]byte(r.TextOf(&r.Items[at])), &sent); err != nil {
					t.Fatalf("%v: %s", err, r.TextOf(&r.Items[at]))
				}
				if !strings.Contains(sent.Output, "\nfatal: part 400 needs more memory\n") || len(sent.Output) > len(output)/2 ||
					sent.Metadata["exit_code"] != 3 || sent.Metadata["duration_seconds"] != 1.5 {
					t.Errorf("sent: %s %v", sent.Output, sent.Metadata)
				}
				if !slices.Contains(slices.Collect(maps.Values(s.artifacts)), output) {
					t.Errorf("the output is none of %d artifacts", len(s.artifacts))
				}
				in.Compact = true
				out = p.Shape(in)
				if out.Report.Compacted == 0 || !strings.Contains(string(out.Body), `fatal: part 400 needs more memory\n`) ||
					!strings.Contains(string(out.Body), "exit code 3") {
					t.Errorf("compacted: %s", out.Body)
				}
			})
		}
	}
}
