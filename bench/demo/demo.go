// Package demo plays a long session of an agent through epitome, without any network beyond this machine, and prints
// what epitome does.
//
// The agent, its tools, its user and the model are scripted; epitome is the real one. The model counts the tokens that
// it receives and refuses requests over its window. It finds what it needs from earlier turns in the request, or in the
// files that the request names. Decisions and money are those of epitome's API, as its pages show them. Equal options
// give equal sessions.
package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"epitome/event"
)

// Options describe a session.
type Options struct {
	Window int // tokens that the model holds
	Turns  int // about how many requests the agent sends
	Seed   uint64
	// Start starts epitome before an upstream. It is called a second time to restart it with the data of the first.
	Start func(upstream string) (Proxy, error)
	Live  io.Writer // gets the turns as they are played
	Color bool
}

// Proxy is an epitome that runs.
type Proxy struct {
	URL       string                              // base URL, with /v1
	Artifacts string                              // folder with the artifacts
	Get       func(target string, into any) error // asks its API
}

// leastTurns is the smallest number of turns with everything in the session.
const leastTurns = 20

// session is a Run in progress: the agent, which sends its whole conversation each turn, and an observer beside it.
type session struct {
	Options
	report   *Report
	model    *model
	user     user
	proxy    Proxy
	table    *table
	messages []message // of the conversation
	next     Turn      // the turn to be played
	last     []byte    // the latest request, as the agent sent it
	id       string    // of the conversation; empty where epitome does not read it
	requests int       // that epitome has answered
}

// Run plays a session and returns its report. A session that dies on its way is no error: the report says so.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Turns < leastTurns {
		return nil, fmt.Errorf("cannot play %d turns: the demo needs at least %d", o.Turns, leastTurns)
	}
	first := task{0, o.Seed}
	m, err := newModel(o.Window, &script{turns: o.Turns, task: task{-1, o.Seed}, results: map[string]string{}})
	if err != nil {
		return nil, err
	}
	defer m.server.Close()
	s := &session{Options: o, model: m, user: user{turns: o.Turns, task: first},
		report: &Report{Window: o.Window, Seed: o.Seed}, table: newTable(o),
		messages: []message{{Role: "system", Content: first.prop("system", 0)}}}
	if s.proxy, err = o.Start(m.url); err != nil {
		return nil, err
	}
	for more := s.hearUser(); more; {
		if s.next.Turn == o.Turns/2 {
			if err := s.restart(ctx); err != nil {
				return nil, fmt.Errorf("cannot restart epitome: %w", err)
			}
		}
		if more, err = s.play(ctx, s.next); err != nil {
			return nil, fmt.Errorf("cannot play turn %d: %w", len(s.report.Turns)+1, err)
		}
	}
	s.table.unfold()
	if s.report.Failed == "" && s.id != "" {
		err = s.review()
	}
	return s.report, err
}

// hearUser adds the user's next message. It returns false if there is none.
func (s *session) hearUser() bool {
	turn := len(s.report.Turns) + 1
	text, note, q := s.user.says(turn)
	s.messages = append(s.messages, message{Role: "user", Content: text})
	s.next = Turn{Turn: turn, Did: "user: " + note, Question: q}
	return text != ""
}

// play sends one request, and does what the model answers. It returns false at the end of the session.
func (s *session) play(ctx context.Context, t Turn) (more bool, err error) {
	s.last = encode(request{Model: ModelName, Tools: tools, Messages: s.messages})
	r, err := s.model.read(s.last)
	if err != nil {
		return false, err
	}
	t.Sent = r.tokens
	s.report.Raw.add(t.Sent, 0)
	if t.Sent > s.Window && s.report.Died == 0 {
		s.report.Died = t.Turn
		_, why, err := s.ask(ctx, s.model.url)
		if why == nil {
			return false, fmt.Errorf("the model accepts %d tokens: %w", t.Sent, err)
		}
		s.table.death(why)
	}
	answer, refused, err := s.ask(ctx, s.proxy.URL)
	if err != nil {
		return false, err
	}
	if refused != nil {
		s.report.Failed = refused.Error()
	} else if err := s.observe(&t, answer); err != nil {
		return false, err
	}
	s.report.Turns = append(s.report.Turns, t)
	s.table.turn(t)
	return refused == nil && s.react(t, answer), nil
}

// react runs the tool that the model calls, or hears the user. It returns false if the user has nothing to say.
func (s *session) react(t Turn, answer message) bool {
	s.messages = append(s.messages, answer)
	if len(answer.Calls) == 0 {
		return s.hearUser()
	}
	c := answer.Calls[0]
	s.next = Turn{Turn: t.Turn + 1, Did: describe(c), Question: t.Question}
	result := s.model.script.results[c.ID]
	if result == "" {
		result, s.next.ReadBack = searchFiles(c), true
	}
	s.messages = append(s.messages, message{Role: "tool", CallID: c.ID, Content: result})
	return true
}

