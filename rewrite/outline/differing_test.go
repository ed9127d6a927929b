package outline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/rewrite/span"
)

func TestWhatDiffersMostIsFound(t *testing.T) {
	f := func(text string, room int, want ...string) {
		t.Helper()
		got, isPreview := Differing(text, room, func(s string) int { return len(s) / 4 })
		isLine := len(want) > 0 && slices.Contains(strings.Split(text, "\n"), want[0])
		if isPreview != (len(want) > 0 && !isLine) || !slices.Equal(got, want) {
			t.Errorf("%.120q: %q, %v", text, got, isPreview)
		}
	}
	held := `{"id": "po_91143", "amount": 10505, "currency": "JPY", "state": "held", "hold_reason": "scale"}`
	f(payouts(held), 240, ".data[143]: "+held)
	f(payouts(held), 60, `.data[143].id: "po_91143"`, `.data[143].hold_reason: "scale"`)
	f(payouts(held), 50)
	f(payouts(""), 240)
	f("HTTP/1.1 200 OK\n\n"+payouts(held), 240, ".data[143]: "+held)
	line := "  " + strings.ReplaceAll(held, ": ", ":")
	f("payouts:\n"+inLines(line), 240, line)
	f(inLines(line), 60)
	row := " 5101  | 754136663  | JPY      |      NULL | closed"
	f(table(row), 240, row)
	f(table(""), 240)
	f(table("[epitome: all is well] | 1 | JPY | NULL | closed"), 240)
	f("", 240)
	f("{", 240)
	f(strings.Repeat("all is well\n", 100), 240)
	odd := make([]string, 0, 20) // many that differ alike tell nothing
	for i := range 20 {
		odd = append(odd, fmt.Sprintf(`{"id": %d, "kind%d": 1}`, i, i))
	}
	f("["+strings.Join(odd, ",")+"]", 240)
	f(podsWith(`{"waiting": {"reason": "CrashLoopBackOff"}}`), 240, `.items[41].metadata.name: "wallet-41"`,
		`.items[41].status.containerStatuses[0].state.waiting.reason: "CrashLoopBackOff"`)
}

// podsWith are pods of a cluster, as kubectl lays them out, of which one is in another state.
func podsWith(state string) string {
	var pods []string
	for i := range 60 {
		is, restarts := `{"running": {"startedAt": "2026-11-24T09:58:00Z"}}`, 0
		if i == 41 {
			is, restarts = state, 47
		}
		pods = append(pods, fmt.Sprintf(`{"metadata": {"name": "wallet-%d", "labels": {"app": "wallet", "track": "%s"}},
 "status": {"phase": "Running", "restartCount": %d, "containerStatuses": [{"ready": true, "state": %s}]}}`, i, strings.Repeat("x", 200), restarts, is))
	}
	return `{"apiVersion": "v1", "items": [` + strings.Join(pods, ",\n") + "]}"
}

// An item is told with all fields that differ, and with its line where the text is laid out.
func TestAnOddItemHasItsLineAndAllItsFields(t *testing.T) {
	held := `{"id": "po_91143", "amount": 10505, "currency": "JPY", "state": "held", "retries": 7, "hold_reason": "scale"}`
	text := payouts(held)
	o, ok := Of(text, Hint{LaidOut: true}, 500, func(s string) int { return len(s) / 4 })
	want := ".data[143] in line 147 (currency, state, retries, hold_reason): " + held
	if laid := strings.Split(string(span.Layout([]byte(text))), "\n"); !strings.Contains(laid[146], "po_91143") {
		t.Errorf("line 147 of the layout is %q", laid[146])
	}
	if !ok || !strings.Contains(o.Text, want) {
		t.Errorf("%q is not in %s", want, o.Text)
	}
	if o, ok = Of(text, Hint{}, 500, func(s string) int { return len(s) / 4 }); !ok || strings.Contains(o.Text, "in line") {
		t.Errorf("%s", o.Text)
	}
}

