package replay

import (
	"slices"
	"strings"

	"github.com/tidwall/sjson"

	"epitome/dialect/conversation"
)

// baselines are the ways of keeping a conversation small that epitome is compared with.
var baselines = []policy{
	baseline("send everything", func(_ *session, sent []*message, _, _ int) []*message { return sent }),
	baseline("truncate oldest to 50 %", dropOldest),
	baseline("clear all but three at 50 %", clearResults),
}

// baseline returns a policy that sends what shrink leaves of messages with so many tokens: those that it sent before,
// and the new ones of the client.
func baseline(name string, shrink func(s *session, sent []*message, tokens, window int) []*message) policy {
	return policy{name, func(s *session, window int) (shaper, error) {
		var sent []*message
		seen := 0 // messages of the client
		return func(original *request) (shaped, error) {
			sent, seen = append(sent, original.messages[seen:]...), len(original.messages)
			tokens := original.fixed
			for _, m := range sent {
				tokens += m.tokens
			}
			sent = shrink(s, sent, tokens, window)
			var sources []string
			for _, m := range sent {
				sources = append(sources, m.source)
			}
			body, items := string(original.Body), original.Items
			all := body[:items[0].Start] + strings.Join(sources, ",") + body[items[len(items)-1].End:]
			return shaped{body: []byte(all), isDecided: true}, nil
		}, nil
	}}
}

// dropOldest leaves out the oldest messages behind the user's first one, with the results of their calls, down to half
// of the window whenever the request has more than 95 % of it. Messages of the system stay.
func dropOldest(s *session, sent []*message, tokens, window int) []*message {
	if tokens*100 <= window*95 {
		return sent
	}
	isUser := func(m *message) bool { return m.role == conversation.User }
	first := 1 + max(0, slices.IndexFunc(s.whole.messages[:min(6, len(sent))], isUser))
	kept := sent[:first:first]
	for i, m := range sent[first:] {
		if tokens*2 <= window && m.role != conversation.Tool {
			return append(kept, sent[first+i:]...)
		}
		if m.role == conversation.System {
			kept = append(kept, m)
		} else {
			tokens -= m.tokens
		}
	}
	return kept
}

// clearResults replaces all results of tools but the newest three whenever the request has more than half of the
// window.
func clearResults(s *session, sent []*message, tokens, window int) []*message {
	if tokens*2 <= window {
		return sent
	}
	newer := 0
	for i, m := range slices.Backward(sent) {
		if m.role != conversation.Tool {
			continue
		}
		if newer++; newer <= 3 || m.place < 0 {
			continue
		}
		source, _ := sjson.Set(m.source, "content", "[Old tool result content cleared]") // of a valid object
		cleared, err := s.read([]byte(`{"messages":[`+source+`]}`), &request{}, map[string]*message{})
		if err == nil && cleared.messages[0].tokens < m.tokens {
			sent[i] = cleared.messages[0]
		}
	}
	return sent
}
