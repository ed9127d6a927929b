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
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"epitome/event"
	"epitome/event/journal"
)

// Options describe a session.
type Options struct {
	Window int                                  // tokens that the model holds
	Turns  int                                  // about how many requests the agent sends
	Start  func(upstream string) (Proxy, error) // starts epitome
	Out    io.Writer                            // gets the turns as they are played
	Color  bool
}

// Proxy is an epitome that runs.
type Proxy struct {
	URL       string                              // base URL, with /v1
	Artifacts string                              // folder with the artifacts
	Get       func(target string, into any) error // asks its API
}

// session is a Run in progress: the agent, which sends its whole conversation each turn, and an observer beside it.
type session struct {
	Options
	report   Report
	model    *model
	proxy    Proxy
	messages []message // of the conversation
	excerpt  bool      // was printed
	turn     Turn      // being played, or to be played next
	last     []byte    // the latest request, as the agent sent it
	id       string    // of the conversation; empty where epitome does not read it
	err      error     // that ended the session
}

// Run plays a session and returns its report. A session that dies on its way is no error: the report says so.
func Run(ctx context.Context, o Options) (*Report, error) {
	const leastTurns = 20 // the first clearing and its questions lie behind them
	if o.Turns < leastTurns {
		return nil, fmt.Errorf("cannot play %d turns: the demo needs at least %d", o.Turns, leastTurns)
	}
	m, err := newModel(o.Window)
	if err != nil {
		return nil, err
	}
	defer m.server.Close()
	s := &session{Options: o, model: m, report: Report{Window: o.Window}}
	if s.proxy, err = o.Start(m.url); err != nil {
		return nil, err
	}
	s.printHead()
	s.play(ctx)
	var refused *refusal
	switch {
	case errors.As(s.err, &refused):
		s.printTurn()
		s.report.fault("the session died in turn %d: %v", s.turn.Number, refused)
	case s.err != nil:
		return nil, fmt.Errorf("cannot play turn %d: %w", s.turn.Number, s.err)
	case s.id != "":
		err = s.review()
	}
	return &s.report, err
}

// play plays all turns: the user sets a goal, then one task after the other, and asks about earlier turns on the way
// and at the end. After an error nothing more happens.
func (s *session) play(ctx context.Context) {
	end := s.Turns - 5 // there is a task to ask about
	first := newTask(0)
	s.messages = []message{{Role: "system", Content: first.prop("system", 0)}}
	s.addUser("the goal", first.prop("goal", 0))
	s.take(ctx, step{Words: "Before I begin: is there a rule that I have to keep to?"})
	for n := 0; s.err == nil && s.report.Turns < end; n++ {
		t := newTask(n)
		s.addUser("work on "+t.Package, t.prop("job", 0))
		for _, x := range t.steps() {
			if s.report.Turns >= end {
				x = step{Words: "Done: the packages up to here agree with the ledger to the cent.\nNext: the release."}
			}
			if x.NeedsTrace {
				x.needs = t.traceQuestion()
			}
			s.take(ctx, x)
			if x.Tool == "" {
				break
			}
		}
		if (n == 1 || n == 4) && s.report.Turns < end {
			s.ask(ctx, newTask(n/2).traceQuestion())
		}
	}
	s.ask(ctx, first.traceQuestion())
	s.ask(ctx, changeNumber)
}

// addUser adds a message of the user, and begins a turn with it.
func (s *session) addUser(about, text string) {
	s.messages = append(s.messages, message{Role: "user", Content: text})
	s.turn = Turn{Did: "user: " + about}
}

// ask has the user ask a question, and the model answer it.
func (s *session) ask(ctx context.Context, q *question) {
	if s.err != nil {
		return
	}
	s.addUser(q.label+"?", "A question in between: what was "+q.label+"?")
	s.turn.Question = true
	s.take(ctx, step{Words: "It was {found}.", needs: q})
}

// take has the model take a step, and the agent run its tool. Where the request as the model receives it lacks what the
// step needs, the model first searches the files that the request names.
func (s *session) take(ctx context.Context, x step) {
	if s.err == nil {
		s.err = ctx.Err()
	}
	for search := x.needs != nil; s.err == nil; search = false {
		taken, found, id := x, "", fmt.Sprint("call_", len(s.messages))
		answer, err := s.send(func(received []message) message {
			if x.needs != nil {
				found = x.needs.in(received)
			}
			if search = search && found == ""; search {
				taken = x.needs.search(received)
			}
			taken.Words = strings.ReplaceAll(taken.Words, "{found}", found)
			return taken.message(id)
		})
		if s.err = err; err != nil {
			return
		}
		if s.turn.Question && taken.Tool == "" {
			s.turn.Answer, s.turn.Right = found, found == x.needs.want
		}
		s.report.add(s.turn)
		s.printTurn()
		s.messages = append(s.messages, answer)
		if taken.Tool == "" {
			return
		}
		s.messages = append(s.messages, message{Role: "tool", CallID: id, Content: taken.Result})
		s.turn = Turn{Did: taken.String(), ReadBack: search, Question: s.turn.Question}
		if !search {
			return
		}
	}
}

