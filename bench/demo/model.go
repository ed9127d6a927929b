package demo

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/dustin/go-humanize/english"
	"github.com/tidwall/gjson"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/tokenize"
)

// ModelName is the name of the model. Its tokens are counted exactly.
const ModelName = "gpt-oss-demo"

// request is the body of a Chat Completions request.
type request struct {
	Model    string          `json:"model"`
	Tools    json.RawMessage `json:"tools,omitempty"`
	Messages []message       `json:"messages"`
}

// message is one message of a conversation. CallID is the ID of the call whose result a message with role "tool" is.
type message struct {
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Calls   json.RawMessage `json:"tool_calls,omitempty"`
	CallID  string          `json:"tool_call_id,omitempty"`
}

// fields is an object in JSON.
type fields map[string]any

// refusal is the model's error in place of an answer.
type refusal struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    string `json:"code"`
}

func (r *refusal) Error() string { return fmt.Sprintf("400 %s: %s", r.Code, r.Message) }

//go:embed tools.json
var tools []byte

// model is a provider of Chat Completions that refuses requests over its window and keeps a prompt cache. Requests come
// one by one, so that the session may use decide and last between them.
type model struct {
	url    string // base URL, with /v1
	server *http.Server
	window int
	scale  conversation.Scale
	decide func([]message) message // answers the next request
	last   received                // the latest request that was answered
}

// received is a request as it reached the model. Tokens are the model's.
type received struct {
	body    []byte
	tokens  int
	cached  int  // of tokens, those that the prompt cache holds
	extends bool // it begins with all messages of the one before
}

// newModel starts a model that holds window tokens.
func newModel(window int) (*model, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the model: %w", err)
	}
	m := &model{url: "http://" + ln.Addr().String() + "/v1", window: window,
		scale: conversation.Scale{Model: tokenize.ModelOf(ModelName), Memo: tokenize.NewMemo(1 << 14), Ratio: 1}}
	m.server = &http.Server{Handler: m}
	go func() { _ = m.server.Serve(ln) }() // it ends with Close
	return m, nil
}

// count returns the tokens of a request; 0 for a body that is none.
func (m *model) count(body []byte) int {
	r, err := (chat.Dialect{}).Read(body, nil)
	if err != nil {
		return 0
	}
	n := r.Count(m.scale).Total()
	for _, item := range r.Items {
		n += item.Size.Total()
	}
	return n
}

// receive compares a request with the last one. The prompt cache holds the text that both begin with, from 1,024 tokens
// on in steps of 128.
func (m *model) receive(body []byte) received {
	last := bytes.TrimSuffix(m.last.body, []byte("]}"))
	shared := 0
	for shared < min(len(body), len(last)) && body[shared] == last[shared] {
		shared++
	}
	r := received{body: body, tokens: m.count(body), extends: shared == len(last)}
	if cached := r.tokens * shared / len(body); cached >= 1024 {
		r.cached = cached - cached%128
	}
	return r
}

// ServeHTTP answers a request of the agent.
func (m *model) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body, err := io.ReadAll(q.Body)
	var asked request
	if err = errors.Join(err, json.Unmarshal(body, &asked)); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r := m.receive(body)
	if r.tokens > m.window {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(encode(fields{"error": refusal{Type: "invalid_request_error", Code: "context_length_exceeded",
			Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted "+
				"in %d tokens. Please reduce the length of the messages.", m.window, r.tokens)}}))
		return
	}
	m.last = r
	answer := m.decide(asked.Messages)
	arguments := gjson.GetBytes(answer.Calls, "0.function.arguments").String()
	finish, output := "stop", m.scale.CountText(answer.Content+arguments)
	if answer.Calls != nil {
		finish = "tool_calls"
	}
	_, _ = w.Write(encode(fields{"id": "chatcmpl-demo", "object": "chat.completion", "model": ModelName,
		"choices": []fields{{"index": 0, "message": answer, "finish_reason": finish}},
		"usage": fields{"prompt_tokens": r.tokens, "completion_tokens": output, "total_tokens": r.tokens + output,
			"prompt_tokens_details": fields{"cached_tokens": r.cached}}})) // the client may have left
}

var packages = strings.Fields("ledger settle fees payout fx refund audit tax report limits notify dispute")

// task is a job for the agent, about a package of the service that it works on.
type task struct {
	Number  int // from 0
	Package string
	Symbol  string // the function that everything in the package calls
	Trace   string // with which the package's test fails
	Again   bool   // the package was the subject before
	Service bool   // the agent also asks the running service
}

