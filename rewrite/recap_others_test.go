package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/prose"
)

// toldOf is the summary of calls of tools that are none of files and shells: a name, arguments and a result each.
func toldOf(t *testing.T, steps ...string) string {
	t.Helper()
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
	for k := 0; k < len(steps); k += 3 {
		a.does(steps[k], steps[k+1], steps[k+2])
	}
	out, _ := a.grow(t, 400)
	text, _ := summaryIn(t, out)
	return text
}

// booked is what a service answers to a change: all of the booking, and at its end what was done.
func booked(id, done string) string {
	return fmt.Sprintf(`{"booking_id": %q, "user_id": "mara_22", "status": "confirmed", "flights": [{"n": 1}, {"n": 2}], %s}`, id, done)
}

// An agent without files and shells has changed what lies with others. With which values, and what was answered, must
// be seen of each change, however often it looked something up since.
func TestEachChangeIsToldWithItsValuesAndItsAnswer(t *testing.T) {
	steps := []string{"update_bags", `{"booking_id":"W2E8RT","total":4,"paid_by":"card_8"}`,
		booked("W2E8RT", `"charge": {"amount": 70, "confirmation": "BAG-10932"}`)}
	for k := range 6 {
		steps = append(steps, "update_flights", fmt.Sprintf(`{"booking_id":"QX%dLM","day":%d}`, k, k+10),
			booked(fmt.Sprintf("QX%dLM", k), fmt.Sprintf(`"change": {"confirmation": "CHG-7712%d"}`, k)))
	}
	for k := range 12 {
		steps = append(steps, "search_flights", fmt.Sprintf(`{"origin":"CPH","day":%d}`, k), `{"results": [], "count": 0}`)
	}
	text := partOf(toldOf(t, steps...), "calls of other tools")
	for k := range 6 {
		row := fmt.Sprintf("update_flights booking_id: \"QX%dLM\", day: %d\n> ", k, k+10)
		if _, answer, ok := strings.Cut(text, row); !ok || !strings.Contains(answer[:strings.Index(answer, "\n")],
			fmt.Sprintf(`change.confirmation: "CHG-7712%d"`, k)) {
			t.Errorf("%q and its answer are not told: %s", row, text)
		}
	}
	bags := `update_bags booking_id: "W2E8RT", total: 4, paid_by: "card_8"`
	if !strings.Contains(text, bags+"\n> ") || !strings.Contains(text, "charge.amount: 70") {
		t.Errorf("the oldest change is not told: %s", text)
	}
	if at := strings.Index(text, "search_flights"); at < strings.Index(text, bags) || strings.Count(text, "search_flights") != 3 {
		t.Errorf("what was only looked up is not told last, and few of it: %s", text)
	}
}

// The id of what was created is told with the call that created it, whatever newer calls and answers name it.
func TestAnIdIsToldWhereItWasGiven(t *testing.T) {
	text := partOf(toldOf(t, "create_issue", `{"team":"DES","title":"12:9 lacks a label"}`, `{"id": "DES-51", "team": "DES"}`,
		"update_issue", `{"id":"DES-51","state":"st_4"}`, `{"success": true, "issue": {"id": "DES-51", "owner_id": "ana_7"}}`,
		"update_issue", `{"id":"DES-51","label":"ui"}`, `{"success": true, "issue": {"id": "DES-51", "owner_id": "ana_7"}}`), "calls of other tools")
	want := `update_issue id: "DES-51", label: "ui"
> success: true, issue.owner_id: "ana_7"
update_issue id: "DES-51", state: "st_4"
> success: true
create_issue team: "DES", title: "12:9 lacks a label"
> id: "DES-51"
`
	if !strings.Contains(text+"\n", want) {
		t.Errorf("%s\nwant %s", text, want)
	}
}

// What has no place is counted.
func TestChangesWithoutAPlaceAreCounted(t *testing.T) {
	var steps []string
	for k := range 60 {
		steps = append(steps, "send_mail", fmt.Sprintf(`{"to":"customer_%d@shop.example","text":"Order %d is late."}`, k, k),
			fmt.Sprintf(`{"mail_id": "m_%d"}`, k))
	}
	text := partOf(toldOf(t, steps...), "calls of other tools")
	if n := strings.Count(text, "send_mail"); !strings.Contains(text, fmt.Sprintf("and %d more, not listed here", 60-n)) {
		t.Errorf("%d of 60 are told, and not how many are not: %s", n, text)
	}
}

