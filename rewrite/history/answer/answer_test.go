package answer

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// Services and notebooks say in their own forms that nothing came of a call. What only looks like it is none.
func TestFailedReadsTheFormsOfServices(t *testing.T) {
	f := func(want bool, text string) {
		t.Helper()
		if Failed(text, Deed) != want {
			t.Errorf("told as failed: %v: %s", !want, text)
		}
	}
	f(true, `{"error": {"code": "PAYMENT_NOT_ALLOWED", "message": "cannot be used for fees"}}`)
	f(true, ` {"id": 7, "jsonrpc": "2.0", "error": {"code": -32602, "message": "no such tool"}}`)
	f(true, `{"url": "https://a.example", "error": {"status": 403, "message": "Forbidden"}}`)
	f(true, `{"error": "gateway timeout", "request_id": "req_9"}`)
	f(true, `{"errorMessages": ["Field priority is not allowed"], "errors": {"priority": "not allowed"}}`)
	f(true, `{"errors": [{"message": "Cannot query field", "locations": [{"line": 2, "column": 3}]}], "data": null}`)
	f(true, `{"errors": [{"status": "422", "title": "Invalid", "detail": "Name is too short"}]}`)
	f(true, `{"outputs": [{"output_type": "stream", "text": "x"}, {"output_type": "error", "ename": "KeyError", "evalue": "'a'"}]}`)
	f(true, `{"success": false, "note": "nothing was done"}`)

	f(false, `{"success": true, "error": {"message": "of a run before"}}`)
	f(false, `{"error": null, "data": {"id": 7}}`)
	f(false, `{"error": {}, "id": 7}`)
	f(false, `{"error": {"rate": 0.02, "count": 3}}`)                                        // what was measured
	f(false, `{"result": {"id": 7}, "error": {"message": "an index was stale"}}`)            // something came of it
	f(false, `{"data": {"a": {"id": 7}}, "errors": [{"message": "b was not found"}]}`)       // so it did here
	f(false, `{"errors": [{"message": "unused variable", "line": 3, "rule": "no-unused"}]}`) // a linter's findings
	f(false, `{"errors": [{"message": "row 7: no amount"}], "imported": 118}`)
	f(false, `{"errors": [], "id": 7}`)
	f(false, `{"outputs": [{"output_type": "stream", "text": "error: none"}]}`)
	f(false, `[{"error": {"message": "one of many"}}, {"id": 7}]`)
	f(false, `{"error": {"message": "torn"}`)
	f(false, `error: {"error": {"message": "a log's line"}}`)
	f(false, `{"error": "none", "id": 7}`)
	f(false, `{"errors": ["a.py:3: unused import"], "status": "done"}`)
	f(false, `{"errors": [{"message": "unused", "location": {"start": 3}}]}`)
	f(false, "")
}

// What a tool was asked to find is no failure of the call, whatever it says of itself.
func TestFailedTellsARecordFromAnAnswer(t *testing.T) {
	f := func(ask Ask, want bool, text string) {
		t.Helper()
		if Failed(text, ask) != want {
			t.Errorf("%d, told as failed: %v: %s", ask, !want, text)
		}
	}
	f(Record, false, `{"id": "j_7", "status": "failed", "error": "out of memory", "started": "07:00"}`)
	f(Record, false, `{"error": "connection refused", "count": 118}`)
	f(Record, false, `{"success": false}`) // a flag
	f(Record, false, `{"ok": false, "checks": [{"name": "db", "ok": false}]}`)
	f(Record, false, `{"error": {"message": "late"}, "results": [{"id": 7}]}`)
	f(Record, true, `{"ok": false, "error": "channel_not_found"}`)
	f(Record, true, `{"success": false, "message": "no such user"}`)
	f(Record, true, `{"jsonrpc": "2.0", "id": 7, "error": {"code": -32602, "message": "no such tool"}}`)
	f(Record, true, `{"url": "https://a.example", "error": {"status": 403, "message": "Forbidden"}}`)
	f(Record, true, `{"errors": [{"message": "Cannot query field"}], "data": null}`)
	f(Finding, false, `{"errors": ["amount is missing"]}`)
	f(Finding, true, `{"error": {"message": "no such schema"}}`)
	f(Deed, true, `{"order_id": 7, "error": "insufficient funds"}`)
	f(Deed, true, `{"success": false, "order_id": 7}`)
}

