package replay

import (
	"slices"
	"strings"

	"github.com/tidwall/sjson"

	"epitome/rewrite/conversation"
)

// baselines are the ways of keeping a conversation small that epitome is compared with.
var baselines = []policy{
	baselinePolicy("send everything", func(*baseline, int) {}),
	baselinePolicy("truncate oldest to 50 %", (*baseline).dropOldest),
	baselinePolicy("clear all but three at 50 %", (*baseline).clearResults),
}

// baselinePolicy returns a policy whose shrink shortens what is sent where that has so many tokens.
func baselinePolicy(name string, shrink func(b *baseline, tokens int)) policy {
	return policy{name, func(s *session, window int) (shaper, error) {
		return &baseline{session: s, window: window, shrink: shrink}, nil
	}}
}

// baseline is a conversation as a baseline leaves it.
type baseline struct {
	*session
	window int
	shrink func(b *baseline, tokens int)
	sent   []*message // in the place of each of the client's messages; nil if it is left out
}

func (b *baseline) shape(original *request) (shaped, error) {
	b.sent = append(b.sent, original.messages[len(b.sent):]...)
	tokens := original.fixed
	for _, m := range b.sent {
		if m != nil {
			tokens += m.tokens
		}
	}
	b.shrink(b, tokens)
	var sources []string
	for _, m := range b.sent {
		if m != nil {
			sources = append(sources, m.source)
		}
	}
	body, items := string(original.Body), original.Items
	sent := body[:items[0].Start] + strings.Join(sources, ",") + body[items[len(items)-1].End:]
	return shaped{body: []byte(sent), isDecided: true}, nil
}

func (b *baseline) artifact(string) string { return "" }

// dropOldest leaves out the oldest messages behind the user's first one, with the results of their calls, down to half
// of the window whenever the request has more than 95 % of it. Messages of the system stay.
func (b *baseline) dropOldest(tokens int) {
	if tokens*100 <= b.window*95 {
		return
	}
	messages := b.whole.messages[:len(b.sent)]
	isUser := func(m *message) bool { return m.role == conversation.User }
	first := 1 + max(0, slices.IndexFunc(messages[:min(6, len(messages))], isUser))
	for i, m := range messages[first:] {
		if tokens*2 <= b.window && m.role != conversation.Tool {
			return
		}
		if m.role != conversation.System && b.sent[first+i] != nil {
			tokens -= m.tokens
			b.sent[first+i] = nil
		}
	}
}

// clearResults replaces all results of tools but the newest three whenever the request has more than half of the
// window.
func (b *baseline) clearResults(tokens int) {
	if tokens*2 <= b.window {
		return
	}
	newer := 0
	for i, m := range slices.Backward(b.sent) {
		if m.role != conversation.Tool {
			continue
		}
		if newer++; newer <= 3 || m.place < 0 {
			continue
		}
		source, _ := sjson.Set(m.source, "content", "[Old tool result content cleared]") // of a valid object
		cleared, err := b.read([]byte(`{"messages":[`+source+`]}`), &request{}, map[string]*message{})
		if err == nil && cleared.messages[0].tokens < m.tokens {
			b.sent[i] = cleared.messages[0]
		}
	}
}
