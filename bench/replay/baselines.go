package replay

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/tidwall/sjson"

	"epitome/rewrite/conversation"
)

// baselines are the ways of keeping a conversation small that epitome is compared with.
var baselines = []policy{
	baselinePolicy("send everything", func(*baseline) {}),
	baselinePolicy("truncate oldest to 50 %", (*baseline).dropOldest),
	baselinePolicy("clear all but three at 50 %", (*baseline).clearResults),
	baselinePolicy("user messages + summary at 90 %", (*baseline).summarize),
}

func baselinePolicy(name string, shrink func(*baseline)) policy {
	return policy{name: name, open: func(s *session, window int) (shaper, error) {
		return &baseline{session: s, window: window, shrink: shrink}, nil
	}}
}

// baseline is a conversation as a baseline leaves it.
type baseline struct {
	*session
	window int
	shrink func(*baseline)

	request *request // at hand, as the client sends it
	entries []entry  // its messages, as they are sent
	head    int      // messages that always stay: up to the user's first one
	summary entry    // stands behind the head, once there is one
	rounds  int      // in which a summary was made
	total   int      // tokens that are sent
	asked   []asked  // for a summary, with this request
}

// entry is a message of the client's as it is sent. Without a source it is left out.
type entry struct {
	*message
	source string
	tokens int
}

func (b *baseline) shape(original *request) (shaped, error) {
	if b.request == nil {
		b.total = original.fixed
	}
	for _, m := range original.messages[len(b.entries):] {
		b.entries = append(b.entries, entry{m, m.source, m.tokens})
		b.total += m.tokens
	}
	b.request, b.asked = original, nil
	if b.summary.source == "" {
		isUser := func(e entry) bool { return e.role == conversation.User }
		b.head = 1 + max(0, slices.IndexFunc(b.entries[:min(6, len(b.entries))], isUser))
	}
	b.shrink(b)
	return shaped{body: b.body(), isDecided: true, asked: b.asked}, nil
}

func (b *baseline) artifact(string) string { return "" }

func (b *baseline) close() {}

// body returns the request with the entries as its messages.
func (b *baseline) body() []byte {
	var sources []string
	for _, e := range slices.Concat(b.entries[:b.head], []entry{b.summary}, b.entries[b.head:]) {
		if e.source != "" {
			sources = append(sources, e.source)
		}
	}
	body, items := string(b.request.Body), b.request.Items
	return []byte(body[:items[0].Start] + strings.Join(sources, ",") + body[items[len(items)-1].End:])
}

// replace sends source in the place of an entry.
func (b *baseline) replace(e *entry, source string, tokens int) {
	b.total += tokens - e.tokens
	e.source, e.tokens = source, tokens
}

// drop leaves an entry out, except a message of the system.
func (b *baseline) drop(e *entry) {
	if e.role != conversation.System {
		b.replace(e, "", 0)
	}
}

// dropOldest leaves out the oldest messages, with the results of their calls, down to half of the window whenever the
// request has more than 95 % of it.
func (b *baseline) dropOldest() {
	if b.total*100 <= b.window*95 {
		return
	}
	for i := b.head; i < len(b.entries) && b.total*2 > b.window; {
		b.drop(&b.entries[i])
		for i++; i < len(b.entries) && b.entries[i].role == conversation.Tool; i++ {
			b.drop(&b.entries[i])
		}
	}
}

// clearResults replaces all results of tools but the newest three whenever the request has more than half of the
// window.
func (b *baseline) clearResults() {
	if b.total*2 <= b.window {
		return
	}
	newer := 0
	for i := len(b.entries) - 1; i >= 0; i-- {
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
		if tokens := b.tokensOf(source); tokens < e.tokens {
			b.replace(e, source, tokens)
		}
	}
}

// summarize leaves of a request with more than 90 % of the window the head, the user's newest messages with up to
// 20,000 tokens, and a summary. The summary costs as much as a model's, and says nothing that an answer could need.
func (b *baseline) summarize() {
	if b.total*10 <= b.window*9 {
		return
	}
	const written, withIntroduction = 1500, 1561 // tokens
	b.asked = append(b.asked, asked{b.body(), written})
	room := 20_000
	for i := len(b.entries) - 1; i >= b.head; i-- {
		e := &b.entries[i]
		if e.role == conversation.User && e.message.tokens <= room {
			room -= e.message.tokens
			continue
		}
		if e.role == conversation.User {
			room = 0 // for older ones
		}
		b.drop(e)
	}
	b.rounds++
	begin := fmt.Sprintf("Summary, round %d. ", b.rounds)
	summary := func(n int) (source string) {
		source, _ = sjson.Set(`{"role":"user"}`, "content", begin+strings.Repeat("And so on. ", n))
		return source
	}
	n := sort.Search(withIntroduction, func(n int) bool { return b.tokensOf(summary(n)) >= withIntroduction })
	b.replace(&b.summary, summary(n), b.tokensOf(summary(n)))
}