// A code of HTTP tells of a failure in JSON as in words.
func TestStatesOfHTTPAreTrouble(t *testing.T) {
	for text, want := range map[string]bool{`{"status": 404}`: false, `{"status":503,"at":"x"}`: false,
		`{"status_code": 401}`: false, `{"status": 201}`: true, `{"status": "done", "total": 400}`: true} {
		if SaysNoTrouble(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

func TestPreviewHasWhatTellsMostInItsOrder(t *testing.T) {
	f := func(text string, room int, known, want string) {
		t.Helper()
		got := Preview(text, room, Known{Given: func(v string) bool { return strings.Contains(known, v) }})
		if got != want || len(got) > room {
			t.Errorf("%s\nhas %d bytes: %s\nwant: %s", text, len(got), got, want)
		}
	}
	booked := `{"user_id": "ida_7", "booking_id": "K9P2VD", "status": "confirmed", "legs": [{"n": 1}, {"n": 2}],
		"charge": {"amount": 112.50, "payment_id": "card_8"}, "seat": null, "note": ""}`
	f(booked, 200, "", `user_id: "ida_7", booking_id: "K9P2VD", status: "confirmed", legs: 2 items, charge.amount: 112.50, charge.payment_id: "card_8"`)
	f(booked, 70, "", `user_id: "ida_7", status: "confirmed", charge.amount: 112.50`)
	f(booked, 70, `"ida_7"`, `booking_id: "K9P2VD", status: "confirmed", charge.amount: 112.50`)
	f(booked, 80, booked, `status: "confirmed", legs: 2 items, charge.amount: 112.50`) // a state is said even so
	f(`{"outputs": [{"output_type": "stream", "text": "x\n"}, {"output_type": "error", "ename": "KeyError", "evalue": "'a'"}]}`,
		60, "", `outputs[1].ename: "KeyError", outputs[1].evalue: "'a'"`)
	f(`{"outputs": [{"text": "day 7: diff 420.50\n"}], "execution_count": 24}`, 90, "",
		`outputs[0].text: "day 7: diff 420.50\n", execution_count: 24`)
	f(`{"errorMessages": ["priority is not allowed", "nor is this"]}`, 90, "",
		`errorMessages: ["priority is not allowed", "nor is this"]`)
	f(`{"errors": ["`+strings.Repeat("priority ", 20)+`"]}`, 250, "", `errors[0]: "`+strings.Repeat("priority ", 17)+`priorit" … 20 more characters`)
	f(`{"a.b": 1, "n": 12345678901234567890.00}`, 90, "", `"a.b": 1, n: 12345678901234567890.00`)
	f(`{"message": "`+strings.Repeat("ä", 200)+`"}`, 400, "", `message: "`+strings.Repeat("ä", 160)+`" … 40 more characters`)
	f(`{"results": [{"n": 1, "title": "Heat pumps"}, {"n": 2, "title": "COP"}, {"title": "Noise"}, {"title": 7}], "took": 7}`, 120, "",
		`results: 4 items, results[].title: "Heat pumps", "COP", "Noise", … 1 more, took: 7`)
	f(`{"rows": [{"id": 7, "name": null}, {"id": 8, "name": "b"}]}`, 90, "", `rows: 2 items, rows[].id: 7, 8`)
	f(`{"rows": [{"n": 1, "flight_id": "CPH-1"}, {"n": 2, "flight_id": "CPH-2"}]}`, 90, "", `rows: 2 items, rows[].flight_id: "CPH-1", "CPH-2"`)
	f(`{"legs": [{"id": "CPH-1"}, {"id": "CPH-2"}]}`, 90, `{"legs": [{"id": "CPH-1"}]}`, `legs: 2 items`)
	f(`{"legs": [{"number": "SK593"}, {"number": "SK974"}], "change": {"confirmation": "CHG-77155"}}`, 60, "",
		`legs: 2 items, change.confirmation: "CHG-77155"`) // an id of its own comes before those of a list
	f(`{"rows": [{"id": 7}, {"n": 8}]}`, 90, "", `rows: 2 items`)
	f(`{"columns":["id","total"],"rows":[[1,2.50],[3,4]]}`, 90, "", `columns: ["id", "total"], rows: 2 items`)
	long := strings.Repeat("a line of a log ", 60)
	f(`{"output": "`+long+`", "took": 7}`, 200, "", "") // its lines tell more
	f(`{"error": "`+long+`", "took": 7}`, 250, "", `error: "`+long[:160]+`" … 800 more characters, took: 7`)
	f(`{"": {"status": "ok"}}`, 90, "", `"".status: "ok"`)
	f(`{"a[0]": 5, "b: 1": 6, "a>b": 7}`, 90, "", `"a[0]": 5, "b: 1": 6, "a>b": 7`)
	f("{\"x\u2028y\": 5}", 90, "", "\"x\u2028y\": 5")
	f(`[1, 2]`, 90, "", "")
	f(`plain words`, 90, "", "")
	f(booked, 3, "", "")
}

// What stands in another preview is not said again, but for states.
func TestPreviewsDoNotRepeatFields(t *testing.T) {
	known := Known{Given: func(string) bool { return false }, Told: map[string]bool{}}
	for text, want := range map[string]string{
		`{"user_id": "ida_7", "status": "done"}`:                         `user_id: "ida_7", status: "done"`,
		`{"user_id": "ida_7", "status": "done", "issue": {"id": "D-5"}}`: `status: "done", issue.id: "D-5"`,
		`{"id": "D-5", "user_id": "ida_7"}`:                              `id: "D-5"`, // another field
	} {
		known.Told = map[string]bool{`user_id: "ida_7"`: !strings.Contains(want, "ida_7")}
		if got := Preview(text, 100, known); got != want || !known.Told[strings.Split(want, ", ")[0]] {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestPageTellsWhereABrowserStands(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		if got := Page(text); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
	f("### Ran Playwright code\n```js\nclick\n```\n### Page state\n- Page URL: https://a.example/cart\n- Page Title: Cart\n"+
		"- Page Snapshot:\n```yaml\n- generic [ref=e2]:\n  - alert [ref=e13]: Quantity exceeds the limit\n  - alert [ref=e14]:\n```\n",
		"- Page URL: https://a.example/cart", "- Page Title: Cart", "- alert [ref=e13]: Quantity exceeds the limit")
	f("# click response\nuid=1_0 RootWebArea \"Cart\" url=\"https://a.example/cart\"\n  uid=1_7 alert \"Too many\"\n",
		`uid=1_0 RootWebArea "Cart" url="https://a.example/cart"`, `uid=1_7 alert "Too many"`)
	f("url: https://a.example/cart?of=7\nRootWebArea 'Cart of 7', focused\n\t[24] link 'Jump to the till'\n\t[31] alert 'Too many', live='assertive'\n"+
		"\t[32] alert '', live='assertive'\n\t\tStaticText 'url: https://b.example'\n",
		"url: https://a.example/cart?of=7", "RootWebArea 'Cart of 7', focused", "[31] alert 'Too many', live='assertive'")
	f("url: https://a.example/cart\nerror: TimeoutError: click: 500 ms\nRootWebArea '', focused\n", "url: https://a.example/cart")
	f("url: https://a.example/cart\nname: RootWebArea is the root\n")
	f("- alert: this list has no page\n")
	f("The docs say: Page URL: is printed first.\n")
	f("")
}

// What is hostile costs no more than what is long.
func TestAnswersAreReadInBoundedTime(t *testing.T) {
	deep := strings.Repeat(`{"error":`, 5_000) + `{"message":"x"}` + strings.Repeat("}", 5_000)
	wide := `{"errors":[` + strings.Repeat(`{"message":"x","detail":"y"},`, 2_000) + `{}]}`
	keys := "{" + strings.Repeat(`"status":"a",`, 4_000) + `"id":1}`
	for _, text := range []string{deep, wide, keys, strings.Repeat("- alert: x\n", 5_000) + "Page URL: "} {
		looked := 0
		n := testing.AllocsPerRun(1, func() {
			Failed(text, Record)
			Failed(text, Deed)
			Page(text)
			Preview(text, 200, Known{Given: func(string) bool { looked++; return false }})
		})
		if looked > 2*mostFields*firstItems || n > 30_000 {
			t.Errorf("%.40s: %d values, %.0f allocations", text, looked, n)
		}
	}
}

func TestCutSaysHowMuchIsMissing(t *testing.T) {
	for text, want := range map[string]string{`"abc"`: `"abc"`, `"abcdef"`: `"abcd" … 2 more characters`, `1234567`: `1234567`,
		`"\ud83dyyyz\n"`: `"\ud83dyyy" … 2 more characters`, `"\ud83d\ude00\u00e4bc\n"`: `"\ud83d\ude00\u00e4bc" … 1 more characters`,
		`"\u00e4\u00e4\u00e4"`: `"\u00e4\u00e4\u00e4"`, `"a\/\/\/\/"`: `"a\/\/\/" … 1 more characters`} {
		if got := Cut(gjson.Parse(text), 4); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestTitleIsThatOfThePage(t *testing.T) {
	for text, want := range map[string]string{
		"[Skip](#main)\n\n# Noise of heat pumps \n\n# Second\n":                             "# Noise of heat pumps",
		"<!DOCTYPE html>\n<html><head>\n  <title>Noise</title>\n<style>h1{}</style></head>": "<title>Noise</title>",
		"<title></title>\nwords\n":                    "",
		"## Section\n#tag\n":                          "",
		strings.Repeat("words\n", 5_000) + "# Late\n": "",
	} {
		if got := Title(text); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}
