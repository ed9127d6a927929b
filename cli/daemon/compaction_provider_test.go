package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/tokenize"
)

// provider is a model's server. It answers agents as a model at work does, and epitome's own questions as it is told.
// Each request is held against what real servers refuse: results that answer no call, calls that nobody answers, and
// too many tokens.
type provider struct {
	*httptest.Server
	scale
	t      *testing.T
	over   chan struct{}      // closed when the test ends: nothing is held any longer
	window int                // tokens of the model
	most   int                // tokens of an agent's request, at most
	speak  func(n int) string // the assistant's message that answers the agents' n-th request, from 1

	mu     sync.Mutex
	turns  map[string]int // numbers of agents' requests by body: equal ones have equal answers
	agents []heard        // in the order in which they came
	asked  []heard        // epitome's questions, likewise
	answer manner
}

// manner is how a question is answered.
type manner func(w http.ResponseWriter, r *http.Request, q heard)

// wire is a request as far as it is looked at, read with the standard library alone.
type wire struct {
	Model      string
	Messages   []wireMessage
	Tools      json.RawMessage
	ToolChoice any `json:"tool_choice"`
	MaxTokens  int `json:"max_tokens"`
	OtherCap   int `json:"max_completion_tokens"`
	Stream     bool
}

type wireMessage struct {
	Role    string
	Content json.RawMessage
	Answers string `json:"tool_call_id"`
	Calls   []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// text is what the message says; it is a string in all that is sent here.
func (m wireMessage) text() (s string) {
	_ = json.Unmarshal(m.Content, &s)
	return s
}

// heard is a request as it reached the provider.
type heard struct {
	wire
	body   []byte
	key    string // Authorization
	way    string // of a question: continue or transcript; empty for an agent's request
	number int    // among those of its kind, from 1
	tokens int
}

// said is what the last message says: of a question the instruction, or the transcript with it.
func (h heard) said() string { return h.Messages[len(h.Messages)-1].text() }

// providing starts a provider of a model with such a window, of which an agent's requests may fill usable.
func providing(t *testing.T, window, usable int) *provider {
	p := &provider{t: t, over: make(chan struct{}), window: window, most: usable, speak: atWork,
		turns: map[string]int{}, answer: summing, scale: scaled()}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() {
		close(p.over)
		p.Close()
	})
	return p
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever asked has left
	}
	h, answer := p.hear(r, body)
	w.Header().Set("Content-Type", "application/json")
	if h.way != "" {
		answer(w, r, h)
		return
	}
	says(p.speak(h.number), h.tokens)(w, r, h)
}

// hear takes a request in.
func (p *provider) hear(r *http.Request, body []byte) (heard, manner) {
	h := heard{body: body, key: r.Header.Get("Authorization")}
	if err := json.Unmarshal(body, &h.wire); err != nil || r.URL.Path != "/v1/chat/completions" || len(h.Messages) == 0 {
		p.t.Errorf("%s got %.200q: %v", r.URL.Path, body, err)
		return heard{wire: wire{Messages: []wireMessage{{}}}}, p.answer
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Epitome") {
			p.t.Errorf("the provider is sent %s", name)
		}
	}
	h.way, h.MaxTokens = wayOf(h.wire), max(h.MaxTokens, h.OtherCap)
	h.tokens = p.count(body)
	p.hold(h)
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.way != "" {
		h.number = len(p.asked) + 1
		p.asked = append(p.asked, h)
		return h, p.answer
	}
	if h.number = p.turns[string(body)]; h.number == 0 {
		h.number = len(p.turns) + 1
		p.turns[string(body)] = h.number
	}
	p.agents = append(p.agents, h)
	return h, p.answer
}

// wayOf tells questions from agents' requests: by the headings that they ask for, or that they want none.
func wayOf(r wire) string {
	first, last := r.Messages[0], r.Messages[len(r.Messages)-1]
	asks := strings.Contains(last.text(), "\n## Goal\n[") && strings.Contains(last.text(), "\n## Next Steps\n[") ||
		strings.Contains(last.text(), "\nWrite plain text of one to six lines without headings") ||
		strings.Contains(last.text(), "\nWrite lines of plain text, and nothing before or after them: what later sessions")
	switch {
	case last.Role != "user" || !asks:
		return ""
	case len(r.Messages) == 2 && first.Role == "system" && strings.Contains(last.text(), "The record:"):
		return "transcript"
	}
	return "continue"
}

// hold checks what real servers check.
func (p *provider) hold(h heard) {
	room := h.tokens <= p.most
	if h.way != "" {
		room = h.MaxTokens > 0 && h.tokens+h.MaxTokens <= p.window
	}
	if !room {
		p.t.Errorf("a request (%q) has %d tokens and wants %d more", h.way, h.tokens, h.MaxTokens)
	}
	if why := flaw(h.Messages); why != "" {
		p.t.Errorf("a request (%q) is refused: %s", h.way, why)
	}
}

