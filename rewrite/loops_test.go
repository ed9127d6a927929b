package rewrite

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"epitome/prose"
	"epitome/tokenize"
)

// triages is an agent that was told of one ticket after the other, and of three things beside.
func triages(window, tickets int) *agent {
	a, _ := styled(window, prose.Style{Mode: prose.ModeIntent})
	beside := map[int]string{10: "Mail goes to the abuse team from today.", 30: "Mail goes to the mail team again.",
		50: "List all S1 for me when you are through."}
	for k := range tickets {
		a.answers(fmt.Sprintf("DESK-%d is S4 and went to billing: VAT %d %% instead of 19 %%.", 4000+k, k%90),
			strings.TrimSpace(beside[k]+fmt.Sprintf(" Triage DESK-%d.", 4001+k)))
		if k == 12 {
			a.answers("DESK-4999 went to Ines Falk, as Aurora Clinics is down.", "Good.")
		}
	}
	return a
}

// Where the user says one thing very often of different things, the newest are told, and what was said once is not lost
// among them.
func TestWhatTheUserSaysOfEachLeavesRoomForWhatWasSaidOnce(t *testing.T) {
	a := triages(32_000, 150)
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	users, said := partOf(text, "the user's messages"), partOf(text, "what you said")
	for _, want := range []string{"abuse team", "mail team again", "List all S1", "\nTriage DESK-4149.\n",
		" more that differ from messages above only in names and numbers, only in the whole text: messages "} {
		if !strings.Contains(users, want) {
			t.Errorf("%q is not told: %s", want, users)
		}
	}
	if n := strings.Count(users, "Triage DESK"); n > 40 {
		t.Errorf("%d messages of one form are told", n)
	}
	if n := strings.Count(said, "went to billing"); n > 12 || !strings.Contains(said, "Ines Falk") {
		t.Errorf("%d sentences of one form are told: %s", n, said)
	}
}

// What the user said without a word of the agent's to it may be open, however much of it is alike.
func TestWhatWasNotAnsweredIsTold(t *testing.T) {
	a := triages(32_000, 0)
	for k := range 30 {
		a.items = append(a.items, userSays(fmt.Sprintf("Triage DESK-%d.", 4001+k)))
	}
	a.answers("I begin with the first of them.", "Do.")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	if n := strings.Count(partOf(text, "the user's messages"), "Triage DESK"); n != 30 {
		t.Errorf("%d of 30 are told: %s", n, text)
	}
}

// A summary of many short messages keeps to its room, with the lines above them.
func TestManyShortMessagesKeepToTheirRoom(t *testing.T) {
	a, _ := styled(32_000, prose.Style{Mode: prose.ModeIntent})
	for k := range 600 {
		a.answers("Done.", fmt.Sprintf("Take the %c%c one.", 'a'+k/25, 'a'+k%25))
	}
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	users := partOf(text, "the user's messages")
	counter, _ := vocabularies.For(tokenize.O200k)
	if n, most := counter.CountString(users), 3_200; n > most || n < most/2 {
		t.Errorf("the user's messages take %d tokens, want at most %d", n, most)
	}
}

// Of what was done too often to be told one by one, it is told how often of each kind.
func TestWhatWasDoneVeryOftenIsToldByKinds(t *testing.T) {
	a, _ := styled(32_000, prose.Style{Mode: prose.ModeIntent})
	for k := range 150 {
		team := []string{"billing", "mail"}[k%2]
		if k == 20 {
			team = "Ines Falk"
		}
		given := fmt.Sprintf(`{"key":"DESK-%d","assignee":%q}`, 4001+k, team)
		if k%50 == 4 { // and again, with success
			a.does("jira__transition", given, fmt.Sprintf(`{"error":"DESK-%d is locked"}`, 4001+k))
		}
		a.does("jira__transition", given, `{"ok":true}`)
	}
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	const want = `jira__transition, 153 calls by values, 3 of which failed; assignee: "billing" 77, "mail" 75, ` +
		`"Ines Falk" 1` + "\n"
	if calls := partOf(text, "calls of other tools"); !strings.Contains(calls, want) {
		t.Errorf("%q is not told: %s", want, calls)
	}
}

