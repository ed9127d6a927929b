package deed

import (
	"strings"
	"testing"
)

func TestValuesAreToldAsTheyWereGiven(t *testing.T) {
	f := func(arguments string, room int, want string) {
		t.Helper()
		if got := Values([]byte(arguments), room); got != want || len(got) > room {
			t.Errorf("%s\nis told as %s\nwant %s", arguments, got, want)
		}
	}
	f(`{"booking_id":"W2E8RT", "total": 3, "flights":[{"id":"CPH-7",
		"date":"2027-02-14"}]}`, 200, `booking_id: "W2E8RT", total: 3, flights: [{"id": "CPH-7", "date": "2027-02-14"}]`)
	f(`{"to":"ida","text":"`+strings.Repeat("long ", 40)+`","ok":true}`, 200,
		`to: "ida", text: "`+strings.Repeat("long ", 24)+`" … 80 more characters, ok: true`)
	f(`{"ids":[`+strings.Repeat("1234567, ", 40)+`1],"ok":true}`, 60, `ok: true, … 1 more`)
	f(`{}`, 60, "")
	f(`[1]`, 60, "")
	f(`{"a":`, 60, "")
	f(``, 60, "")
}

func TestLooksByNameAndStatement(t *testing.T) {
	f := func(want bool, name, arguments string) {
		t.Helper()
		if Looks(name, []byte(arguments)) != want {
			t.Errorf("%s %s only looks: %v", name, arguments, !want)
		}
	}
	f(true, "get_user_details", `{}`)
	f(true, "mcp__linear__list_issues", `{}`)
	f(true, "browser_take_screenshot", `{}`)
	f(true, "searchFlights", `{}`)
	f(true, "run_sql", `{"query":"SELECT updated FROM t"}`)
	f(true, "run_sql", `{"query":"with a as (select 1) select * from a"}`)
	f(false, "run_sql", `{"query":"UPDATE t SET a = 1"}`)
	f(false, "execute_sql", `{"sql":"WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a"}`)
	f(false, "update_booking", `{}`)
	f(false, "send_search_report", `{}`)
	f(false, "mcp__drive__get_upload.cancelUpload", `{}`)
	f(false, "get_or_create_customer", `{}`)
	f(false, "browser_click", `{}`)
	f(false, "browser_navigate", `{}`)
	f(false, "frobnicate", `{}`)
	f(false, "targets", `{}`)
}
