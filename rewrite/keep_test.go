package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/dialect/chat"
	"epitome/event"
	"epitome/rewrite"
)

// A line of the user that begins with "keep:" stands in each summary, once, however often the conversation is compacted
// anew and by whatever process. Of lines that are too many the newest stay, and the report warns of it.
func TestKeepLinesStandInEverySummary(t *testing.T) {
	const line = `Keep: invoices have "half-even" rounding — always.`
	limits, storage := defaultLimits(), newStorage()
	messages := []string{`{"role":"user","content":"Fix it."}`}
	say := func(role, text string) {
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":%s}`, role, quoted(text)))
	}
	work := func() {
		for range 4 {
			say("assistant", strings.Repeat("I looked at all of the shop. ", 100))
			say("user", strings.Repeat("Go on with the shop. ", 60))
		}
	}
	send := func() (summary string, r rewrite.Report) { // in a new process
		p := start(storage)
		p.window.Store(16_000)
		body := `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
		out := p.Shape(rewrite.Input{Dialect: chat.Dialect{}, Body: []byte(body), Limits: &limits})
		if out.Report.Err != nil {
			t.Fatal(out.Report.Err)
		}
		return gjson.GetBytes(out.Body, "messages.0.content").Str, out.Report
	}
	say("assistant", "Yes?")
	say("user", "The rules are these.\n"+line+"\r\nNot to keep: this.\n<system-reminder>\nkeep: that\n</system-reminder>")
	compactions := 0
	for range 12 {
		work()
		text, report := send()
		if report.Compacted == 0 {
			continue
		}
		if compactions++; !strings.Contains(text, "oldest first ==\n"+line+"\n== ") {
			t.Fatalf("compaction %d: %.900s", compactions, text)
		}
		if len(report.Warnings) > 0 {
			t.Errorf("compaction %d warns of %v", compactions, report.Warnings)
		}
	}
	if compactions < 2 {
		t.Fatalf("%d compactions", compactions)
	}
	for i := range 300 {
		say("user", fmt.Sprintf("keep: rule %d, in so many words that all rules together are too long for a summary.", i))
		say("assistant", "Yes.")
	}
	work()
	text, report := send()
	warned := event.Warning{}
	for _, w := range report.Warnings {
		if w.Reason == event.ReasonKeep {
			warned = w
		}
	}
	if warned.Messages < 100 || !strings.Contains(text, fmt.Sprintf("(%d others are not shown", warned.Messages)) ||
		!strings.Contains(text, "\nkeep: rule 299, ") || strings.Contains(text, "\nkeep: rule 0, ") {
		t.Errorf("warned of %+v: %.900s", warned, text)
	}
}
