package rewrite_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/dialect/messages"
	"epitome/dialect/responses"
	"epitome/rewrite"
)

// A long text of the agent is cut in the middle when it first comes back, and is sent alike from then on. Its artifact
// has it whole. Without max_replayed it stays.
func TestMaxReplayedCutsTheAgentsTexts(t *testing.T) {
	tests := []struct {
		dialect    conversation.Dialect
		list, text string // the name of the list of items, and the type of a text of the agent
	}{{chat.Dialect{}, "messages", "text"}, {messages.Dialect{}, "messages", "text"},
		{responses.Dialect{}, "input", "output_text"}}
	said := "First this." + strings.Repeat(" Then more of it.", 1000) + " Here is the middle." +
		strings.Repeat(" Then more of it.", 1000) + " Last that."
	for _, test := range tests {
		t.Run(test.dialect.Name(), func(t *testing.T) {
			storage := newStorage()
			p := start(storage)
			p.window.Store(100_000)
			limits, _, err := defaultLimits().With("max_replayed", "500")
			if err != nil {
				t.Fatal(err)
			}
			user := `{"role":"user","content":"Go on."}`
			body := fmt.Sprintf(`{"model":"m","max_tokens":1000,%q:[%s,{"role":"assistant","content":[{"type":%q,"text":%q}]},%s`,
				test.list, user, test.text, said, user)
			longer := body + `,{"role":"assistant","content":"Yes."},` + user + "]}"
			send := func(body string) rewrite.Output {
				return p.Shape(rewrite.Input{Dialect: test.dialect, Body: []byte(body), Limits: &limits})
			}
			first := send(body + "]}")
			sent := string(first.Body)
			isCut := strings.Contains(sent, "First this.") && strings.Contains(sent, "Last that.") &&
				!strings.Contains(sent, "the middle") && first.Report.TokensAfter.Assistant <= 510
			names := artifactNames(sent)
			if !isCut || len(names) != 1 || storage.artifact(names[0]) != said {
				t.Errorf("%v: sent %.900s", first.Report.Err, sent)
			}
			if next := send(longer); !bytes.HasPrefix(next.Body, bytes.TrimSuffix(first.Body, []byte("]}"))) {
				t.Errorf("then sent %.900s", next.Body)
			}
			limits.Replayed = 0
			p = start(newStorage())
			p.window.Store(100_000)
			if out := send(longer); out.Changed {
				t.Errorf("without it sent %.900s", out.Body)
			}
		})
	}
}
