package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"epitome/config"
	"epitome/rewrite/chat"
)

// narrow is a provider whose model holds less than anybody believes, and which says so in its own way.
type narrow struct {
	*provider
	real    int                                     // tokens that a request may have
	refuses func(w http.ResponseWriter, tokens int) // how it says that one has more

	mu       sync.Mutex
	accepted map[string]int // how often each body was
	refused  int
}

// narrowing starts one that is believed to hold a million tokens.
func narrowing(t *testing.T, window int, refuses func(w http.ResponseWriter, tokens int)) *narrow {
	n := &narrow{real: window, refuses: refuses, accepted: map[string]int{}}
	n.provider = &provider{t: t, window: 1_000_000, over: make(chan struct{}), scale: scaled(), turns: map[string]int{}}
	n.Server = httptest.NewServer(http.HandlerFunc(n.serve))
	t.Cleanup(n.Close)
	return n
}

func (n *narrow) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req, err := chat.Dialect{}.Read(body, nil)
	if err != nil || len(chat.Dialect{}.Flaws(req)) > 0 {
		n.t.Errorf("got a request with flaws, %v", err)
	}
	tokens := n.count(body)
	n.mu.Lock()
	if tokens > n.real {
		n.refused++
		n.mu.Unlock()
		n.refuses(w, tokens)
		return
	}
	n.accepted[string(body)]++
	turn := len(n.accepted)
	n.mu.Unlock()
	message := atWork(turn)
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"choices":[{"index":0,"message":%s,"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":20}}`, message, tokens)
}

// The ways in which providers refuse what is too long.
func narrowly(window int) map[string]func(w http.ResponseWriter, tokens int) {
	says := func(status int, text string) func(w http.ResponseWriter, tokens int) {
		return func(w http.ResponseWriter, tokens int) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			text := strings.ReplaceAll(strings.ReplaceAll(text, "WINDOW", fmt.Sprint(window)), "TOKENS", fmt.Sprint(tokens))
			_, _ = io.WriteString(w, text)
		}
	}
	return map[string]func(w http.ResponseWriter, tokens int){
		"in numbers":        says(400, `{"error":{"message":"This model's maximum context length is WINDOW tokens. However, your messages resulted in TOKENS tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`),
		"in words":          says(400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","code":"context_length_exceeded"}}`),
		"as a local server": says(500, `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"server_error"}}`),
		"within a stream": func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"error\":{\"message\":\"prompt is too long for the model's context window\",\"code\":\"context_length_exceeded\"}}\n\n")
		},
	}
}

// A loop that grows past a window that nobody knows of meets no error in 40 turns.
func TestAgentsOutgrowAWindowThatNobodyKnows(t *testing.T) {
	t.Parallel()
	const window = 16_384
	for name, refuses := range narrowly(window) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := narrowing(t, window, refuses)
			r := served(n.provider, t.TempDir(), func(*config.Config) {})
			a := working(r)
			a.lines = 12
			for range 40 {
				a.turn()
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			if n.refused == 0 || n.refused > 40 {
				t.Errorf("%d requests were refused", n.refused)
			}
			for body, times := range n.accepted {
				if times > 1 {
					t.Errorf("a request that was accepted was sent %d times: %.100s", times, body)
				}
			}
			r.logs(`msg=rescue .*outcome=rescued`)
		})
	}
}

func TestRescueReachesWindowsFarBelowWhatIsBelieved(t *testing.T) {
	t.Parallel()
	for _, times := range []int{10, 100} {
		for name, refuses := range narrowly(1_000_000 / 10 / times) {
			t.Run(fmt.Sprint(name, ", ", times, " times"), func(t *testing.T) {
				t.Parallel()
				window := 100_000 / times
				n := narrowing(t, window, refuses)
				r := served(n.provider, t.TempDir(), func(*config.Config) {})
				a := working(r)
				a.lines = 60
				n.mu.Lock()
				n.real = 1_000_000
				n.mu.Unlock()
				a.reaches(90_000)
				n.mu.Lock()
				n.real = window
				n.mu.Unlock()
				if got := a.ask(); got.action != "rescue" || got.after >= got.before {
					t.Errorf("%+v", got)
				}
				n.mu.Lock()
				refused := n.refused
				n.mu.Unlock()
				a.lines = 1
				a.turn()
				if n.mu.Lock(); n.refused > refused+1 {
					t.Errorf("the turn after was refused %d times", n.refused-refused)
				}
				n.mu.Unlock()
			})
		}
	}
}

// What cannot be helped reaches the client as the provider said it, after few tries.
func TestAProviderThatAlwaysRefusesIsHeard(t *testing.T) {
	const text = `{"error":{"message":"This model's maximum context length is 16384 tokens.","code":"context_length_exceeded"}}`
	n := narrowing(t, 1, func(w http.ResponseWriter, _ int) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, text)
	})
	r := served(n.provider, t.TempDir(), func(*config.Config) {})
	a := working(r)
	for i := range 10 {
		id := fmt.Sprint("c", i)
		a.messages = append(a.messages, `{"role":"assistant","content":null,"tool_calls":[{"id":"`+id+`","type":"function","function":{"name":"bash","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"`+id+`","content":`+quoted(a.result("bash", "part_1"))+`}`)
	}
	got, err := a.send(t.Context(), a.body())
	if err == nil && (got.status != http.StatusBadRequest || got.text != text) {
		t.Errorf("%+v", got)
	}
	if got.text != text || n.refused < 2 || n.refused > 5 {
		t.Errorf("got %q after %d requests", got.text, n.refused)
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
