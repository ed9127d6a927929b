package deed

import (
	"fmt"
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
	f(`{"a":1,"b\n":2,"c":3}`, 60, `a: 1, "b\n": 2, c: 3`)
	f(`{"a":1,"a":2,"c":3}`, 60, `a: 1, a: 2, c: 3`)
	f(`{"to: 1, amount":5,"":6}`, 60, `"to: 1, amount": 5, "": 6`)
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
	f(true, "jira__get_issue", `{}`)
	f(true, "get_exchange_rate", `{}`)
	f(true, "k8s__logs", `{}`)
	f(false, "issue_refund", `{}`)
	f(false, "get_issue_and_close", `{}`)
	f(false, "post_comment", `{}`)
	f(false, "clear_logs", `{}`)
	f(false, "update_booking", `{}`)
	f(false, "send_search_report", `{}`)
	f(false, "mcp__drive__get_upload.cancelUpload", `{}`)
	f(false, "get_or_create_customer", `{}`)
	f(false, "browser_click", `{}`)
	f(false, "browser_navigate", `{}`)
	f(true, "run_sql", `{"query":"-- all\n(SELECT 1)"}`)
	f(true, "query_db", `{"query":"select updated from t where note = 'delete'"}`)
	f(false, "run_sql", `{"query":"-- all\nDELETE FROM t"}`)
	f(false, "run_sql", `{"query":"/* a */ UPDATE t SET a = 1"}`)
	f(false, "run_sql", `{"query":"SELECT 1; DELETE FROM t"}`)
	f(false, "run_sql", `{"query":"SELECT * INTO t2 FROM t"}`)
	f(false, "run_sql", `{"query":"EXEC close_month"}`)
	f(false, "run_sql", `{"command":"DELETE FROM t"}`)
	f(false, "run_sql", `{"statements":["SELECT 1","DELETE FROM t"]}`)
	f(false, "run_sql", `{"a":1,"a":2,"query":"DELETE FROM t"}`)
	f(false, "run_sql", `{"query":"DELETE FROM t -- `+strings.Repeat("x", 70_000)+`"}`)
	f(false, "run_graphql_query", `{"query":"mutation { pay { id } }"}`)
	f(false, "search_and_replace", `{}`)
	f(false, "kill_query", `{"id":7}`)
	f(false, "enable_search", `{}`)
	f(false, "clear_list", `{}`)
	f(false, "get_and_delete", `{}`)
	f(false, "listen", `{}`)
	f(false, "checkout", `{}`)
	f(false, "read_write", `{}`)
	f(false, "cancel_search", `{}`)
	f(false, "frobnicate", `{}`)
	f(false, "targets", `{}`)
}

// What was done again and again, and answered the same, is told once, and how often.
func TestTheSameCallIsToldOnce(t *testing.T) {
	f := func(answers []string, want string) {
		t.Helper()
		all := func(yield func(*Call) bool) {
			for k, answer := range answers {
				c := &Call{Tool: "scale", About: "scale", Arguments: []byte(`{"pods":6}`), Answer: func() string { return answer }}
				if k == 1 {
					c.Arguments = []byte(`{"pods":9}`)
				}
				if !yield(c) {
					return
				}
			}
		}
		if got, _ := Rows(all, 1_000); strings.Join(got, "; ") != want {
			t.Errorf("%q: told %q, want %q", answers, got, want)
		}
	}
	f([]string{"done", "done", "done", "done"}, "scale pods: 6, 3 times; scale pods: 9")
	f([]string{`{"task":7}`, "done", `{"task":8}`, "done"}, "scale pods: 6\n> task: 7; scale pods: 9; scale pods: 6\n> task: 8; scale pods: 6")
	f([]string{"done"}, "scale pods: 6")
}

func TestRowsKeepToTheirRoom(t *testing.T) {
	const room = 2_000
	all := func(yield func(*Call) bool) {
		for k := range 400 {
			c := &Call{Tool: "scale", Arguments: fmt.Appendf(nil, `{"pods":%d}`, k%300), Answer: func() string { return "" }}
			if !yield(c) {
				return
			}
		}
	}
	list, more := Rows(all, room)
	if n := len(strings.Join(list, "\n")); n > room || n < room/2 || more == 0 {
		t.Errorf("%d of %d bytes, %d more", n, room, more)
	}
}