// ask sends the latest request to a base URL, and returns the answer or why it was refused.
func (s *session) ask(ctx context.Context, url string) (answer message, refused *refusal, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(s.last))
	if err != nil {
		return answer, nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		return answer, nil, err
	}
	defer resp.Body.Close()
	var body struct {
		Choices []struct{ Message message }
		Error   *refusal
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return answer, nil, fmt.Errorf("cannot read the answer: %w", err)
	}
	if body.Error != nil || len(body.Choices) != 1 {
		return answer, body.Error, nil
	}
	if url == s.proxy.URL {
		s.id = resp.Header.Get("X-Epitome-Conversation")
		s.requests++
	}
	return body.Choices[0].Message, nil, nil
}

// observe notes what the model received, what it answered to a question, and what epitome says that it did.
func (s *session) observe(t *Turn, answer message) error {
	got := s.model.latest()
	t.Got, t.Cached = got.tokens, got.cached
	s.report.Sent.add(t.Got, t.Cached)
	if got.extends {
		s.report.Extended++
	}
	if t.ReadBack {
		s.report.Reads++
	}
	if t.Question != nil && len(answer.Calls) == 0 {
		_, t.Answer, _ = strings.Cut(answer.Content, ": ")
		s.report.Asked++
		if t.Answer == t.Question.want {
			s.report.Right++
		}
	}
	if s.id == "" {
		return nil
	}
	e, err := s.exchange()
	if err != nil || e.Mode != event.ModeOn {
		return err
	}
	t.Shaping = e.Shaping
	if e.Compacted > 0 {
		s.report.Compactions++
	}
	if !got.extends && !e.Broke && t.Turn > 1 {
		s.report.Unexplained++
	}
	if e.Offloaded > 0 && s.report.Excerpt == nil {
		edits, err := s.edits()
		if err != nil {
			return err
		}
		s.report.Excerpt = newExcerpt(t.Turn, edits[len(edits)-1])
	}
	return nil
}

// exchange asks epitome for its record of the latest request. It waits until there is one.
func (s *session) exchange() (event.Exchange, error) {
	for range 1000 {
		var all event.Story
		if err := s.proxy.Get("/-/api/conversations/"+s.id, &all); err == nil && len(all.Exchanges) == s.requests {
			return all.Exchanges[s.requests-1], nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return event.Exchange{}, fmt.Errorf("epitome has no record of request %d", s.requests)
}

// edits asks epitome in what form it sent the messages of the latest request.
func (s *session) edits() ([]event.Edit, error) {
	var edits event.Edits
	err := s.proxy.Get("/-/api/conversations/"+s.id+"/edits", &edits)
	return edits.List, err
}

// restart restarts epitome with the data that it has kept. The agent then sends its latest request again, as after a
// broken connection, and the model says whether it received the same bytes.
func (s *session) restart(ctx context.Context) (err error) {
	if s.proxy, err = s.Start(s.model.url); err != nil {
		return err
	}
	if _, _, err := s.ask(ctx, s.proxy.URL); err != nil {
		return err
	}
	got := s.model.latest()
	s.report.Restart = Restart{s.next.Turn, len(got.Body), got.repeats}
	s.table.restart(s.report.Restart)
	return nil
}

// review finds out where each message of the last request is: in the request as the model received it, or in the file
// that epitome names for it. It also asks for the money that epitome's pages show.
func (s *session) review() error {
	var sums event.Report
	if err := s.proxy.Get("/-/api/summary", &sums); err != nil {
		return err
	}
	s.report.Money = sums.Total.Money
	edits, err := s.edits()
	if err != nil {
		return err
	}
	k := &s.report.Kept
	stored := map[int]string{} // by the number of the message
	for _, e := range edits {
		text, err := os.ReadFile(filepath.Join(s.proxy.Artifacts, e.Artifact+".txt"))
		if err != nil {
			return fmt.Errorf("cannot read what was taken out: %w", err)
		}
		k.Files++
		k.KB += len(text) / 1024
		for i := e.Item; i <= e.Last; i++ {
			stored[i] = string(text)
		}
	}
	var sent request
	if err := json.Unmarshal(s.last, &sent); err != nil {
		return err
	}
	got := string(s.model.latest().Body)
	for i, m := range sent.Messages {
		raw := string(encode(m))
		k.Messages++
		switch {
		case m.Role == "tool" && stored[i] == m.Content || strings.Contains(stored[i], raw):
			k.Stored++
		case strings.Contains(got, strings.TrimSuffix(raw, `"}`)): // a summary may follow
			k.Whole++
		default:
			k.Lost++
		}
	}
	return nil
}

// encode returns v as JSON.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return text
}

// describe says in a few words what a call does.
func describe(c call) string {
	var args map[string]string
	_ = json.Unmarshal([]byte(c.Function.Arguments), &args) // the script has made them
	name, _, _ := strings.Cut(c.Function.Name, "_")
	if name == "grep" && args["path"] != "." {
		return "grep " + english.Plural(1+strings.Count(args["path"], "\n"), "stored file", "")
	}
	return strings.TrimPrefix(name+" "+cmp.Or(args["pattern"], args["path"], args["url"], args["command"]), "bash ")
}