// send sends the conversation, and notes what the model received and what epitome says that it did. Decide is the
// model's answer to the messages that it receives.
func (s *session) send(decide func([]message) message) (answer message, err error) {
	t := &s.turn
	t.Number = s.report.Turns + 1
	s.model.decide = decide
	s.last = encode(request{Model: ModelName, Tools: tools, Messages: s.messages})
	t.Sent = s.model.count(s.last)
	if t.Sent > s.Window && s.report.Alone == "" {
		s.report.Alone = fmt.Sprint(t.Number-1, ", then error 400")
		_, why := s.post(s.model.url)
		s.line(red, "      ✗ without epitome the session dies here. Sent as the agent made it, the request gets\n"+
			"        %s", strings.Replace(why.Error(), ". ", ".\n        ", 1))
	}
	if answer, err = s.post(s.proxy.URL); err != nil {
		return answer, err
	}
	t.Got = s.model.last
	if s.id != "" {
		t.Exchange, err = s.exchange()
	}
	return answer, err
}

// post sends the latest request to a base URL. The error is a refusal if the model refused it.
func (s *session) post(url string) (answer message, err error) {
	r, err := http.NewRequest(http.MethodPost, url+"/chat/completions", bytes.NewReader(s.last))
	if err != nil {
		return answer, err
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "User-Agent": {"demo-agent/1"}}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body) // to its end: else the connection is closed, as by a client that leaves
	var body struct {
		Choices []struct{ Message message }
		Error   refusal
	}
	if err = errors.Join(err, json.Unmarshal(text, &body)); err != nil || len(body.Choices) == 0 {
		return answer, errors.Join(err, &body.Error)
	}
	s.id = resp.Header.Get("X-Epitome-Conversation")
	return body.Choices[0].Message, nil
}

// exchange returns epitome's record of the latest request, as soon as there is one.
func (s *session) exchange() (event.Exchange, error) {
	for range 1000 {
		var all journal.Story
		err := s.proxy.Get("/-/api/conversations/"+s.id, &all)
		if err == nil && len(all.Exchanges) == s.turn.Number {
			return all.Exchanges[s.turn.Number-1], nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return event.Exchange{}, errors.New("epitome has no record of it")
}

// edits returns in what form epitome sent the messages of the latest request.
func (s *session) edits() ([]event.Edit, error) {
	var edits event.Edits
	err := s.proxy.Get("/-/api/conversations/"+s.id+"/edits", &edits)
	return edits.List, err
}

// nameOf matches the name of an artifact.
var nameOf = regexp.MustCompile(`\b[a-z2-7]{26}\b`)

// review finds out where each message of the last request is: in the request as the model received it, or in the files
// that epitome names. It also asks for the sums that epitome's pages show.
func (s *session) review() error {
	var sums journal.Report
	edits, err := s.edits()
	if err = errors.Join(err, s.proxy.Get("/-/api/summary", &sums)); err != nil {
		return err
	}
	files := map[string]string{}
	for _, e := range edits {
		files[e.Artifact], err = s.read(e.Artifact)
		first, _, _ := strings.Cut(files[e.Artifact], "\n") // of a transcript, it names the file with the JSON
		for _, name := range nameOf.FindAllString(e.Text+first, -1) {
			var failed error
			files[name], failed = s.read(name)
			err = errors.Join(err, failed)
		}
		if err != nil {
			return fmt.Errorf("cannot read what was taken out: %w", err)
		}
	}
	stored := strings.Join(slices.Collect(maps.Values(files)), "\n")
	r, got := &s.report, string(s.model.last.body)
	r.Sums, r.Files, r.KB, r.Messages = sums.Total, len(files), len(stored)/1024, len(s.messages)-1
	for _, m := range s.messages[:r.Messages] { // without the last answer
		raw := string(encode(m))
		switch {
		case strings.Contains(got, strings.TrimSuffix(raw, `"}`)): // a summary may follow
			r.Whole++
		case strings.Contains(stored, raw) || m.Role == "tool" && strings.Contains(stored, m.Content):
			r.Stored++
		}
	}
	if r.Lost = r.Messages - r.Whole - r.Stored; r.Lost > 0 {
		r.fault("messages lost: %d", r.Lost)
	}
	return nil
}

// read returns the artifact of a name.
func (s *session) read(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.proxy.Artifacts, name+".txt"))
	return string(text), err
}

// encode returns v as JSON.
func encode(v any) []byte {
	text, _ := json.Marshal(v) // nothing here fails
	return text
}
