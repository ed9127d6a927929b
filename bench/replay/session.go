package replay

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"epitome/dialect/activity"
	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/tokenize"
)

// session is a recorded conversation. It is read from its last request, which has all messages. Equal messages are one.
type session struct {
	dialect conversation.Dialect
	scale   conversation.Scale
	whole   *request // the last one
	known   map[string]*message
	lines   map[string][]int // places of the messages with a line, in order, by the line
	turns   []turn
	once    bool // each request is compacted, whatever its size
}

// message is a message of a request. It is the client's, or a policy has made it.
type message struct {
	source string // its JSON
	role   conversation.Role
	text   string // with args, if it has any
	args   string // the values in the arguments of its calls, a line each
	tokens int
	place  int // of the client's message, or the first equal one, in the session; -1 if a policy made it

	failures []string // of an output: the lines that tell what went wrong

	// A message that a policy made also has:
	quotes    string   // the lines that are lines of the client's messages, each between line breaks
	artifacts []string // words that may be names of artifacts
}

// turn is one request of the session and the answer to it.
type turn struct {
	end     int        // messages in the request
	needs   []need     // of the answer
	outputs []*message // results that are new in the request, except those that only show text and did not fail
}

// request is a request as it is sent. fixed are its tokens beside the messages, which are part of tokens.
type request struct {
	*conversation.Request
	messages      []*message
	has           map[*message]bool
	fixed, tokens int
}

// newSession reads a recorded conversation, which has messages. Its tokens are counted as epitome counts them when it
// serves.
func newSession(body []byte) (*session, error) {
	s := &session{dialect: chat.Dialect{}, known: map[string]*message{}, lines: map[string][]int{}}
	s.scale = scaleOf(gjson.GetBytes(body, "model").Str, tokenize.NewMemo(1<<18))
	whole, err := s.read(body, &request{}, s.known)
	if err != nil {
		return nil, err
	}
	s.whole = whole
	isContent := map[int]bool{} // items with nothing but text that others wrote, as epitome judges it
	for _, c := range activity.Of(s.whole.Request, nil) {
		isContent[c.Result] = c.OnlyShows() && !c.Failed()
	}
	var outputs []*message // since the last answer
	for i, it := range s.whole.Items {
		if it.StartsAnswer && i > 0 {
			s.turns = append(s.turns, turn{end: i, outputs: outputs})
			outputs = nil
		}
		m := s.whole.messages[i]
		if m.place >= 0 { // an equal one came before
			continue
		}
		m.place = i
		for _, line := range m.shownLines() {
			at := s.lines[line]
			if len(at) == 0 || at[len(at)-1] != i {
				s.lines[line] = append(at, i)
			}
		}
		if m.role == conversation.Tool && !isContent[i] {
			m.failures = failuresIn(m.text)
			outputs = append(outputs, m)
		}
	}
	s.turns = append(s.turns, turn{end: len(s.whole.messages), outputs: outputs})
	s.findNeeds()
	return s, nil
}

// scaleOf returns how tokens are counted for a model.
func scaleOf(name string, memo *tokenize.Memo) conversation.Scale {
	model := tokenize.ModelOf(name)
	return conversation.Scale{Model: model, Memo: memo, Ratio: model.Ratio}
}

// read parses and counts a request. before is an earlier one of the same policy, or empty. known has all messages that
// were read so far, by their source; read adds those that are new.
func (s *session) read(body []byte, before *request, known map[string]*message) (*request, error) {
	parsed, err := conversation.Read(s.dialect, body, before.Request)
	if err != nil {
		return nil, err
	}
	r := &request{Request: parsed, fixed: s.modelTokens(parsed.Count(s.scale).Total()), has: map[*message]bool{}}
	r.tokens = r.fixed
	parsed.Callers() // found once, as policies read the request at once
	for i := range parsed.Items {
		it := &parsed.Items[i]
		m := known[string(it.Of(body))]
		if m == nil {
			m = &message{source: string(it.Of(body)), role: it.Role, text: parsed.TextOf(it), place: -1,
				tokens: s.modelTokens(it.Size.Total())}
			for _, call := range it.Calls {
				m.args += activity.Texts(body, &call)
			}
			if m.args != "" {
				m.text += "\n" + m.args
			}
			known[m.source] = m
		}
		r.messages, r.has[m] = append(r.messages, m), true
		r.tokens += m.tokens
	}
	return r, nil
}

// modelTokens converts a count in the vocabulary to tokens of the model.
func (s *session) modelTokens(n int) int { return int(math.Round(float64(n) * s.scale.Ratio)) }

// bodyAt returns the request that the client sent when the conversation had end messages: the recorded one without the
// messages that came later.
func (s *session) bodyAt(end int) []byte {
	items, body := s.whole.Items, s.whole.Body
	return slices.Concat(body[:items[end-1].End], body[items[len(items)-1].End:])
}

// escape matches what a terminal does not show, such as colours.
var escape = regexp.MustCompile("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\^_])")

// shown returns a line as a terminal shows it, without white space at the end. Lines are compared in this form.
func shown(line string) string {
	line = strings.TrimRightFunc(escape.ReplaceAllString(line, ""), unicode.IsSpace)
	return line[strings.LastIndexByte(line, '\r')+1:]
}

// shownLines returns the lines of a message as a terminal shows them, without blank lines.
func (m *message) shownLines() (lines []string) {
	for line := range strings.SplitSeq(m.text, "\n") {
		line = shown(line)
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

var (
	// listed matches the number or the mark that a text which quotes lines may put before each of them.
	listed = regexp.MustCompile(`^(?: *[0-9]+(?:: ?|\t|→| ?\| ?)|> ?)`)
	// artifactName matches a word that may be the name of an artifact.
	artifactName = regexp.MustCompile(`\b[a-z2-7]{26}\b(?:\.(?:png|jpeg|gif|webp|pdf))?`)
)

// findQuotes sets quotes and artifacts of a message that a policy made for a request with end messages.
func (s *session) findQuotes(m *message, end int) {
	isClients := func(line string) bool {
		at := s.lines[line]
		return len(at) > 0 && at[0] < end
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, line := range m.shownLines() {
		if !isClients(line) {
			line = line[len(listed.FindString(line)):]
		}
		if line != "" && isClients(line) {
			b.WriteString(line + "\n")
		}
	}
	m.quotes = b.String()
	m.artifacts = artifactName.FindAllString(m.text, -1)
}
