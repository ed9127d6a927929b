//go:build !race

// Under the race detector a replay of many real conversations takes minutes; the others run there, too.

package replay

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"epitome/bench/baselines"
	"epitome/bench/policy"
	"epitome/bench/report"
	needs "epitome/internal/fakeapi"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// givingBack replaces the results before the newest ten by what names an artifact, twenty at a time: 14 tokens each. It
// is here to show that what the replay counts of changed messages is right.
type givingBack struct {
	masked int
	tokens []int             // of each result
	whole  map[string][]byte // the messages, by the names in their place
}

func (m *givingBack) Shape(body []byte, _ time.Time) (policy.Shaped, error) {
	r, err := chat.Dialect{}.Read(body, nil)
	if err != nil {
		return policy.Shaped{}, err
	}
	var results []conversation.Item
	for i, it := range r.Items {
		if it.Role != conversation.Tool {
			continue
		}
		if results = append(results, it); len(results) > len(m.tokens) {
			m.tokens = append(m.tokens, policy.Meter{}.ReadItem(r, i).Tokens)
		}
	}
	s := policy.Shaped{Body: body}
	if older := len(results) - 10; older-m.masked >= 20 {
		m.masked, s.Decided = older, true
	}
	var edits []jsonspan.Edit
	for i, it := range results[:m.masked] {
		if m.tokens[i] <= 14 {
			continue
		}
		name := fmt.Sprintf("%c%c%s", 'a'+i/26, 'a'+i%26, strings.Repeat("x", 24))
		m.whole[name] = bytes.Clone(it.Content.Of(body))
		edits = append(edits, jsonspan.Edit{Span: it.Content, With: []byte(`"taken: ` + name + `"`)})
	}
	if len(edits) > 0 {
		s.Body, err = jsonspan.Splice(body, edits)
	}
	return s, err
}

func givingBackPolicy() policy.Policy {
	return policy.Policy{Name: "mask, and give back", Open: func(policy.Setting) (policy.Shaping, error) {
		m := &givingBack{whole: make(map[string][]byte)}
		artifact := func(name string) ([]byte, bool) { text, known := m.whole[name]; return text, known }
		return policy.Shaping{Shaper: m, Artifact: artifact}, nil
	}}
}

// corpus returns the folder with real conversations that EPITOME_CORPUS names; without it the test is skipped. One that
// merely lies beside the repository is not taken, for a replay of all of it takes minutes.
func corpus(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("EPITOME_CORPUS")
	if _, err := os.Stat(folder); err != nil {
		needs.Skip(t, "no real conversations: EPITOME_CORPUS names no folder with chat-completions requests")
	}
	return folder
}

// The reference simulation is another program by the same definitions, which does not send bodies but counts what a
// policy would leave of each message. Its figures are of the corpus as it was when they were taken.
func TestReplayAgreesWithTheReferenceSimulation(t *testing.T) {
	folder := corpus(t)
	report, err := Run(t.Context(), Options{
		Paths: []string{folder}, Windows: []int{64_000, 200_000}, Policies: []policy.Policy{givingBackPolicy()},
		Progress: io.Discard, baselines: baselines.All(policy.Unit{})[:2],
	})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err = report.Print(&text); err != nil {
		t.Fatal(err)
	}
	t.Log(text.String())
	if report.Conversations != 35 || report.Requests != 3502 {
		t.Skipf("%d conversations with %d requests: the figures are of another corpus", report.Conversations,
			report.Requests)
	}
	// died, over, M tokens, cost, dearer, breaks, all, hot, recent, older, lines, user text
	reference := [][12]float64{
		{25, 1931, 269.3, 1.000, 0, 0.00, 41.3, 29.8, 28.8, 28.3, 27.3, 31.5},
		{0, 0, 135.1, 0.580, 2, 1.74, 96.8, 96.2, 99.6, 81.3, 94.5, 75.4},
		{16, 329, 124.3, 0.568, 0, 4.45, 87.6, 85.6, 87.8, 76.3, 85.1, 88.3},
		{4, 101, 269.3, 1.000, 0, 0.00, 96.7, 88.5, 88.0, 88.1, 87.4, 88.9},
		{0, 0, 254.9, 0.966, 2, 0.17, 100.0, 99.8, 100.0, 98.6, 99.7, 96.1},
		{0, 0, 124.3, 0.568, 0, 4.45, 97.1, 97.6, 100.0, 87.3, 96.3, 100.0},
	}
	allowed := [12]float64{0, 0, 0.1, 0.003, 0, 0.02, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2}
	for i, x := range report.Rows {
		got := [12]float64{float64(x.Died), float64(x.Over), float64(x.Tokens) / 1e6, *x.Cost, float64(x.Dearer),
			*x.BreaksPer100,
			*x.RecallAll, *x.Recall + *x.Bare, *x.Recent, *x.Older + *x.BareOlder, *x.Lines, *x.UserText}
		for j := range got {
			if math.Abs(got[j]-reference[i][j]) > allowed[j] {
				t.Errorf("%s in %d, figure %d: %.3f, the reference has %.3f", x.Policy, x.Window, j, got[j],
					reference[i][j])
			}
		}
		if x.Invalid+x.Unrecorded > 0 || x.Over == 0 && x.Policy == report.Subjects[0] &&
			*x.Retrievable < 100 {
			t.Errorf("%+v", x)
		}
	}
}

