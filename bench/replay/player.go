package replay

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Prices of a token, in those of one that is new to the provider.
const (
	cachedPrice = 0.1
	outputPrice = 5.0
)

// player plays one session through one policy in one window, and measures what is sent.
type player struct {
	*session
	shape  shaper
	row    *Row                // of the policy and the window, with the figures of all sessions
	known  map[string]*message // all messages read so far, by their source
	before *request            // as it was sent; empty at first
	cached int                 // tokens of the request before as the client sent it
	died   bool

	artifact func(name string) ([]byte, error) // as in shaped, of the last request
	failed   error                             // of a method that cannot go on
}

// play plays and measures a turn. original is the client's request.
func (p *player) play(t turn, original *request) {
	s, now, err := p.send(original)
	if err != nil {
		p.row.Invalid++
	}
	for _, m := range now.messages {
		if m.place < 0 && m.quotes == "" {
			p.findQuotes(m, t.end)
		}
	}
	p.measureRecall(t, now, original, s)
	p.measureSignal(t, now)
}

// send returns what the policy sends, and counts its price. If the policy fails, or what it sends cannot be read, the
// client's request is measured.
func (p *player) send(original *request) (shaped, *request, error) {
	s, err := p.shape(original)
	p.artifact = s.artifact
	now := original
	if err == nil && !bytes.Equal(s.body, original.Body) {
		now, err = p.read(s.body, p.before, p.known)
		if err != nil {
			now = original
		}
		for _, flaw := range flawsOf(s.body) {
			if !slices.Contains(flawsOf(original.Body), flaw) {
				err = errors.New(flaw)
			}
		}
	}
	p.pay(s, now, original)
	return s, now, err
}

// pay adds the price of a request, and of the policy's own requests, to the row.
func (p *player) pay(s shaped, now, original *request) {
	same, cached := now.cached(p.before)
	cost := price(now.tokens, cached)
	for _, a := range s.asked {
		r, err := p.read(a.body, &request{}, p.known)
		if err != nil {
			continue
		}
		_, cached := r.cached(p.before)
		cost += price(r.tokens, cached) + outputPrice*float64(a.output)
	}
	p.row.Cost.sum += cost
	p.row.Cost.of += price(original.tokens, p.cached)
	if now.tokens > p.row.Window && !p.died {
		p.died = true
		p.row.Died++
	}
	p.row.BreaksPer100.count(same < len(p.before.messages))
	p.before, p.cached = now, original.tokens
}

// cached returns how many messages from the start, and how many tokens, a request has in common with the one before.
func (r *request) cached(before *request) (messages, tokens int) {
	if before.Request == nil || !bytes.Equal(r.Tools.Of(r.Body), before.Tools.Of(before.Body)) {
		return 0, 0
	}
	tokens = r.fixed
	for messages < min(len(r.messages), len(before.messages)) && r.messages[messages] == before.messages[messages] {
		tokens += r.messages[messages].tokens
		messages++
	}
	return messages, tokens
}

func price(tokens, cached int) float64 { return cachedPrice*float64(cached) + float64(tokens-cached) }

// measureRecall counts which needs of the answer a request meets: a name stands in a message of the client's that is
// sent whole, or on a line that is one of the client's; a line stands anywhere. A request over the window meets none.
// Recall is measured in requests that, as the client sends them, have more than half of the window or 100,000 tokens.
func (p *player) measureRecall(t turn, now, original *request, s shaped) {
	var artifacts []string
	var made []*message
	for _, m := range slices.Backward(now.messages) {
		if m.place < 0 {
			made = append(made, m)
			artifacts = append(artifacts, m.artifacts...)
		}
	}
	var names, old, lines ratio
	for _, n := range t.needs {
		isSent := p.hasAny(now, n.places) || slices.ContainsFunc(made, func(m *message) bool {
			return n.isIn(m.quotes) || n.isLine && n.isIn(m.text)
		})
		isMet := isSent && now.tokens <= p.row.Window
		if n.isLine {
			lines.count(isMet)
			continue
		}
		names.count(isMet)
		if n.isOld {
			old.count(isMet)
		}
		if !isSent {
			p.row.Retrievable.count(isInArtifact(n.text, artifacts, s.artifact))
		}
	}
	if 2*original.tokens > min(p.row.Window, 200_000) {
		p.row.Recall.addShare(names)
		p.row.RecallOlder.addShare(old)
		p.row.RecallLines.addShare(lines)
	}
}

// hasAny reports whether a request has one of the client's messages at these places.
func (p *player) hasAny(r *request, places []int) bool {
	return slices.ContainsFunc(places, func(i int) bool { return r.has[p.whole.messages[i]] })
}

// isInArtifact reports whether one of the artifacts that read returns contains a text: as it is, in a JSON string, or
// in the arguments of a call, which are JSON in a JSON string.
func isInArtifact(text string, artifacts []string, read func(name string) ([]byte, error)) bool {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace
	once := escape(text)
	forms := slices.Compact([]string{text, once, escape(once)})
	return read != nil && slices.ContainsFunc(artifacts, func(name string) bool {
		content, _ := read(name) // none with an error
		return slices.ContainsFunc(forms, func(form string) bool { return bytes.Contains(content, []byte(form)) })
	})
}

// measureSignal counts the failures that a request shows of the outputs that are new with it: in a message of the
// client's that is sent whole, or quoted. A request over the window shows none.
func (p *player) measureSignal(t turn, now *request) {
	for _, o := range t.outputs {
		isWhole := now.has[o]
		for i, line := range o.failures {
			isSent := isWhole || p.hasAny(now, p.lines[line]) ||
				slices.ContainsFunc(now.messages, func(m *message) bool {
					return strings.Contains(m.quotes, "\n"+line+"\n")
				})
			isShown := isSent && now.tokens <= p.row.Window
			p.row.Seen.count(isShown)
			if isWhole {
				continue
			}
			p.row.Signal.count(isShown)
			if i == 0 {
				p.row.SignalFirst.count(isShown)
			}
		}
	}
}

// flawsOf returns the rules of Chat Completions that a body breaks, among those that a rewrite could break: it is JSON,
// the results of an answer's calls follow it, arguments are JSON, and no message is empty. It shares no code with
// epitome's own check.
func flawsOf(body []byte) (flaws []string) {
	if !gjson.ValidBytes(body) {
		return []string{"it is not JSON"}
	}
	waiting := map[string]bool{} // calls, by ID
	for _, m := range gjson.GetBytes(body, "messages").Array() {
		id, calls, content := m.Get("tool_call_id").Str, m.Get("tool_calls").Array(), m.Get("content")
		isResult := m.Get("role").Str == "tool"
		switch {
		case isResult && !waiting[id]:
			flaws = append(flaws, "a result answers no call: "+id)
		case isResult:
			delete(waiting, id)
		case len(waiting) > 0:
			flaws = append(flaws, "a call has no result before "+m.Raw)
			clear(waiting)
		}
		if content.Type != gjson.String && len(content.Array()) == 0 && len(calls) == 0 {
			flaws = append(flaws, "a message has no content: "+m.Raw)
		}
		for _, call := range calls {
			waiting[call.Get("id").Str] = true
			arguments := call.Get("function.arguments")
			if arguments.Exists() && !gjson.Valid(arguments.Str) {
				flaws = append(flaws, "the arguments of a call are not JSON: "+call.Raw)
			}
		}
	}
	return flaws
}
