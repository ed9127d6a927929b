package replay

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/bench/sessions"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/tokenize"
)

// session is a recorded conversation. It is read from its last request, which has all messages.
type session struct {
	name     string
	scale    conversation.Scale
	whole    *conversation.Request
	messages []*message // equal messages are one
	known    map[string]*message
	lines    map[string][]*message // the messages with a line, in order, by the line
	turns    []turn
}

// message is a message of a request. It is the client's, or a policy has made it.
type message struct {
	source string // its JSON
	role   conversation.Role
	text   string
	args   string // the values in the arguments of its calls, a line each
	tokens int
	place  int // of the client's message, or the first equal one, in the session; -1 if a policy made it

	// A message that a policy made also has:
	quotes    string   // the lines that are lines of the client's messages, each between line breaks
	artifacts []string // the names of artifacts in it
}

// turn is one request of the session and the answer to it.
type turn struct {
	end     int       // messages in the request
	needs   []need    // of the answer
	outputs []*output // of tools, new in the request
}

// need is a name or line in the calls of an answer that messages before the answer contain.
type need struct {
	name
	isOld bool       // the newest of the messages is more than five answers back
	in    []*message // that contain it
}

// output is what a tool returned, other than the content of files and the findings of a search.
type output struct {
	message  *message
	failures []string // the lines that tell what went wrong
}

// request is a request as it is sent. fixed are its tokens beside the messages, which are part of tokens.
type request struct {
	*conversation.Request
	messages      []*message
	has           map[*message]bool
	fixed, tokens int
}

// meter counts tokens as epitome does when it serves. It may be used from any goroutine.
type meter struct {
	models   tokenize.Models
	counters tokenize.Counters
	memo     *tokenize.Memo // a session is played several times, and each text is counted once
}

func (m *meter) scale(model string) (conversation.Scale, error) {
	of := m.models.Of(model)
	counter, err := m.counters.For(of.Vocabulary)
	return conversation.Scale{Model: of, Counter: counter, Memo: m.memo, Ratio: of.Ratio}, err
}

// newSession reads a recorded conversation.
func newSession(in sessions.Conversation, m *meter) (*session, error) {
	whole, err := chat.Dialect{}.Read(in.Body, nil)
	if err != nil {
		return nil, err
	}
	if !gjson.ValidBytes(in.Body) {
		return nil, errors.New("it is not JSON")
	}
	if len(whole.Items) == 0 {
		return nil, errors.New("it has no messages")
	}
	s := &session{name: in.Name, whole: whole, known: map[string]*message{}, lines: map[string][]*message{}}
	if s.scale, err = m.scale(whole.Model); err != nil {
		return nil, err
	}
	last, err := s.read(in.Body, nil, s.known)
	if err != nil {
		return nil, err
	}
	s.messages = last.messages
	for i, it := range whole.Items {
		if it.StartsAnswer && i > 0 {
			s.turns = append(s.turns, turn{end: i})
		}
		m := s.messages[i]
		if m.place >= 0 { // an equal one came before
			continue
		}
		m.place = i
		for line := range m.shownLines() {
			if at := s.lines[line]; len(at) == 0 || at[len(at)-1] != m {
				s.lines[line] = append(at, m)
			}
		}
	}
	s.turns = append(s.turns, turn{end: len(s.messages)})
	s.findNeeds()
	s.findOutputs()
	return s, nil
}

