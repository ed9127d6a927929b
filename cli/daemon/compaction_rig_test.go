package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"epitome/summarize"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
	"epitome/proxy"
)

// What all of these tests talk about: a model with a window of 64k tokens, of which a request may take seven eighths.
const (
	theModel  = "gpt-5"
	itsWindow = 65_536
	itsUsable = itsWindow - itsWindow/8
	itsLine   = itsUsable * 9 / 10
	agentsKey = "Bearer sk-agent"
	byModel   = "written by a model;"
)

func asDefault(*config.Config) {}

// nthSummary is a summary as a model should write it, with the number of the question.
func nthSummary(n int) string {
	var b strings.Builder
	for _, heading := range []string{"Goal", "Constraints", "Progress", "Key Decisions", "Failed Approaches",
		"Open Issues", "Next Steps", "Critical Values"} {
		fmt.Fprintf(&b, "## %s\nsummary %d about %s\n", heading, n, strings.ToLower(heading))
	}
	return b.String()
}

// markOf is how the n-th answer can be told in what is sent.
func markOf(n int) string { return fmt.Sprintf("summary %d about goal", n) }

// inService is a daemon that serves.
type inService struct {
	*Daemon
	t       *testing.T
	log     *fakeapi.Log
	url     string
	signals chan os.Signal
	over    chan error // what serve returned, once
	conf    atomic.Pointer[config.Config]
	down    bool
}

// served starts a daemon in front of the provider, over what lies in the folder. change changes the defaults.
func served(p *provider, folder string, change func(*config.Config)) *inService {
	p.t.Helper()
	conf := config.Defaults(configtest.Text())
	conf.Listen, conf.Data, conf.Upstream = "127.0.0.1:0", folder, "up"
	conf.Upstreams["up"] = proxy.UpstreamConfig{URL: p.URL + "/v1"}
	conf.Window.Models, conf.Window.Probe = map[string]unit.Tokens{theModel: unit.Tokens(p.window)}, false
	// The sessions are made for these: nothing is cleared before the line, as all that may be cleared there frees less
	// than the quarter of the window that a batch must free.
	conf.Rewrite.Protect, conf.Rewrite.Rent = 13_000, 2
	change(&conf)
	if err := conf.Validate(); err != nil {
		p.t.Fatal(err)
	}
	r := &inService{t: p.t, log: &fakeapi.Log{}, over: make(chan error, 1)}
	r.conf.Store(&conf)
	r.signals = make(chan os.Signal, 4)
	r.Daemon = New(slog.New(slog.NewTextHandler(r.log, nil)), r.signals,
		func() (config.Config, error) { return *r.conf.Load(), nil })
	if err := r.Start(); err != nil {
		p.t.Fatal(err)
	}
	r.url = "http://" + r.ln.Addr().String()
	go func() { r.over <- r.Serve() }()
	p.t.Cleanup(r.stops)
	return r
}

// stops ends the daemon as a signal does, once, and waits until it has given everything back. In its log stands no
// failure of its own, and nothing that only the agent and the provider should know.
func (r *inService) stops() {
	r.t.Helper()
	if r.down {
		return
	}
	r.down = true
	r.signals <- os.Interrupt
	select {
	case err := <-r.over:
		if err != nil {
			r.t.Error(err)
		}
	case <-time.After(fakeapi.Patience):
		r.t.Error("epitome does not end")
	}
	never := []string{"level=ERROR", "does not end", "cannot close", "kept in memory", "action=bypass", "sk-agent",
		"rework the parts", "about goal"}
	for _, words := range never {
		if strings.Contains(r.log.String(), words) {
			r.t.Errorf("the log says %s:\n%s", words, r.log)
		}
	}
}

// reloads puts another configuration in force, as a signal does.
func (r *inService) reloads(change func(*config.Config)) {
	r.t.Helper()
	conf := *r.conf.Load()
	change(&conf)
	r.conf.Store(&conf)
	reloaded := func() int { return strings.Count(r.log.String(), "msg=reloaded") }
	before := reloaded() // it may not be the first time
	r.signals <- syscall.SIGHUP
	if !fakeapi.Eventually(func() bool { return reloaded() > before }) {
		r.t.Fatalf("the configuration is not reloaded:\n%s", r.log)
	}
}

// logs wants a line in the log, and waits for it. It returns what the pattern's groups match.
func (r *inService) logs(line string) (groups []string) {
	r.t.Helper()
	re := regexp.MustCompile(line)
	found := func() bool {
		groups = re.FindStringSubmatch(r.log.String())
		return groups != nil
	}
	if !fakeapi.Eventually(found) {
		r.t.Fatalf("no line %s in the log:\n%s", line, r.log)
	}
	return groups[1:]
}