// tallied finds a row that counts the values of calls, and quotedIn the texts among these.
var tallied, quotedIn = regexp.MustCompile(`, \d+ calls by values(?:, \d+ of which failed)?; (.+)$`), regexp.MustCompile(`"[^"\\]*"`)

// tallies reports whether a row counts the values of calls, and holds that these stand in calls.
func (s *spanFacts) tallies(row string) bool {
	s.Helper()
	m := tallied.FindStringSubmatch(row)
	if m == nil {
		return false
	}
	for _, value := range quotedIn.FindAllString(m[1], -1) {
		if !strings.Contains(s.called, strings.Trim(value, `"`)) {
			s.Fatalf("promise 8: no call of the span has %s", value)
		}
	}
	return true
}

// Of several folders of one name that one is gone which was deleted.
func TestAFolderOfTheSameNameIsThereStill(t *testing.T) {
	f := func(command string, want bool, files ...string) {
		t.Helper()
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		for _, name := range files {
			a.does("write_file", `{"path":"`+name+`","content":"package fees"}`, "ok")
		}
		a.does("exec_command", `{"cmd":"`+command+`"}`, "exit code: 0")
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		if got := strings.Contains(partOf(text, "files"), files[0]+"\n"); got != want {
			t.Errorf("%q: %q is told: %v: %s", command, files[0], got, partOf(text, "files"))
		}
	}
	f("rm -rf test", true, "/shop/pkg/fees/test/rates.go", "/shop/main.go")
	f("(cd /tmp && rm -rf src)", true, "src/fees.go")
	f("(cd /tmp && rm -rf src)", true, "src/fees.go", "/shop/main.go")
	f("rm -rf src", true, "/shop/lib/src/fees.go", "/shop/src/fees.go")
	f("rm -rf src", false, "/shop/src/fees.go", "/shop/main.go")
	f("rm -rf src", false, "/shop/src/fees.go")
	f("rm -rf src", false, "src/fees.go", "lib/fees.go")
	f("cd /shop && rm -rf src", false, "src/fees.go", "/shop/main.go")
}

// What was deleted with its folder, or was read before it was deleted, is not told as if it were there.
func TestWhatIsGoneIsNotToldAsThere(t *testing.T) {
	a, _ := styled(32_000, prose.Style{Mode: prose.ModeIntent})
	a.does("Read", `{"file_path":"/shop/src/coupon.go"}`, "package coupon\n")
	a.does("Read", `{"file_path":"/shop/src/refund.go"}`, "package refund\n")
	for _, f := range []string{"scripts/fill.py", "scripts/old/drop.py", "tools/fill_all.py", "lib/first.py"} {
		a.does("write_file", `{"path":"/shop/`+f+`","content":"import sys\nprint('`+f+`')\n"}`, "ok")
	}
	a.does("bash", `{"command":"cd /shop && rm -r scripts src/coupon.go"}`, "exit code: 0")
	a.does("bash", `{"command":"cd /shop && mv lib pkg"}`, "exit code: 0")
	a.does("write_file", `{"path":"/shop/scripts/load.py","content":"print('anew')\n"}`, "ok")
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	all := partOf(text, "files that you wrote") + partOf(text, "reads and searches")
	for _, want := range []string{"/shop/scripts/load.py\n> print('anew')", "tools/fill_all.py", "refund.go", "lib/first.py",
		"deleted:\n", "/shop/scripts\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not told: %s", want, all)
		}
	}
	if strings.Contains(all, "scripts/fill.py") || strings.Contains(all, "scripts/old") {
		t.Errorf("what lay in a folder that is gone is told: %s", all)
	}
	for k := range 200 { // there is no room for what was deleted so long ago
		a.does("write_file", fmt.Sprintf(`{"path":"/shop/pages/of_a_long_name_%d.md","content":"page\n"}`, k), "ok")
	}
	out, _ = a.grow(t, 400)
	text, _ = summaryIn(t, out)
	if read := partOf(text, "reads and searches"); strings.Contains(read, "coupon.go") || !strings.Contains(read, "refund.go") {
		t.Errorf("a file that is gone is told: %s", read)
	}
}