// read parses and counts a request. before, if not nil, is an earlier one of the same policy. known has all messages
// that were read so far, by their source; read adds those that are new.
func (s *session) read(body []byte, before *request, known map[string]*message) (*request, error) {
	var earlier *conversation.Request
	if before != nil {
		earlier = before.Request
	}
	parsed, err := chat.Dialect{}.Read(body, earlier)
	if err != nil {
		return nil, err
	}
	r := &request{Request: parsed, fixed: s.tokens(parsed.Count(s.scale).Total()), has: map[*message]bool{}}
	r.tokens = r.fixed
	for i := range parsed.Items {
		it := &parsed.Items[i]
		m := known[string(it.Of(body))]
		if m == nil {
			m = &message{source: string(it.Of(body)), role: it.Role, text: parsed.TextOf(it), place: -1,
				tokens: s.tokens(it.Size.Total())}
			var values []string
			for _, call := range it.Calls {
				if arguments := string(call.ArgumentsIn(body)); call.FreeText {
					values = append(values, arguments)
				} else {
					values = append(values, valuesIn(arguments)...)
				}
			}
			m.args = strings.Join(values, "\n")
			known[m.source] = m
		}
		r.messages, r.has[m] = append(r.messages, m), true
		r.tokens += m.tokens
	}
	return r, nil
}

// tokens converts a count in the vocabulary to tokens of the model.
func (s *session) tokens(n int) int { return int(math.Round(float64(n) * s.scale.Ratio)) }

// bodyAt returns the request that the client sent when the conversation had end messages: the recorded one without the
// messages that came later.
func (s *session) bodyAt(end int) []byte {
	items, body := s.whole.Items, s.whole.Body
	return slices.Concat(body[:items[end-1].End], body[items[len(items)-1].End:])
}

// findNeeds sets the needs of all turns. No answer to the last request is known, so it has none.
func (s *session) findNeeds() {
	answers := make([]int, len(s.messages)) // up to each message
	for i, m := range s.messages {
		if answers[i] = answers[max(0, i-1)]; m.role == conversation.Assistant {
			answers[i]++
		}
	}
	places := map[name][]int{} // of the messages that contain a name
	for t := range s.turns[:len(s.turns)-1] {
		end := s.turns[t].end
		args := s.messages[end].args
		for _, n := range append(namesIn(args), longLinesIn(args)...) {
			if _, known := places[n]; !known {
				for i, m := range s.messages {
					if n.isIn(m.text) || n.isIn(m.args) {
						places[n] = append(places[n], i)
					}
				}
			}
			before, _ := slices.BinarySearch(places[n], end)
			if before == 0 {
				continue
			}
			found := need{name: n, isOld: answers[end]-answers[places[n][before-1]] > 5}
			for _, i := range places[n][:before] {
				found.in = append(found.in, s.messages[i])
			}
			s.turns[t].needs = append(s.turns[t].needs, found)
		}
	}
}

// findOutputs sets the outputs of all turns. An output that is equal to an earlier one is left out.
func (s *session) findOutputs() {
	calls := map[string]conversation.Call{}
	t := 0
	for i, it := range s.whole.Items {
		for _, call := range it.Calls {
			calls[call.ID] = call
		}
		for s.turns[t].end <= i {
			t++
		}
		m := s.messages[i]
		call := calls[it.Answers]
		if m.role != conversation.Tool || m.place != i || isReading(call.Name, call.ArgumentsIn(s.whole.Body)) {
			continue
		}
		s.turns[t].outputs = append(s.turns[t].outputs, &output{m, failuresIn(m.text)})
	}
}

// shownLines yields the lines of a message as a terminal shows them, without blank lines.
func (m *message) shownLines() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(m.text+"\n"+m.args, "\n") {
			if line = shown(line); line != "" && !yield(line) {
				return
			}
		}
	}
}

// listed matches the number or the mark that a text which quotes lines may put before each of them.
var listed = regexp.MustCompile(`^(?: *[0-9]+(?:: ?|\t|→| ?\| ?)|> ?)`)

// quotesIn returns the lines of m that are lines of the client's messages before place end.
func (s *session) quotesIn(m *message, end int) string {
	isClients := func(line string) bool {
		at := s.lines[line]
		return len(at) > 0 && at[0].place < end
	}
	var b strings.Builder
	b.WriteByte('\n')
	for line := range m.shownLines() {
		if !isClients(line) {
			line = line[len(listed.FindString(line)):]
		}
		if line != "" && isClients(line) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