// A failure is settled by the same call with the same values. What succeeded with others is told beside it.
func TestAFailureIsNotSettledByOtherValues(t *testing.T) {
	f := func(later, answered string, isOpen, isNoted bool) {
		t.Helper()
		text := partOf(toldOf(t, "transfer", `{"from":"a_1","to":"a_2","amount":500}`, `{"error": {"code": "LIMIT", "message": "over the limit of 100"}}`,
			"transfer", later, answered), "open failures")
		noted := strings.Contains(text, "; with other values it was called in message 5: no error told")
		if strings.Contains(text, `transfer from: "a_1", to: "a_2", amount: 500`) != isOpen || noted != isNoted {
			t.Errorf("after %s, answered with %s: %s", later, answered, text)
		}
	}
	f(`{"to":"a_2","from":"a_1","amount": 500}`, `{"id": "t_1", "status": "done"}`, false, false)
	f(`{"from":"a_1","to":"a_2","amount":50}`, `{"id": "t_1", "status": "done"}`, true, true)
	f(`{"from":"a_1","to":"a_2","amount":500}`, `{"id": "t_1", "status": "declined", "why": "insufficient funds"}`, true, false)
	f(`{"from":"a_1","to":"a_2","amount":50}`, `{"error": {"message": "a_2 is closed"}}`, true, false)
	f(`{"from":"a_1","to":"a_3","amount":500}`, `{"id": "t_1", "status": "done"}`, true, false)
}

// What only looks is answered by whatever it shows, where that is no error.
func TestALookThatWasAnsweredIsNoOpenFailure(t *testing.T) {
	page := "# Noise of heat pumps\n\nReject all cookies\n\n35 dB at night, and no error is allowed.\n"
	f := func(tool, answered string, isOpen bool) {
		t.Helper()
		with := `{"url":"https://mst.example/noise"}`
		text := partOf(toldOf(t, tool, with, `{"error": {"status": 503, "message": "try later"}}`, tool, with, answered), "open failures")
		if strings.Contains(text, "mst.example") != isOpen {
			t.Errorf("%s, answered with %.40q: %s", tool, answered, text)
		}
	}
	f("fetch_page", page, false)
	f("get_article", page, false)
	f("fetch_page", `{"error": {"status": 403, "message": "robots.txt disallows this path"}}`, true)
	f("post_article", page, true) // what acts must say that it did
	f("enable_search", page, true)
}

// An exception within the outputs of a notebook's cell stands in one long line. Its fields are told.
func TestAnExceptionInANotebookIsToldByItsFields(t *testing.T) {
	trace := strings.Repeat(`"    201     frame of pandas",`, 40)
	text := partOf(toldOf(t, "run_cell", `{"code":"g['amout'].sum()"}`,
		`{"outputs": [{"output_type": "error", "ename": "KeyError", "evalue": "'no column amout'", "traceback": [`+trace+`"KeyError"]}]}`), "open failures")
	if !strings.Contains(text, `run_cell code: "g['amout'].sum()", message `) ||
		!strings.Contains(text, `outputs[0].ename: "KeyError", outputs[0].evalue: "'no column amout'"`) || strings.Contains(text, "frame of pandas") {
		t.Error(text)
	}
}

// Where a browser stood after a call is told with the call, and not again as long as it stays there.
func TestWhereABrowserStoodIsToldWithTheCall(t *testing.T) {
	at := func(path, title, more string) string {
		return "### Page state\n- Page URL: https://erp.example/" + path + "\n- Page Title: " + title + "\n- Page Snapshot:\n" + more
	}
	text := partOf(toldOf(t, "browser_type", `{"ref":"e1","text":"12"}`, at("new", "New order", ""),
		"browser_type", `{"ref":"e2","text":"Desk"}`, at("new", "New order", ""),
		"browser_click", `{"element":"Submit","ref":"e79"}`, at("new", "New order", "  - alert [ref=e3]: 12 is over the limit\n"),
		"browser_click", `{"element":"Submit","ref":"e79"}`, at("orders/40160", "Order PO-40160", "")), "calls of other tools")
	want := `browser_click element: "Submit", ref: "e79"
> - Page URL: https://erp.example/orders/40160
> - Page Title: Order PO-40160
browser_click element: "Submit", ref: "e79"
> - Page URL: https://erp.example/new
> - Page Title: New order
> - alert [ref=e3]: 12 is over the limit
browser_type ref: "e2", text: "Desk"
> - Page URL: https://erp.example/new
> - Page Title: New order
browser_type ref: "e1", text: "12"
`
	if !strings.Contains(text+"\n", want) {
		t.Errorf("%s\nwant %s", text, want)
	}
}

