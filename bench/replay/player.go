package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"epitome/config"
	"epitome/daemon"
	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/unit"
	"epitome/offload"
	"epitome/rewrite"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
	"epitome/window"
)

// policy is a way of shaping requests. open begins a session with a window of so many tokens.
type policy struct {
	name string
	open func(s *session, window int) (shaper, error)
}

// shaper returns what is sent in the place of a request. The requests are those of one session, in order. After an error
// the request counts as invalid.
type shaper func(original *request) (shaped, error)

// shaped is what is sent in the place of a request.
type shaped struct {
	body      []byte
	isDecided bool                              // earlier messages are changed by a new decision
	asked     []asked                           // the policy's own requests to a model since the request before
	artifact  func(name string) ([]byte, error) // returns the text that was taken out under a name; nil: there is none

	isCompacted bool // by a new decision
	tokens      int  // of body
}

// asked is a request of a policy to a model, and the tokens of the answer.
type asked struct {
	body   []byte
	output int
}

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
	fault  string // the first thing that is wrong
}

// play plays and measures turn number n. original is the client's request.
func (p *player) play(n int, original *request) {
	t := p.turns[n]
	s, now := p.send(n, original)
	for _, m := range now.messages {
		if m.place < 0 && m.quotes == "" {
			p.findQuotes(m, t.end)
		}
	}
	same, cached := now.cached(p.before)
	cost := price(now.tokens, cached)
	for _, a := range s.asked {
		if r, err := p.read(a.body, &request{}, p.known); err == nil {
			_, cached := r.cached(p.before)
			cost += price(r.tokens, cached) + outputPrice*float64(a.output)
		}
	}
	p.row.Cost.sum, p.row.Cost.of = p.row.Cost.sum+cost, p.row.Cost.of+price(original.tokens, p.cached)
	if now.tokens > p.row.Window && !p.died {
		p.died = true
		p.row.Died++
	}
	breaks := same < len(p.before.messages)
	p.row.BreaksPer100.count(breaks)
	if breaks && !s.isDecided {
		p.row.Unrecorded++
		p.note(n, "earlier messages changed without a decision")
	}
	for _, l := range t.lookups {
		if !p.before.has[l.earlier] { // the request in whose answer the agent looked again
			p.row.ReadAgain++
			p.row.ReadAgainTokens += l.result.tokens
		}
	}
	p.measureRecall(t, now, original, s)
	p.measureSignal(t, now)
	p.before, p.cached = now, original.tokens
}

// send returns what the policy sends. If it fails, or what it sends cannot be read, the client's request is measured.
func (p *player) send(n int, original *request) (shaped, *request) {
	s, err := p.shape(original)
	now := original
	if err == nil && !bytes.Equal(s.body, original.Body) {
		if now, err = p.read(s.body, p.before, p.known); err != nil {
			now = original
		}
		for _, flaw := range flawsOf(s.body) {
			if !slices.Contains(flawsOf(original.Body), flaw) {
				err = errors.New(flaw)
			}
		}
	}
	if err != nil {
		p.row.Invalid++
		p.note(n, err.Error())
	}
	return s, now
}

// note keeps the first thing that is wrong in the session.
func (p *player) note(n int, what string) {
	if p.fault == "" {
		p.fault = fmt.Sprintf("%s: %s, window %d, request %d: %s", p.name, p.row.Policy, p.row.Window, n+1, what)
	}
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
			made, artifacts = append(made, m), append(artifacts, m.artifacts...)
		}
	}
	var names, old, lines ratio
	for _, n := range t.needs {
		isSent := p.hasAny(now, n.places) || slices.ContainsFunc(made, func(m *message) bool {
			return n.isIn(m.quotes) || n.isLine && (n.isIn(m.text) || n.isIn(m.args))
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

// isInArtifact reports whether one of the artifacts that read returns contains a text: as it is, in a JSON string, or in
// the arguments of a call, which are JSON in a JSON string.
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
			arguments := call.Get("function.arguments")
			if waiting[call.Get("id").Str] = true; arguments.Exists() && !gjson.Valid(arguments.Str) {
				flaws = append(flaws, "the arguments of a call are not JSON: "+call.Raw)
			}
		}
	}
	return flaws
}

