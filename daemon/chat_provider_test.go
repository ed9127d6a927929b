package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"epitome/internal/fakeapi"
)

// chatProvider serves Chat Completions as a model at work does, and answers epitome's own questions as a test says. A
// request that real servers refuse fails the test.
type chatProvider struct {
	*httptest.Server
	t      *testing.T
	agent  *agent // whose model this is
	window int    // tokens that a request may have; one that has more fails the test
	count  func(body string) int

	mu     sync.Mutex
	sent   []string // agents' requests that were answered
	asked  []string // epitome's questions
	answer manner
}

// manner is how the n-th question is answered, from 1.
type manner func(w http.ResponseWriter, r *http.Request, n int)

// chatting starts a provider and an epitome before it, with a window as large as the provider's.
func chatting(t *testing.T, window int) *chatProvider {
	t.Helper()
	c := &chatProvider{t: t, window: window, answer: summing, count: func(body string) int { return len(body) / 4 }}
	c.Server = httptest.NewServer(c)
	t.Cleanup(func() {
		c.CloseClientConnections()
		c.Close()
	})
	return c
}

func (c *chatProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever asked has left
	}
	body := string(b)
	if err := fakeapi.Judge(fakeapi.Chat, b, b); err != nil {
		c.t.Errorf("a request breaks a rule: %v", err)
	}
	w.Header().Set("Content-Type", "application/json")
	c.mu.Lock()
	answer, asks := c.answer, asksForSummary(b)
	switch {
	case asks:
		c.asked = append(c.asked, body)
		n := len(c.asked)
		c.mu.Unlock()
		answer(w, r, n)
		return
	case c.count(body) > c.window:
		c.mu.Unlock()
		c.t.Errorf("a request has %d tokens", c.count(body))
		return
	}
	c.sent = append(c.sent, body)
	c.mu.Unlock()
	command := quoted(fmt.Sprintf(`{"command":"go test ./shop/part%d"}`, c.agent.turns))
	says(`{"role":"assistant","content":`+quoted("So. "+c.agent.tells)+`,"tool_calls":[{"id":"`+c.agent.callID()+
		`","type":"function","function":{"name":"bash","arguments":`+command+`}}]}`, c.count(body))(w, r, 0)
}

// says answers with the assistant's message.
func says(message string, prompt int) manner {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		_, _ = fmt.Fprintf(w, `{"choices":[{"index":0,"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,`+
			`"completion_tokens":100}}`, message, prompt)
	}
}

// text answers with a text.
func text(text string) manner { return says(`{"role":"assistant","content":`+quoted(text)+`}`, 0) }

// summing answers as a model should.
func summing(w http.ResponseWriter, r *http.Request, n int) { text(nthSummary(n))(w, r, n) }

// will sets how questions are answered from now on.
func (c *chatProvider) will(m manner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = m
}

// last is the newest of the agents' requests.
func (c *chatProvider) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent[len(c.sent)-1]
}

var summaryID = regexp.MustCompile(`summary [0-9a-f]+ stands for them`)

// untilCompacted has the agent work on until its conversation has another summary, and returns the request before.
func (c *chatProvider) untilCompacted() (before string) {
	c.t.Helper()
	for range 200 {
		c.agent.turn()
		if last := c.last(); before != "" && summaryID.FindString(last) != summaryID.FindString(before) {
			return before
		}
		before = c.last()
	}
	c.t.Fatalf("epitome did %v", c.agent.acted)
	return ""
}

// questions are epitome's own requests so far.
func (c *chatProvider) questions() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// wantQuestions waits for so many questions, and fails if there are more.
func (c *chatProvider) wantQuestions(want int) {
	c.t.Helper()
	fakeapi.Eventually(func() bool { return len(c.questions()) >= want })
	if n := len(c.questions()); n != want {
		c.t.Fatalf("%d questions were asked, want %d", n, want)
	}
}

// extends reports whether a request begins with all messages of another one, as it was sent.
func extends(longer, shorter string) bool {
	return strings.HasPrefix(longer, shorter[:strings.LastIndex(shorter, `],"tools"`)])
}