// A record that was asked for may tell of somebody else's failure, and a check of what it found.
func TestARecordOfAFailureIsNoFailedCall(t *testing.T) {
	f := func(tool, answered string, isOpen bool) {
		t.Helper()
		text := partOf(toldOf(t, tool, `{"of":"nightly_7"}`, answered), "open failures")
		if strings.Contains(text, "nightly_7") != isOpen {
			t.Errorf("%s, answered with %s: %s", tool, answered, text)
		}
	}
	f("get_job", `{"id": "j_7", "status": "failed", "error": "out of memory", "started": "07:00"}`, false)
	f("get_flag", `{"success": false}`, false)
	f("check_health", `{"ok": false, "checks": [{"name": "db", "ok": false}]}`, false)
	f("validate_order", `{"errors": ["amount is missing"]}`, false)
	f("search_logs", `{"error": {"message": "late"}, "count": 118}`, false)
	f("get_job", `{"success": false, "message": "no such job"}`, true)
	f("run_job", `{"id": "j_7", "status": "failed", "error": "out of memory", "started": "07:00"}`, true)
}

// An error that is laid out over several lines is told by its words, and not by its brackets.
func TestAnErrorOverSeveralLinesIsToldByItsFields(t *testing.T) {
	text := partOf(toldOf(t, "pay", `{"amount":7}`, "{\n  \"code\": \"E7\",\n  \"error\": {\n    \"message\": \"the card has run out\"\n  }\n}\n"), "open failures")
	if !strings.Contains(text, "the card has run out") || strings.Contains(text, "> {\n") || strings.Contains(text, "> }") {
		t.Error(text)
	}
}

// Failures of a tool that say the same of what each call was given are told once, whatever that was.
func TestFailuresOfOneToolAreToldOnce(t *testing.T) {
	var steps []string
	for _, name := range []string{"ana", "leo", "mia", "tom"} {
		steps = append(steps, "update_user", `{"name":"`+name+`"}`, `{"error": {"message": "user `+name+` is not known"}}`)
	}
	text := partOf(toldOf(t, steps...), "open failures")
	if strings.Count(text, "update_user") != 1 || !strings.Contains(text, "so did 3 other calls like it") {
		t.Error(text)
	}
}

// Of lists of tasks the newest is told, wherever the tool that keeps it comes from.
func TestAnOlderListOfTasksIsNotTold(t *testing.T) {
	const older = `[{"%[1]s":"Mend refunds","status":"in_progress"},{"%[1]s":"Test refunds","status":"pending"}]`
	const newer = `[{"%[1]s":"Mend refunds","status":"completed"},{"%[1]s":"Test refunds","status":"in_progress"},{"%[1]s":"Ship","status":"pending"}]`
	f := func(tool, key, title, head string, times int) {
		t.Helper()
		a, _ := styled(16_000, prose.Style{Mode: prose.ModeIntent})
		for _, list := range []string{older, newer, older, newer} {
			a.does(tool, `{"`+key+`":`+fmt.Sprintf(list, title)+`}`, "ok")
		}
		out, _ := a.grow(t, 400)
		text, _ := summaryIn(t, out)
		if n := strings.Count(text, "Test refunds"); n != times || !strings.Contains(partOf(text, head), "Test refunds") {
			t.Errorf("%s: told %d times: %s", tool, n, text)
		}
	}
	f("TodoWrite", "todos", "content", "your list", 1)
	f("functions.update_plan", "plan", "step", "your list", 1)
	f("mcp__agent__update_plan", "plan", "step", "your list", 1)
	f("todo_list", "tasks", "title", "calls of other tools", 1)
}