// ownPolicy shapes as a running epitome with the configuration does, with a store and artifacts of its own in memory,
// whose address at says. Where a model is asked for summaries, a stand-in answers.
func ownPolicy(conf config.Config, at offload.Options) policy {
	conf.Summarize.Wait = time.Hour // the speed of the machine makes no difference
	return policy{"epitome, " + conf.Rewrite.Preset, func(s *session, size int) (shaper, error) {
		const maxBytes = 256 << 20
		facts := store.NewMemory(maxBytes)
		at.Secret, at.Quota, at.Keep = []byte("replay"), maxBytes, time.Hour
		artifacts, err := offload.OpenMemory(at)
		if err != nil {
			return nil, err
		}
		all := unit.Tokens(size)
		windows := window.New(window.Config{Default: all, Models: map[string]unit.Tokens{"*": all}}, nil, time.Now)
		e := &epitome{session: s, conf: conf, window: size, artifacts: artifacts}
		e.Summarizer = summarize.New(conf.Summarize, summarize.Deps{
			Store: facts, Keep: time.Hour, Send: e.answer, Count: tokenize.CountString, Overflow: window.TooLong,
			Dialect:  chat.Dialect{},
			Usable:   func(string, string) int { return window.Usable(size, 0) },
			Prepares: func(string) bool { return conf.Summarize.Prepare != summarize.PrepareOff },
			Tell:     func(event.Summary) {}, Log: slog.New(slog.DiscardHandler),
		})
		deps := daemon.Deps(facts, artifacts, windows, time.Hour)
		deps.Summarizer, deps.Memo = e, s.scale.Memo
		e.shaper = rewrite.NewShaper(deps)
		return e.shape, nil
	}}
}

// epitome shapes the requests of one session.
type epitome struct {
	*summarize.Summarizer
	session   *session
	conf      config.Config
	window    int
	shaper    *rewrite.Shaper
	artifacts *offload.Shelf
	ahead     []summarize.Question // to be answered before the next request
	asked     []asked
	file      string // that an answer has to name
}

// Ask has the stand-in for a model answer a question.
func (e *epitome) Ask(ctx context.Context, q summarize.Question) (summarize.Prose, error) {
	e.file, _, _ = strings.Cut(q.Written, "\n")
	return e.Summarizer.Ask(ctx, q)
}

func (e *epitome) shape(original *request) (shaped, error) {
	in := rewrite.Input{Dialect: original.Dialect, Body: original.Body, Upstream: "replay", Limits: &e.conf.Rewrite,
		SummaryMode: e.conf.Summarize.Mode, SummaryDetail: e.conf.Summarize.Detail,
		Compact: e.session.once, Client: context.Background(), Credential: func() any { return nil }}
	out := e.shaper.Shape(in)
	broke, compacted := out.Report.Broke, out.Report.Compacted
	out = e.rescue(in, out)
	for _, q := range e.ahead {
		_, _ = e.Ask(context.Background(), q) // without an answer there is no summary
	}
	s := shaped{out.Body, broke || out.Report.Broke, e.asked, e.artifacts.Get, compacted+out.Report.Compacted > 0,
		out.Report.TokensAfter.Total()}
	e.ahead, e.asked = nil, nil
	return s, out.Report.Err
}

// rescue sends a request again that is larger than the window, as the proxy does when the provider refuses it. It
// returns the first form that fits, or out if none does.
func (e *epitome) rescue(in rewrite.Input, out rewrite.Output) rewrite.Output {
	r := rewrite.NewRescue(in, out, e.shaper.Shape)
	for r.Last.Report.TokensAfter.Total() > e.window {
		if !r.Next(window.Refusal{Cause: window.Input, Limit: e.window}) {
			return out
		}
	}
	if r.Last.Settle != nil {
		r.Last.Settle()
	}
	return r.Last
}

// Prepare has a question answered before the next request, so that equal sessions have equal figures.
func (e *epitome) Prepare(q summarize.Question) { e.ahead = append(e.ahead, q) }

var (
	heading = regexp.MustCompile(`(?m)^## .+\n`)
	length  = regexp.MustCompile(`about ([0-9]{1,9}) tokens`)
)

// answer answers a request for a summary in the place of a model, with the headings and the length that are asked for.
// Nobody knows what a model would say, so the answer says nothing that the agent could need, but e.file.
func (e *epitome) answer(_ context.Context, r summarize.Request) (summarize.Response, error) {
	messages := gjson.GetBytes(r.Body, "messages").Array()
	instruction := messages[len(messages)-1].Get("content").String()
	form := instruction[max(0, strings.LastIndex(instruction, "\nWrite plain text ")):]
	headings, asks := heading.FindAllString(form, -1), length.FindStringSubmatch(form)
	if asks == nil {
		return summarize.Response{}, errors.New("cannot stand in for a model: the request names no length")
	}
	tokens, _ := strconv.Atoi(asks[1]) // it has few digits
	text := ""
	for n := tokens / max(1, len(headings)); n > 0; n-- {
		filler := strings.Repeat("And so on. ", n) + "\n\n"
		if text = strings.Join(headings, filler) + filler + e.file; tokenize.CountString(text) <= tokens {
			break
		}
	}
	e.asked = append(e.asked, asked{bytes.Clone(r.Body), e.session.modelTokens(tokenize.CountString(text))})
	body, err := sjson.SetBytes([]byte(`{"choices":[{"message":{"role":"assistant"},"finish_reason":"stop"}]}`),
		"choices.0.message.content", text)
	return summarize.Response{Status: 200, Body: body}, err
}

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
