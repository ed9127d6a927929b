package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/prose"
)

// What another agent found is told in its words, and where the work stands by git's newest answer.
func TestWhatAnotherAgentFoundAndWhereTheWorkStandsIsTold(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	a.does("Task", `{"description":"Review refund","prompt":"Review refund/ strictly."}`,
		"I read the folder.\n\n1. refund/share.go:71 loops forever on no lines: it must be fixed.\n2. There is no test for KWD.\n\nThank you.\n")
	a.does("bash", `{"command":"git rev-parse HEAD"}`, "feedbee\n")
	a.does("bash", `{"command":"git status --porcelain"}`, "UU refund/round_up.go\n")
	a.does("bash", `{"command":"python3 - <<'EOF'\nopen('refund/round_up.go')\nEOF"}`, "exit code: 0\n")
	a.does("bash", `{"command":"git commit -m 'Round'"}`, "[fx-kwd c0ffe15] Round\n 1 file changed, 1 insertion(+)\n")
	a.does("bash", `{"command":"git rev-parse --short HEAD"}`, "0badcab\n")
	a.does("bash", `{"command":"git rev-parse --short HEAD"}`, "c0ffe15\n")
	a.does("bash", `{"command":"git status"}`, "On branch fx-kwd\nnothing to commit, working tree clean\n")
	a.does("bash", `{"command":"git status -sb"}`, "## fx-kwd...origin/fx-kwd [ahead 1]\n")
	a.answers("Done.", "Go on.")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	reads := partOf(text, "reads")
	for _, want := range []string{"\n> 1. refund/share.go:71 loops forever on no lines: it must be fixed.",
		"\n> 2. There is no test for KWD.", "\n> c0ffe15\n", "\n> ## fx-kwd...origin/fx-kwd [ahead 1]\n"} {
		if !strings.Contains(reads, want) {
			t.Errorf("%q is not told: %s", want, reads)
		}
	}
	for _, not := range []string{"0badcab", "feedbee", "UU", "On branch", "Thank you"} {
		if strings.Contains(reads, not) {
			t.Errorf("%q is told: %s", not, reads)
		}
	}
}

// What stands between slashes is a name where it is one of a file, a folder or a branch, and no choice of words.
func TestAChoiceOfWordsIsNoPath(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	for i := range 30 { // names are a small share of a summary: it has to have something else
		a.does("bash", fmt.Sprintf(`{"command":"make the %dth of all parts that there are, one behind another"}`, i), "done\n")
	}
	a.does("tracker", `{"note":"`+strings.Repeat("and on it goes ", 40)+`Each provider/agent and CLI/core pair runs. Look below shop/fees first: `+
		`shop/fees/half.go, on feat/round-2, as origin/main lacks it. See **/rounding.go there. `+
		`Settings lie in ~/.shop/fees.toml and .config/fees.yaml; *.fee.csv goes to /dev/null."}`, "noted")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	names := partOf(text, "names in your calls")
	for name, isTold := range map[string]bool{"provider": false, "CLI": false, "origin": false,
		"shop/fees/: half.go": true, "feat/: round-2": true, "\nrounding.go": true,
		"~/.shop/: fees.toml": true, ".config/: fees.yaml": true, "fee.csv": false, "/dev/": false} {
		if strings.Contains(names, name) != isTold {
			t.Errorf("%q is told: %v: %s", name, !isTold, names)
		}
	}
}

// What a tool answers that may have changed something is told apart from what was read.
func TestWhatActedIsNotToldAsARead(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	a.does("mcp__crm__get_record", `{"file":"till.fig","node":"n7"}`, "The layer waxBadge lies below refundPanel.\n")
	a.does("mcp__figma__batch_design", `{"file":"till.fig","operations":"I(\"n7\")"}`, "Layer inkFrame has no height: it is below zeroFrame.\n")
	a.does("mcp__crm__get_record", `{"file":"till.fig","node":"n8"}`, "The layer cashBadge lies below refundPanel.\n")
	a.does("mcp__figma__batch_design", `{"operations":"`+strings.Repeat("and on it goes ", 40)+`waxBadge inkFrame zeroFrame cashBadge refundPanel"}`, "done\n")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	reads, acts, ok := strings.Cut(partOf(text, "reads"), "answered by calls that may have changed something:\n")
	if !ok || !strings.Contains(acts, "mcp__figma__batch_design") || strings.Contains(reads, "batch_design") ||
		!strings.Contains(reads, "cashBadge") || !strings.Contains(reads, "waxBadge") || strings.Contains(acts, "cashBadge lies") {
		t.Errorf("%s", partOf(text, "reads"))
	}
}

// A line that was read is not told once a newer call took it out of its file, or wrote the file anew.
func TestALineThatIsOutOfDateIsNotTold(t *testing.T) {
	f := func(isTold bool, edits ...string) { // tools, each with its input
		t.Helper()
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		a.does("read_file", `{"path":"deploy/values.yaml"}`, "1\treplicas: 3\n2\tenv:\n3\t  CACHE_HOST: cache.prod:6379\n4\t  RELEASE: 7\n")
		a.does("bash", `{"command":"python3 - <<'EOF'\nimport os\nprint(os.environ['CACHE_HOST'])\nEOF"}`, "exit code: 0\n")
		for k := 0; k < len(edits); k += 2 {
			a.does(edits[k], edits[k+1], "ok")
		}
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		if got := strings.Contains(partOf(text, "reads"), "CACHE_HOST: cache.prod:6379"); got != isTold {
			t.Errorf("behind %q it is told: %v: %s", edits, got, text)
		}
	}
	f(true)
	f(true, "edit_file", `{"path":"deploy/values.yaml","old_string":"RELEASE: 7","new_string":"RELEASE: 8"}`)
	f(true, "edit_file", `{"path":"test/values.yaml","old_string":"  CACHE_HOST: cache.prod:6379\n","new_string":""}`)
	f(false, "edit_file", `{"path":"deploy/values.yaml","old_string":"  CACHE_HOST: cache.prod:6379\n","new_string":""}`)
	f(false, "edit_file", `{"path":"/srv/shop/deploy/values.yaml","old_string":"cache.prod:6379","new_string":"cache.test:6379"}`)
	f(false, "write_file", `{"path":"deploy/values.yaml","content":"replicas: 4\n"}`)
	f(true, "write_file", `{"path":"deploy/values.yaml","mode":"append","content":"replicas: 4\n"}`)
	f(true, "edit_file", `{"path":"deploy/values.yaml","old_string":"cache.prod","new_string":"cache.test"}`,
		"edit_file", `{"path":"deploy/values.yaml","old_string":"cache.test","new_string":"cache.prod"}`)
}
