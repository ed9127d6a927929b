package replay

import (
	"slices"
	"strings"

	"github.com/tidwall/sjson"

	"epitome/rewrite/conversation"
)

// baselines are the ways of keeping a conversation small that epitome is compared with.
var baselines = []policy{
	baseline("send everything", func(*session, []*message, int, int) {}),
	baseline("truncate oldest to 50 %", dropOldest),
	baseline("clear all but three at 50 %", clearResults),
}

// baseline returns a policy whose shrink shortens what is sent where that has so many tokens. Sent has a message in the
// place of each of the client's messages, or nil if it is left out; it stays so in the requests that follow.
func baseline(name string, shrink func(s *session, sent []*message, tokens, window int)) policy {
	return policy{name, func(s *session, window int) (shaper, error) {
		var sent []*message
		return func(original *request) (shaped, error) {
			sent = append(sent, original.messages[len(sent):]...)
			tokens := original.fixed
			for _, m := range sent {
				if m != nil {
					tokens += m.tokens
				}
			}
			shrink(s, sent, tokens, window)
			var sources []string
			for _, m := range sent {
				if m != nil {
					sources = append(sources, m.source)
				}
			}
			body, items := string(original.Body), original.Items
			all := body[:items[0].Start] + strings.Join(sources, ",") + body[items[len(items)-1].End:]
			return shaped{body: []byte(all), isDecided: true}, nil
		}, nil
	}}
}

// dropOldest leaves out the oldest messages behind the user's first one, with the results of their calls, down to half
// of the window whenever the request has more than 95 % of it. Messages of the system stay.
func dropOldest(s *session, sent []*message, tokens, window int) {
	if tokens*100 <= window*95 {
		return
	}
	messages := s.whole.messages[:len(sent)]
	isUser := func(m *message) bool { return m.role == conversation.User }
	first := 1 + max(0, slices.IndexFunc(messages[:min(6, len(messages))], isUser))
	for i, m := range messages[first:] {
		if tokens*2 <= window && m.role != conversation.Tool {
			return
		}
		if m.role != conversation.System && sent[first+i] != nil {
			tokens -= m.tokens
			sent[first+i] = nil
		}
	}
}

// clearResults replaces all results of tools but the newest three whenever the request has more than half of the
// window.
func clearResults(s *session, sent []*message, tokens, window int) {
	if tokens*2 <= window {
		return
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
}
