package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/console"
	"epitome/event"
)

// terminal writes the log, which it gets as JSON, for a person: how to begin, a line for each decision, and failures.
type terminal struct{ to io.Writer }

// Write writes one line of the log, or nothing if another line says the same.
func (t terminal) Write(line []byte) (int, error) {
	r := gjson.ParseBytes(line)
	of := func(key string) string { return console.Plain(r.Get(key).String()) }
	text := of("msg")
	switch isFailure := of("level") != "INFO"; {
	case text == "listening":
		openAI := of("OPENAI_BASE_URL")
		text = fmt.Sprintf("epitome listens on %s and sends to %s, mode %s\n\n    export OPENAI_BASE_URL=%s\n"+
			"    export ANTHROPIC_BASE_URL=%s\n    epitome open     # the pages, in your browser\n\n"+
			"Waiting for the first request. Ctrl-C ends epitome.", strings.TrimSuffix(openAI, "/v1"), of("upstream"),
			of("mode"), openAI, of("ANTHROPIC_BASE_URL"))
	case text == "exchange" && isFailure:
		text = fmt.Sprintf("%s %s: %s %s%s", of("method"), of("path"), of("status"), of("error"), of("inner"))
	case text == "exchange" && of("did") == "" && of("turn") != "1", text == event.CompactionCompleted,
		text == event.SummaryStarted, text == event.SummaryCompleted, text == event.ActionRescue:
		return len(line), nil // nothing was decided, or the exchange says it
	case text == "exchange":
		ifOn := map[string]string{event.ModeObserve: " in mode on"}[of("mode")]
		text = fmt.Sprintf("turn %s: %s → %s tokens%s, %s", of("turn"), console.Tokens(r.Get("tokens_before").Int()),
			console.Tokens(r.Get("tokens_after").Int()), ifOn, cmp.Or(of("did"), "nothing to shorten; answered "+of("status")))
	default:
		r.ForEach(func(key, value gjson.Result) bool {
			if name := key.String(); name != "time" && name != "level" && name != "msg" {
				text += fmt.Sprintf(", %s %s", name, console.Plain(value.String()))
			}
			return true
		})
	}
	if level := strings.ToLower(of("level")); level != "info" {
		text = level + ": " + text
	}
	_, err := fmt.Fprintf(t.to, "%s %s\n", r.Get("time").Time().Local().Format("15:04:05"), text)
	return len(line), err
}
