package summarize_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"epitome/summarize"
)

// A receipt counts what is sent and names what is not, and it lists what a model has made up.
func TestReceipt(t *testing.T) {
	r, calls := read(t, join(assistant("Shall I move the data to Postgres?"), user("Yes, do that. Never touch the backup."),
		call("write_file", `{"path":"a/x.go","content":"a"}`, "ok"), call("write_file", `{"path":"a/y.go","content":"a"}`, "ok"),
		call("bash", `{"command":"make"}`, "make: *** [all] Error 2\nexit code 2"),
		call("bash", `{"command":"false"}`, "exit code 1"),
		call("todo_write", `{"todos":["move the data","write the docs"]}`, "ok"),
		assistant("Done."), user("Is the parser slow?"), assistant("No."), user("从现在开始用中文回答。 What is left?"))...)
	sent, _ := read(t, join(assistant("> Never touch the backup.\nfalse\n(failed, exit code 1)"),
		user("== 1 ==\n7 从现在开始用中文回答。\n-- 9 user\nYes, do that. […] What is left?\na/x.go\n> write the docs: pending"))...)
	says := summarize.Says{Until: len(r.Items), Text: "The user approved moving the data to Postgres. The user decided to " +
		"drop support for Windows entirely. See a/y.go and b/z.go."}
	got, _ := json.Marshal(summarize.Receipt(r, sent, calls, says))
	const want = `[{"kind":"messages","all":4,"sent":3,"missing":["Is the parser slow?"]},` +
		`{"kind":"orders","all":2,"sent":2},{"kind":"files","all":2,"sent":1,"missing":["a/y.go"]},` +
		`{"kind":"failures","all":2,"sent":1,"missing":["make: *** [all] Error 2"]},` +
		`{"kind":"tasks","all":2,"sent":1,"missing":["move the data"]},{"kind":"claims","all":4,"sent":2,` +
		`"missing":["b/z.go","The user decided to drop support for Windows entirely."]}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Promise 10: a receipt of four times the conversation takes less than nine times the work. Others on this machine disturb
// a measurement, never to the better: the least of some counts.
func TestReceiptGrowsWithTheConversation(t *testing.T) {
	shapes := map[string]func(i int) (turn any, claim string){
		"one task": func(int) (any, string) { return assistant(strings.Repeat("I look at the next part. ", 8)), "" },
		"files": func(i int) (any, string) {
			return call("write_file", fmt.Sprintf(`{"path":"src/some/folder/file%d.go","content":""}`, i), "ok"), ""
		},
		"decisions": func(i int) (any, string) {
			return user(fmt.Sprint("Number ", i)), fmt.Sprintf("- The user approved plan%d.\n", i)
		},
	}
	for name, shape := range shapes {
		work := func(n int) func() time.Duration {
			var turns []any
			says := summarize.Says{Text: "The user approved plan0.\n"}
			for i := range n {
				turn, claim := shape(i)
				turns = append(turns, turn)
				says.Text += claim
			}
			r, calls := read(t, join(turns...)...)
			sent, _ := read(t)
			return func() time.Duration {
				began := time.Now()
				summarize.Receipt(r, sent, calls, says)
				return time.Since(began)
			}
		}
		one, four := work(1_000), work(4_000)
		small, large := time.Hour, time.Hour
		for round := 0; round < 3 || large > 9*small && round < 40; round++ {
			small, large = min(small, one()), min(large, four())
		}
		if large > 9*small {
			t.Errorf("%s: four times the turns take %.1f times the work", name, float64(large)/float64(small))
		}
	}
}
