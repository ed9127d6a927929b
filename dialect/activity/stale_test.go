package activity_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"epitome/dialect/activity"
	"epitome/dialect/chat"
	"epitome/dialect/conversation"
)

// A result is stale once a later call changes its file, or repeats it. A talk is a list of calls, each with its result
// behind "= "; of a result in parentheses the client marked the call as failed.
func TestResultsAreStaleOnceALaterCallChangesOrRepeatsThem(t *testing.T) {
	lines := func(n int, end string) string { return strings.Repeat("some line of it\n", n) + end }
	page := lines(50, "")
	tests := []struct {
		name string
		want string // of each result: . stays, p was patched, r is replaced
		talk []string
	}{
		{"written", "r.", []string{`read {"path":"./a/b.go"}`, page, `write_file {"path":"a/b.go","content":"x"}`, "ok"}},
		{"edited", "p.", []string{`Read {"file_path":"a.go"}`, page, `Edit {"file_path":"a.go","old":"x"}`, "ok"}},
		{"patched", "p.", []string{`read {"path":"a.go"}`, page,
			`apply_patch {"patch":"*** Update File: a.go\n-x\n+write"}`, "ok"}},
		{"not written", "..", []string{`read {"path":"a.go"}`, page, `write {"path":"a.go","content":"x"}`, "Error: read-only"}},
		{"in the folder", "r.", []string{`read {"path":"a/b.go"}`, page, `write {"path":"/w/shop/a/b.go","content":"x"}`, "ok"}},
		{"in another folder", "..", []string{`read {"path":"a/b.go"}`, page, `write {"path":"/w/b/a/b.go","content":"x"}`, "ok"}},
		{"one text of three", "rr.", []string{`read {"path":"a.go"}`, lines(90, ""), `bash {"command":"cat a.go"}`, lines(90, ""),
			`fetch {"url":"http://a.test/a.go"}`, lines(90, "")}},
		{"another file", "..", []string{`read {"path":"a/b.go"}`, page, `write {"path":"b.go","content":"x"}`, "ok"}},
		{"read again", "r..", []string{`read {"path":"a.go"}`, page, `edit {"path":"a.go"}`, "ok", `read {"path":"a.go"}`, page}},
		{"said to be the same", "..", []string{`read {"path":"a.go"}`, page, `read {"path":"a.go"}`, "File unchanged."}},
		{"not read again", "..", []string{`read {"path":"a.go"}`, page, `read {"path":"a.go"}`, "Error: no such file"}},
		{"parts", "r...", []string{`read {"path":"a.go","offset":1}`, page, `read {"path":"a.go","range":[50,99]}`, page,
			`read {"path":"a.go","lines":"3-9"}`, page, `read {"path":"a.go","offset":1}`, page}},
		{"named parts", "..", []string{`read_sheet {"path":"a.xlsx","sheet":"Costs"}`, page,
			`read_sheet {"path":"a.xlsx","sheet":"Income"}`, page}},
		{"questions", "..", []string{`read_section {"path":"a.md","query":"one"}`, page,
			`read_section {"path":"a.md","query":"two"}`, page}},
		{"viewed", "..", []string{`read {"path":"a.go"}`, page,
			`str_replace_based_edit_tool {"command":"view","path":"a.go"}`, "Short."}},
		{"addresses", "..", []string{`bash {"command":"ss"}`, lines(3, "10.1.0.3:8001 12:todo(12)"),
			`bash {"command":"ss"}`, lines(3, "10.7.0.3:8007 14:done(14)")}},
		{"versions", "..", []string{`read {"path":"a.go","ref":"main"}`, page, `read {"path":"a.go","ref":"next"}`, page}},
		{"values", "..", []string{`bash {"command":"cover"}`, "91.5% of 1.2.3", `bash {"command":"cover"}`, "13.2% of 9.0.1"}},
		{"part and whole", "r.", []string{`read {"path":"a.go","offset":9}`, lines(20, ""), `read {"path":"a.go"}`, page}},
		{"whole and part", "..", []string{`read {"path":"a.go"}`, page, `read {"path":"a.go","offset":9}`, lines(20, "")}},
		{"repeated", "rr.", []string{`bash {"command":"make","description":"First"}`, lines(60, "in 1.3s"),
			`bash {"command":"make","description":"Again"}`, lines(60, "in 12.5s"), `bash {"command":"make"}`, lines(61, "")}},
		{"times", "r.", []string{`bash {"command":"make"}`, "ok a 0.1s\nok b (3 ms)\nat 12:03:11", `bash {"command":"make"}`,
			"ok a 2.7s\nok b (12 ms)\nat 12:04:59"}},
		{"counts", "..", []string{`bash {"command":"wc"}`, "3 tests", `bash {"command":"wc"}`, "4 tests"}},
		{"another command", "..", []string{`bash {"command":"make"}`, page, `bash {"command":"make all"}`, page}},
		{"another result", "..", []string{`bash {"command":"make"}`, page, `bash {"command":"make"}`, lines(40, "x\ny\nz\n")}},
		{"of the user", "..", []string{`ask_user {"question":"Go?"}`, "Yes.", `ask_user {"question":"Go?"}`, "Yes."}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := func(talk []string) string {
				body := `{"model":"m","messages":[{"role":"user","content":"Go."}`
				for k := 0; k < len(talk); k += 2 {
					tool, arguments, _ := strings.Cut(talk[k], " ")
					body += fmt.Sprintf(`,{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":%q,`+
						`"arguments":%q}}]},{"role":"tool","tool_call_id":"c%d","content":%s}`, k, tool, arguments, k,
						strconv.Quote(talk[k+1]))
				}
				return body + "]}"
			}
			read := func(talk []string, known *conversation.Request) (*conversation.Request, error) {
				r, err := conversation.Read(chat.Dialect{}, []byte(f(talk)), known)
				if err == nil {
					r.Folder = "/w/shop"
				}
				return r, err
			}
			first, err := read(test.talk[:2], nil)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := read(test.talk, nil)
			if err != nil {
				t.Fatal(err)
			}
			calls := activity.Of(whole, nil)
			got := ""
			for k := range calls {
				switch c := &calls[k]; {
				case c.Replaced > 0:
					got += "r"
				case c.Patched > 0:
					got += "p"
				default:
					got += "."
				}
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			again, err := read(test.talk, first) // from the first call on
			if err != nil {
				t.Fatal(err)
			}
			if grown := activity.Of(again, activity.Of(first, nil)); fmt.Sprint(grown) != fmt.Sprint(calls) {
				t.Errorf("read as it grows: %v, want %v", grown, calls)
			}
			back, err := read(test.talk[:4], whole) // the user went back
			if err != nil {
				t.Fatal(err)
			}
			alone, err := read(test.talk[:4], nil)
			if err != nil {
				t.Fatal(err)
			}
			short, want := activity.Of(back, calls), activity.Of(alone, nil)
			if back.Reused < len(back.Items) && fmt.Sprint(short) != fmt.Sprint(want) {
				t.Errorf("read after more: %v", short)
			}
		})
	}
}