// worker is an agent: it sends all that was said so far, does what the model wants, and sends that.
type worker struct {
	t        *testing.T
	url, key string
	header   http.Header
	messages []string
	own      string // in each of its tools' results
	lines    int    // of a result
	tasks    int
	// what the agent makes of the messages before it sends them; nil leaves them
	dress func(messages []string) []string
	asked []byte // the last request
	after int    // tokens of it as it was sent
}

// working is an agent that talks through the daemon.
func working(r *inService) *worker {
	return &worker{t: r.t, url: r.url, key: agentsKey, header: http.Header{}, own: "it", lines: 50, messages: []string{
		message("system", "You are an agent. You change programs, and test what you change."),
		message("user", "Please rework the parts one by one, and keep their tests green."),
	}}
}

// body is the request that asks for the next answer.
func (a *worker) body() []byte {
	messages := a.messages
	if a.dress != nil {
		messages = a.dress(slices.Clone(messages))
	}
	return []byte(`{"model":"` + theModel + `","messages":[` + strings.Join(messages, ",") + `],"temperature":0.2,"tools":[` +
		`{"type":"function","function":{"name":"read_file","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},` +
		`{"type":"function","function":{"name":"bash","description":"Runs a command.","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}}]}`)
}

// reply is what the agent gets.
type reply struct {
	status        int
	action        string
	before, after int // tokens
	message       string
	text          string
}

// send sends a request. An error says that there was no whole answer.
func (a *worker) send(ctx context.Context, body []byte) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header = a.header.Clone()
	req.Header.Set("Authorization", a.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := fakeapi.Direct().Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	out := reply{status: resp.StatusCode, action: resp.Header.Get("X-Epitome-Action"), text: string(text)}
	before, after, _ := strings.Cut(resp.Header.Get("X-Epitome-Tokens"), ">")
	out.before, _ = strconv.Atoi(before)
	out.after, _ = strconv.Atoi(after)
	var doc struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal(text, &doc); err != nil || out.status == http.StatusOK && len(doc.Choices) != 1 {
		return out, errors.Join(fmt.Errorf("the answer is %.200q", text), err)
	}
	if len(doc.Choices) == 1 {
		out.message = string(doc.Choices[0].Message)
	}
	return out, nil
}

// ask sends the conversation as it is, and wants an answer.
func (a *worker) ask() reply {
	a.t.Helper()
	a.asked = a.body()
	out, err := a.send(a.t.Context(), a.asked)
	if err != nil || out.status != http.StatusOK || out.message == "" {
		a.t.Fatalf("got %+v, %v", out, err)
	}
	a.after = out.after
	return out
}

// react does what the model wants.
func (a *worker) react(r reply) {
	a.t.Helper()
	a.messages = append(a.messages, r.message)
	var m wireMessage
	if err := json.Unmarshal([]byte(r.message), &m); err != nil {
		a.t.Fatal(err)
	}
	if len(m.Calls) == 0 {
		a.tasks++
		a.messages = append(a.messages, message("user", fmt.Sprintf("Go on with task %d; mind the limits of field_%d.", a.tasks, a.tasks)))
	}
	for _, c := range m.Calls {
		content := strconv.Quote(a.result(c.Function.Name, c.Function.Arguments))
		a.messages = append(a.messages, `{"role":"tool","tool_call_id":"`+c.ID+`","content":`+content+`}`)
	}
}

// result is what a tool gives.
func (a *worker) result(name, arguments string) string {
	id := regexp.MustCompile(`part_\d+`).FindString(arguments)
	var b strings.Builder
	for line := range a.lines {
		fmt.Fprintf(&b, "%d\t%s_%s_of_%s_%d(in int) int { return in*%d + 1 }\n", line+1, name, id, a.own, line, line*line)
	}
	if name == "bash" {
		fmt.Fprintf(&b, "exit code %d", len(a.messages)%2)
	}
	return b.String()
}

// turn is one round of the loop.
func (a *worker) turn() reply {
	a.t.Helper()
	r := a.ask()
	a.react(r)
	return r
}

// nears works on until the next request would be over the line.
func (a *worker) nears() {
	a.t.Helper()
	a.reaches(itsLine)
}

// reaches works on until the next request would have more than so many tokens.
func (a *worker) reaches(line int) {
	a.t.Helper()
	for range 100 {
		if len(a.asked) > 0 && a.after+scaled().count(a.body())-scaled().count(a.asked) > line {
			return
		}
		if got := a.turn(); got.action == "clear" {
			a.t.Fatalf("the scene is another: of %d tokens results were cleared, and %d are left", got.before, got.after)
		}
	}
	a.t.Fatalf("after %d messages the conversation has only %d tokens", len(a.messages), a.after)
}

// summaryLimits returns the default limits with another wait and number of tries.
func summaryLimits(wait time.Duration, tries int) *summarize.Limits {
	l := summarize.DefaultLimits()
	l.Wait, l.Tries = wait, tries
	return &l
}