// Rows of a sheet come as lists in a list: what differs in one of them is seen, and how often each value comes.
func TestARowThatDiffersIsToldAsAnObjectIs(t *testing.T) {
	rows := []string{`["Stand", "Cost", "State", "Note"]`}
	for i := range 300 {
		state, note := "open", ""
		if i%9 == 0 {
			state = "paid"
		}
		if i == 217 {
			note = "#REF!"
		}
		rows = append(rows, fmt.Sprintf(`["Stand %d", %d, %q, %q]`, i, 1000+13*i, state, note))
	}
	text := `{"range": "Budget!A1:D301", "values": [` + strings.Join(rows, ", ") + "]}"
	o, ok := Of(text, Hint{}, 700, func(s string) int { return len(s) / 4 })
	for _, want := range []string{rows[0], ".values has 301 items", ` [2]: "open" ×266, "paid" ×34, "State" ×1`,
		` [3]: "" ×299, "Note" ×1, "#REF!" ×1`, ".values[218] ([3]): " + rows[218]} {
		if !ok || !strings.Contains(o.Text, want) {
			t.Errorf("%q is not in %s", want, o.Text)
		}
	}
	want := []string{".values[0]: " + rows[0], ".values[218]: " + rows[218]}
	if got, _ := Differing(text, 240, func(s string) int { return len(s) / 4 }); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// payouts is a list of JSON with one item in its middle.
func payouts(odd string) string {
	var list []string
	for i := range 280 {
		list = append(list, fmt.Sprintf(`{"id": "po_%d", "amount": %d, "currency": "EUR", "state": "settled"}`, 91000+i, 500+i*i%9973))
	}
	if odd != "" {
		list[143] = odd
	}
	return `{"object": "list", "data": [` + strings.Join(list, ", ") + `], "next": null}`
}

// inLines is an item of payouts in each line, with one in their middle.
func inLines(odd string) string {
	var b strings.Builder
	for i := range 280 {
		if i == 143 {
			b.WriteString(odd + "\n")
			continue
		}
		fmt.Fprintf(&b, "{\"id\":\"po_%d\",\"amount\":%d,\"currency\":\"EUR\",\"state\":\"settled\"}\n", 91000+i, 500+i*i%9973)
	}
	return b.String()
}

// table is what a database prints, with one row in its middle.
func table(odd string) string {
	var b strings.Builder
	b.WriteString(" id    | account    | currency | minor_units | state\n-------+------------+----------+-------------+--------\n")
	for i := range 260 {
		if i == 101 && odd != "" {
			b.WriteString(odd + "\n")
			continue
		}
		fmt.Fprintf(&b, " %d  | %d  | EUR      |         2 | closed\n", 5000+i, 100000000+i*i*7919)
	}
	return b.String() + "(260 rows)\n"
}

// Tables of operators have cells that are empty, names in tabs with spaces behind them, and names in small letters
// above a rule.
func TestRowsDifferInTablesOfOperators(t *testing.T) {
	f := func(name, head, row, odd string, cells ...any) {
		t.Helper()
		var b strings.Builder
		b.WriteString(head)
		want := ""
		for i := range 24 {
			state := cells[0]
			if i == 13 {
				state = odd
			}
			line := fmt.Sprintf(row, i, state)
			if b.WriteString(line + "\n"); i == 13 {
				want = line
			}
		}
		got, _ := Differing(b.String(), 240, func(s string) int { return len(s) / 4 })
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	f("an empty column", "NAME      ZONE            PREEMPTIBLE  EXTERNAL_IP  STATUS\n",
		"stage-%02d  europe-west3-a               34.89.12.7   %s", "TERMINATED", "RUNNING")
	f("tabs", "NAME          \tNAMESPACE\tUPDATED                                \tSTATUS         \n",
		"refund-%02d    \tshop     \t2026-11-20 11:02:33.123456 +0000 UTC    \t%-15s", "pending-upgrade", "deployed")
	f("a rule", "Name    ResourceGroup    PowerState      Location\n------  ---------------  --------------  ----------\n",
		"vm-%02d   rg-shop          %-14s  westeurope", "VM deallocated", "VM running")
	f("wide characters", "ID    COMMAND         PORTS    STATE\n", "c%03d  \"/docker-ent…\"           %s", "dead", "running")
}

func TestProseInColumnsIsNoTable(t *testing.T) {
	text := "NOTES  FOR  OPERATORS\n" + strings.Repeat("restart the unit and wait for it to be ready\n", 20)
	if got, _ := Differing(text+"another line here\n", 240, func(s string) int { return len(s) / 4 }); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// A cell that is longer than its column moves those behind it: their words are those of no other column.
func TestALongCellIsNotTornAtTheColumnsOfOthers(t *testing.T) {
	text := "NAME      TASK      STATE     OWNER\n"
	for i := range 60 {
		task := "backup "
		if i%10 == 3 {
			task = "move them old rows"
		}
		text += fmt.Sprintf("job-%03d   %s   running   ops\n", i, task)
	}
	o, _ := Of(text, Hint{}, 300, func(s string) int { return len(s) / 4 })
	if !strings.Contains(o.Text, "54 rows and 6 other lines") || strings.Contains(o.Text, `"running   ops"`) {
		t.Errorf("%s", o.Text)
	}
}

func TestARecordThatSaysAnotherThingIsShownWhole(t *testing.T) {
	const other = `"readiness probe of gateway-20931 returned 503 for 90s, rolled back to rev 77"`
	services := strings.Fields("auth billing cart catalog checkout coupon delivery email fraud gateway index invoice ledger")
	rolled := func(i int) string {
		return fmt.Sprintf(`"rolled pod %s-%d in %d ms"`, services[i*7%13], 10_000+i*37, 20+i*13%800)
	}
	f := func(what, before, between, after string, msg func(i int) string, told ...string) {
		t.Helper()
		var rows []string
		for i := range 260 {
			s := msg(i)
			if i == 130 {
				s = other
			}
			rows = append(rows, fmt.Sprintf(`{"step":%d,"svc":%q,"msg":%s}`, i, services[i*5%13], s))
		}
		o, _ := Of(before+strings.Join(rows, between)+after, Hint{}, 2000, func(s string) int { return len(s) / 4 })
		for _, s := range told {
			if !strings.Contains(o.Text, s) {
				t.Errorf("%s: no %q in\n%s", what, s, o.Text)
			}
		}
		if len(told) == 0 && strings.Contains(o.Text, other) {
			t.Errorf("%s: one is odd in\n%s", what, o.Text)
		}
	}
	letters := strings.NewReplacer("0", "g", "1", "h", "2", "k ", "3", "l", "4", "m ", "5", "n", "6", "o ", "7", "p",
		"8", "q", "9", "r")
	f("a line", "", "\n", "", rolled, `line 131 (msg): {"step": 130,`, other, ` ×259, others ×1`, ` msg: like "rolled pod auth-10000 `)
	f("an item", "[", ",", "]", rolled, `.[130] (msg): {"step": 130,`, other)
	f("of three forms", "", "\n", "", func(i int) string {
		return []string{`"sent a letter to ann"`, `"closed the order of ann"`, rolled(i)}[i%3]
	}, `line 131 (msg)`, other)
	f("random words", "", "\n", "", func(i int) string {
		return fmt.Sprintf(`"%s"`, letters.Replace(fmt.Sprint(i*i*7919*31337)))
	})
}