// simulated runs the reference simulation on a folder. Its tables come back by window and policy, by column; without
// the program the test is skipped. It stands beside the folder, or where EPITOME_SIMULATION says.
func simulated(t *testing.T, folder, windows string) map[string]map[string]string {
	t.Helper()
	program := os.Getenv("EPITOME_SIMULATION")
	if program == "" {
		program = filepath.Join(folder, "..", "policy", "sim.py")
	}
	if _, err := os.Stat(program); err != nil {
		needs.Skip(t, "no reference simulation: EPITOME_SIMULATION names no program")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		needs.Skip(t, "no reference simulation: python3 is not on PATH")
	}
	command := exec.CommandContext(t.Context(), python, program, folder, "--windows", windows, "--only",
		`^(raw|truncate oldest \(to|mask older than 10 \(b|clear_tool_uses|headroom|codex|opencode)`)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("the reference simulation: %v", err)
	}
	tables, window := make(map[string]map[string]string), ""
	var columns []string
	for line := range strings.Lines(string(out)) {
		if rest, title := strings.CutPrefix(line, "### W = "); title {
			window, _, _ = strings.Cut(rest, ",")
		}
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		switch {
		case cells[0] == "policy":
			columns = cells
		case len(cells) == len(columns):
			row := make(map[string]string)
			for i, column := range columns {
				row[column] = cells[i]
			}
			tables[window+" "+cells[0]] = row
		}
	}
	return tables
}

func TestBaselinesAgreeWithTheSimulator(t *testing.T) {
	folder := corpus(t)
	tables := simulated(t, folder, "32000,64000,128000,200000")
	outcome, _ := replayed(t, Options{Paths: []string{folder}, baselines: baselines.All(policy.Unit{})})
	names := map[string]string{
		baselines.RawName: "raw", baselines.TruncateName: "truncate oldest (to 50 %)",
		baselines.MaskName:     "mask older than 10 (batches of 20)",
		baselines.Clear100Name: "clear_tool_uses 100k", baselines.ClearHalfName: "clear_tool_uses 0.5 W",
		baselines.NewestName: "headroom newest-only", baselines.UsersName: "codex", baselines.ProtectName: "opencode",
	}
	for _, x := range outcome.Rows {
		want := tables[fmt.Sprint(x.Window, " ", names[x.Policy])]
		f := func(column string, got *float64, allowed float64) {
			t.Helper()
			text, _, _ := strings.Cut(want[column], "/")
			reference, err := strconv.ParseFloat(text, 64)
			if err != nil || got == nil || math.Abs(*got-reference) > allowed {
				t.Errorf("%s in %d, %s: %s, the simulation has %q", x.Policy, x.Window, column,
					report.Optional(got, "%.3f"), want[column])
			}
		}
		sum := func(a, b *float64) *float64 { v := *a + *b; return &v }
		exactly := func(n int) *float64 { v := float64(n); return &v }
		f("died", exactly(x.Died), 0)
		f("over", exactly(x.Over), 0)
		f("dearer", exactly(x.Dearer), 0)
		f("cost", x.Cost, 0.002)
		f("breaks/100", x.BreaksPer100, 0.02)
		f("recall all", x.RecallAll, 0.3) // which counts bare names too, and they are not told apart here
		f("hot b", sum(x.Recall, x.Bare), 0.1)
		f("hot recent", x.Recent, 0.3) // likewise
		f("hot older", sum(x.Older, x.BareOlder), 0.1)
		f("hot lines", x.Lines, 0.1)
		f("user text", x.UserText, 0.1)
		if x.Invalid+x.Unrecorded > 0 {
			t.Errorf("%+v, faults %q", x, outcome.Faults)
		}
	}
	if want := 4 * len(baselines.All(policy.Unit{})); len(outcome.Rows) != want {
		t.Errorf("%d rows, want %d", len(outcome.Rows), want)
	}
}
