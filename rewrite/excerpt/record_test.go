package excerpt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// records are sixty records of a form that takes a number; those in others are that text instead.
func records(form string, others map[int]string) string {
	var b strings.Builder
	for i := range 60 {
		if other, is := others[i]; is {
			b.WriteString(other)
			continue
		}
		b.WriteString(strings.ReplaceAll(form, "%", fmt.Sprint(100+i)))
	}
	return b.String()
}

// seen is an excerpt of some 400 bytes of a text.
func seen(text string) string {
	e, _ := Of(text, Budget{Tokens: 400, Head: .5, Count: func(s string) int { return len(s) / 2 }}, "")
	return e.Join(false)
}

func TestAFailureIsShownWithTheNameOfItsRecord(t *testing.T) {
	f := func(what, text string, want ...string) {
		t.Helper()
		shown := seen(text)
		for _, line := range want {
			if !strings.Contains(shown, line+"\n") {
				t.Errorf("%s: %q is not seen in\n%s", what, line, shown)
			}
		}
	}
	pod := "Name:   cart-%\nNode:   node-1\nLabels: app=shop\nState:  Running\nReady:  True\n\n"
	text := records(pod, map[int]string{30: "Name:   payout-130\nNode:   node-1\nLabels: app=shop\nState:  Waiting\n" +
		"Reason: CrashLoopBackOff\nReady:  False\n\n"})
	f("a pod", text, "Name:   payout-130", "Reason: CrashLoopBackOff")
	if got := Failures(text, 3); !slices.Equal(got, []string{"Name:   payout-130", "Reason: CrashLoopBackOff"}) {
		t.Errorf("of a pod is told %q", got)
	}
	row := "-[ RECORD % ]---+-----\nid     | %\nstate  | settled\namount | 7\n"
	f("a row", records(row, map[int]string{30: "-[ RECORD 130 ]---+-----\nid     | 130\nstate  | lingers\namount | 7\n"}),
		"id     | 130", "state  | lingers")
	item := "- id: %\n  title: Make part % of it\n  state: open\n  owner: ada\n"
	f("an item", records(item, map[int]string{30: "- id: 130\n  title: Pay twice\n  state: held\n  owner: ada\n"}),
		"- id: 130", "  title: Pay twice", "  state: held")
	call := "* Host shop-%.test:443 was resolved.\n* Connected to shop-%.test\n* using HTTP/2\n< HTTP/2 200\n"
	f("a call", records(call, map[int]string{30: "* Host payout.test:443 was resolved.\n* Connected to payout.test\n" +
		"* SSL certificate problem: unable to get local issuer certificate\n* closing connection #0\n"}),
		"* Host payout.test:443 was resolved.", "* SSL certificate problem: unable to get local issuer certificate")
}

func TestWhatIsOddBesideAFailureMayTellWhy(t *testing.T) {
	build := "> shop-% build\nview-%: rendered page 1\nview-%: rendered page 2\nview-%: rendered page 3\n"
	failed := "> shop-130 build\nview-130: rendered page 1\nview-130: template footer.hbs is needed by page 2\n" +
		strings.Repeat("npm error code 3\nnpm error path /srv/app\nnpm error workspace shop-130\n", 2)
	e, _ := Of(records(build, map[int]string{30: failed}),
		Budget{Tokens: 220, Head: .2, Count: func(s string) int { return len(s) / 2 }}, "")
	if shown := e.Join(false); !strings.Contains(shown, "template footer.hbs") {
		t.Errorf("the cause is not seen in\n%s", shown)
	}
}

func TestWhatIsAnotherInEachRecordIsNotRare(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		name := string(rune('a'+i%26)) + string(rune('a'+i/26))
		state := "open"
		if i == 30 {
			state = "held"
		}
		fmt.Fprintf(&b, "- id: %d\n  title: Make the %s of it\n  owner: ada\n  state: %s\n", i, strings.Repeat(name, 3), state)
	}
	if shown := seen(b.String()); !strings.Contains(shown, "- id: 30\n") || !strings.Contains(shown, "  state: held\n") {
		t.Errorf("the odd one is not seen in\n%s", shown)
	}
}

// What hands out no line that is too long does not do so for a name.
func TestANameThatIsTooLongIsNotHandedOut(t *testing.T) {
	pod := "Name:   " + strings.Repeat("cart ", 100) + "%\nNode:   node-1\nLabels: app=shop\nState:  Running\n\n"
	bad := strings.Replace(strings.ReplaceAll(pod, "%", "130"), "State:  Running", "Reason: CrashLoopBackOff", 1)
	text := records(pod, map[int]string{30: bad})
	if got := Failures(text, 3); !slices.Equal(got, []string{"Reason: CrashLoopBackOff"}) {
		t.Errorf("told is %.80q", got)
	}
}

func TestItemsThatStandDeepAreRecords(t *testing.T) {
	item := "        - id: %\n          title: Make part % of it\n          state: open\n          owner: ada\n"
	held := strings.Replace(strings.ReplaceAll(item, "%", "130"), "open", "held", 1)
	text := "all:\n    items:\n" + records(item, map[int]string{30: held})
	if shown := seen(text); !strings.Contains(shown, "- id: 130\n") || !strings.Contains(shown, "state: held\n") {
		t.Errorf("the odd one is not seen in\n%s", shown)
	}
}

// In none of these is a line below a name that is another's.
func TestAFailureOutsideOfRecordsHasNoNameOfOne(t *testing.T) {
	f := func(what, text string, want ...string) {
		t.Helper()
		if got := Failures(text, 3); !slices.Equal(got, want) {
			t.Errorf("%s: told is %q, want %q", what, got, want)
		}
	}
	pods := "Name:   cart-%\nNode:   node-1\nLabels: app=shop\nState:  Running\n\n"
	f("what all of it came to", records(pods, nil)+"Error: the connection to node-7 was lost\n", "Error: the connection to node-7 was lost")
	run := "=== RUN   TestCart%\n    settled in 7 ms\n--- PASS: TestCart% (0.00s)\n"
	f("tests", records(run, nil)+"=== RUN   TestPay\n    pay_test.go:9: got 7, want 8\n--- FAIL: TestPay (0.00s)\n"+
		records(run, nil), "pay_test.go:9: got 7, want 8", "--- FAIL: TestPay (0.00s)")
	unit := "gcc -c -o a%.o a%.c\na%.c:4:5: warning: unused variable 'n'\n    4 |   int n;\n      |       ^\n"
	f("a compiler", records(unit, map[int]string{30: "gcc -c -o pay.o pay.c\npay.c:9:5: error: 'x' undeclared\n    9 |   x\n"}),
		"pay.c:9:5: error: 'x' undeclared")
	change := "  ~ resource \"a_%\" {\n      ~ rev = 1\n      id = %\n    }\n"
	f("a plan", records(change, map[int]string{30: "  # b will go\n  - resource \"b\" {\n      Error: it cannot go\n    }\n"}),
		"Error: it cannot go")
}