// flaw is the first rule of a conversation that the messages break.
func flaw(messages []wireMessage) string {
	var open []string
	for i, m := range messages {
		switch {
		case m.Role == "tool":
			k := slices.Index(open, m.Answers)
			if k < 0 {
				return fmt.Sprintf("message %d answers %q, of which %q are open", i, m.Answers, open)
			}
			open = slices.Delete(open, k, k+1)
			continue
		case len(open) > 0:
			return fmt.Sprintf("message %d comes before the results of %q", i, open)
		case m.Role == "assistant" && len(m.Calls) == 0 && m.text() == "":
			return fmt.Sprintf("message %d says and calls nothing", i)
		case !slices.Contains([]string{"system", "user", "assistant"}, m.Role):
			return fmt.Sprintf("message %d has the role %q", i, m.Role)
		}
		for _, c := range m.Calls {
			if !json.Valid([]byte(c.Function.Arguments)) || slices.Contains(open, c.ID) || c.ID == "" {
				return fmt.Sprintf("message %d calls %q with %q", i, c.ID, c.Function.Arguments)
			}
			open = append(open, c.ID)
		}
	}
	if last := messages[len(messages)-1]; len(open) > 0 || last.Role == "assistant" {
		return fmt.Sprintf("the last message is one of %s, and %q are open", last.Role, open)
	}
	return ""
}

// will sets how questions are answered from now on.
func (p *provider) will(m manner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = m
}

// sent are the agents' requests so far.
func (p *provider) sent() []heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.agents)
}

// last is the newest of them.
func (p *provider) last() heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.agents[len(p.agents)-1]
}

// questions are epitome's own requests so far.
func (p *provider) questions() []heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// wants fails the test unless there were so many questions by now.
func (p *provider) wants(questions int) {
	p.t.Helper()
	if n := len(p.questions()); n != questions {
		p.t.Fatalf("%d questions were asked, want %d", n, questions)
	}
}

// atWork is a model in the middle of its work: it thinks aloud, and calls one tool or two; now and then it has a
// question.
func atWork(n int) string {
	const chatty = 60 // lines
	var b strings.Builder
	for line := range chatty {
		fmt.Fprintf(&b, "Thought %d of turn %d: field_%d_%d changes from %d.\n", line, n, n, line, line*n)
	}
	if n%7 == 0 {
		return message("assistant", b.String()+"What next?")
	}
	calls := calling(fmt.Sprintf("call_%d_a", n), "read_file", fmt.Sprintf(`{"path":"src/part_%d.go"}`, n))
	if n%3 == 0 {
		calls += "," + calling(fmt.Sprintf("call_%d_b", n), "bash", fmt.Sprintf(`{"command":"go test ./part_%d"}`, n))
	}
	return `{"role":"assistant","content":` + strconv.Quote(b.String()) + `,"tool_calls":[` + calls + `]}`
}

func message(role, text string) string {
	return `{"role":"` + role + `","content":` + strconv.Quote(text) + `}`
}

func calling(id, name, arguments string) string {
	return `{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":` + strconv.Quote(arguments) + `}}`
}

// says answers with the assistant's message.
func says(message string, prompt int) manner {
	return func(w http.ResponseWriter, _ *http.Request, _ heard) {
		_, _ = fmt.Fprintf(w, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":%s,"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":100}}`, message, prompt)
	}
}

// summing answers as a model should. Of which question it is the answer can be told by its number.
func summing(w http.ResponseWriter, r *http.Request, q heard) {
	says(message("assistant", nthSummary(q.number)), q.tokens)(w, r, q)
}

// held answers once it is released.
func (p *provider) held(release <-chan struct{}, then manner) manner {
	return func(w http.ResponseWriter, r *http.Request, q heard) {
		select {
		case <-release:
			then(w, r, q)
		case <-r.Context().Done():
		case <-p.over:
		}
	}
}

// scale counts tokens as epitome does.
type scale struct{ conversation.Scale }

// scaled is one for the model that all talk to here. The vocabulary is loaded once.
var scaled = sync.OnceValue(func() scale {
	var counters tokenize.Counters
	model := tokenize.NewModels().Of(theModel)
	counter, err := counters.For(model.Vocabulary)
	if err != nil {
		panic(err)
	}
	return scale{conversation.Scale{Model: model, Counter: counter, Memo: tokenize.NewMemo(1 << 16)}}
})

// count is how many tokens a request has; one that cannot be read has more than any model takes.
func (s scale) count(body []byte) int {
	r, err := chat.Dialect{}.Read(bytes.Clone(body), nil)
	if err != nil {
		return 1 << 30
	}
	n := r.Count(s.Scale).Total()
	for i := range r.Items {
		n += r.Items[i].Size.Total()
	}
	return n
}
