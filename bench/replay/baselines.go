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

// baselinePolicy returns a policy whose shrink shortens the entries of a request that has so many tokens.
func baselinePolicy(name string, shrink func(b *baseline, tokens int)) policy {
	return policy{name, func(s *session, window int) (shaper, error) {
		return &baseline{session: s, window: window, shrink: shrink}, nil
	}}
}

// baseline is a conversation as a baseline leaves it.
type baseline struct {
	*session
	window  int
	shrink  func(b *baseline, tokens int)
	entries []entry
}

// entry is a message of the client's as it is sent. Without a source it is left out.
type entry struct {
	*message
	source string
	tokens int
}

func (b *baseline) shape(original *request) (shaped, error) {
	for _, m := range original.messages[len(b.entries):] {
		b.entries = append(b.entries, entry{m, m.source, m.tokens})
	}
	tokens := original.fixed
	for _, e := range b.entries {
		tokens += e.tokens
	}
	b.shrink(b, tokens)
	var sources []string
	for _, e := range b.entries {
		if e.source != "" {
			sources = append(sources, e.source)
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
	isUser := func(e entry) bool { return e.role == conversation.User }
	first := 1 + max(0, slices.IndexFunc(b.entries[:min(6, len(b.entries))], isUser))
	for i := first; i < len(b.entries); i++ {
		e := &b.entries[i]
		if tokens*2 <= b.window && e.role != conversation.Tool {
			return
		}
		if e.role != conversation.System {
			tokens -= e.tokens
			e.source, e.tokens = "", 0
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
	for i := range slices.Backward(b.entries) {
		e := &b.entries[i]
		if e.role != conversation.Tool {
			continue
		}
		if newer++; newer <= 3 || e.source != e.message.source {
			continue
		}
		source, err := sjson.Set(e.source, "content", "[Old tool result content cleared]")
		if err != nil {
			continue
		}
		cleared, err := b.read([]byte(`{"messages":[`+source+`]}`), nil, map[string]*message{})
		if err == nil && cleared.messages[0].tokens < e.tokens {
			e.source, e.tokens = source, cleared.messages[0].tokens
		}
	}
}
