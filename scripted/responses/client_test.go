package responses_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"epitome/scripted/responses"
	"epitome/scripted/scriptedtest"
)

// client keeps a conversation with a server, as a stateless one does.
type client struct {
	t        *testing.T
	server   *responses.Server
	path     string
	settings string // members of the body before the input
	history  []string
	key      string
}

func newClient(t *testing.T, o responses.Options) *client {
	return &client{t: t, server: scriptedtest.StartResponses(t, o), path: "/v1/responses", key: "k",
		settings: `"model":"gpt-5","store":false,"include":["reasoning.encrypted_content"],`}
}

// add adds items, each as JSON.
func (c *client) add(items ...string) *client {
	c.history = append(c.history, items...)
	return c
}

// user adds a message of the user.
func (c *client) user(text string) *client {
	return c.add(fmt.Sprintf(`{"role":"user","content":%q}`, text))
}

// output answers a call.
func (c *client) output(call, text string) *client {
	return c.add(fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, call, text))
}

func (c *client) body() string {
	return "{" + c.settings + `"input":[` + strings.Join(c.history, ",") + "]}"
}

func (c *client) post(body string) (int, http.Header, []byte) {
	c.t.Helper()
	r, err := http.NewRequest(http.MethodPost, c.server.URL()+c.path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := scriptedtest.Direct().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body) // a cut answer is one too
	return resp.StatusCode, resp.Header, text
}

// answer is what a client reads of a response.
type answer struct {
	ID, Object, Status string
	Output             []json.RawMessage
	Incomplete         struct{ Reason string } `json:"incomplete_details"`
	Error              struct{ Code, Message, Param string }
	Usage              struct {
		Input   int `json:"input_tokens"`
		Output  int `json:"output_tokens"`
		Details struct {
			Cached  int `json:"cached_tokens"`
			Written int `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
	}
}

// ask asks, adds what was answered to the history, and returns it with the status.
func (c *client) ask() (a answer, status int) {
	c.t.Helper()
	status, _, text := c.post(c.body())
	if err := json.Unmarshal(text, &a); err != nil {
		c.t.Fatalf("%d %s: %v", status, text, err)
	}
	for _, item := range a.Output {
		c.add(string(item))
	}
	return a, status
}

// refused asks, and wants the words of a refusal; "" for an answer.
func (c *client) refused(status int, want string) {
	c.t.Helper()
	before := len(c.history)
	a, got := c.ask()
	c.history = c.history[:before]
	if got != status || !strings.HasPrefix(a.Error.Message, want) || (want == "") != (a.Error.Message == "") {
		c.t.Errorf("%s\n got %d %q\nwant %d %q", c.body(), got, a.Error.Message, status, want)
	}
}

// names are the events of a stream, and an error if their numbers are not 0, 1, 2 ….
func names(t *testing.T, text []byte) string {
	t.Helper()
	var all []string
	n := 0
	for line := range bytes.Lines(text) {
		if name, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			all = append(all, strings.TrimPrefix(string(bytes.TrimSpace(name)), "response."))
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var e struct {
			N    *int `json:"sequence_number"`
			Type string
		}
		err := json.Unmarshal(data, &e)
		if err != nil || e.N == nil || *e.N != n || !strings.HasSuffix(e.Type, all[len(all)-1]) {
			t.Errorf("event %d is %s (%v)", n, data, err)
		}
		n++
	}
	return strings.Join(all, " ")
}