func newTask(n int) task {
	name := packages[n%len(packages)]
	return task{Number: n, Package: name, Symbol: "Round" + strings.ToUpper(name[:1]) + name[1:],
		Trace: fmt.Sprintf("tr-%08x", randomFor(name).Uint32()), Again: n >= len(packages), Service: n%2 == 0}
}

// randomFor returns random numbers for one thing: each time the same.
func randomFor(thing string) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256([]byte(thing))))
}

//go:embed props.tmpl
var propsText string

var vocabulary = strings.Fields("Settle Post Match Accrue Reverse Allocate Convert Clear Split Carry Quote Reserve " +
	"Batch Entry Invoice Charge Payout Fee Rate Window Balance Hold Refund Mandate Gross Net Rest Share Delta Limit")

// prop returns a text from the templates, such as a source file. Size is its number of functions or lines.
func (t task) prop(name string, size int) string {
	d := randomFor(fmt.Sprint(name, t.Number, size))
	word := func() string { return vocabulary[d.IntN(len(vocabulary))] }
	props := template.Must(template.New("").Funcs(template.FuncMap{
		"Word":   word,
		"word":   func() string { return strings.ToLower(word()) },
		"number": func(most int) int { return 1 + d.IntN(most) },
		"hex":    func() string { return fmt.Sprintf("%08x", d.Uint32()) },
		"quote":  func(name string, size int) string { return string(encode(t.prop(name, size))) },
	}).Parse(propsText))
	var b strings.Builder
	err := props.ExecuteTemplate(&b, name, struct {
		task
		Size, Half int
	}{t, size, size / 2})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return b.String()
}

// step is one answer of the model, with the result of its call.
type step struct {
	Words, Tool, Result string
	Args                map[string]string
	NeedsTrace          bool // of the failed test

	needs *question // whose answer the model must know
	about string    // what a search reads
}

// steps returns the steps of a task.
func (t task) steps() (steps []step) {
	if err := json.Unmarshal([]byte(t.prop("steps", 0)), &steps); err != nil {
		panic("BUG: " + err.Error())
	}
	return steps
}

// message returns the step as the model's answer. The ID is that of its call.
func (x step) message(id string) message {
	m := message{Role: "assistant", Content: x.Words}
	if x.Tool != "" {
		function := fields{"name": x.Tool, "arguments": string(encode(x.Args))}
		m.Calls = encode([]fields{{"id": id, "type": "function", "function": function}})
	}
	return m
}

// String says in a few words what the step does.
func (x step) String() string {
	name, _, _ := strings.Cut(x.Tool, "_")
	object := cmp.Or(x.about, x.Args["pattern"], x.Args["path"], x.Args["url"], x.Args["command"])
	return strings.TrimPrefix(name+" "+object, "bash ")
}

// question is a question about an earlier turn.
type question struct {
	label   string
	pattern *regexp.Regexp // its first group is the answer
	want    string
}

// traceQuestion asks for the trace of the task's failed test.
func (t task) traceQuestion() *question {
	pattern := regexp.MustCompile("Test" + t.Symbol + ` trace=(tr-[0-9a-f]{8})`)
	return &question{"the trace of " + t.Package, pattern, t.Trace}
}

var changeNumber = &question{"the change number", regexp.MustCompile(`change number (CHG-[0-9]{5})`), "CHG-65806"}

// in returns the answer if the messages hold it.
func (q *question) in(messages []message) string {
	for _, m := range messages {
		if found := q.pattern.FindStringSubmatch(m.Content); found != nil {
			return found[1]
		}
	}
	return ""
}

// artifact matches the path of a file that epitome names in the place of a result or in a summary.
var artifact = regexp.MustCompile(`(?:/|[A-Za-z]:\\)\S*[a-z2-7]{26}\.txt`)

// search returns a search for the answer in the files that the messages name.
func (q *question) search(messages []message) step {
	var paths, found []string
	for _, m := range messages {
		paths = append(paths, artifact.FindAllString(m.Content, -1)...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, path := range paths {
		text, _ := os.ReadFile(path) // a lost file has no matches
		if match := q.pattern.Find(text); match != nil {
			found = append(found, filepath.Base(path)+": "+string(match))
		}
	}
	return step{Words: "The request no longer shows it. I look in the files that it names.", Tool: "grep",
		about:  english.Plural(len(paths), "stored file", ""),
		Args:   map[string]string{"pattern": q.pattern.String(), "path": strings.Join(paths, "\n")},
		Result: cmp.Or(strings.Join(found, "\n"), "no matches")}
}
