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
	"net/http"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/tidwall/gjson"

	"epitome/event/journal"
)

// Options describe a session.
type Options struct {
	Model     *Model
	Turns     int                                 // about how many requests the agent sends
	URL       string                              // epitome's base URL, with /v1
	Artifacts string                              // folder with epitome's artifacts
	Get       func(target string, into any) error // asks epitome's API
	Out       io.Writer                           // gets the turns as they are played
}

// session is a Run in progress: the agent, which sends its whole conversation each turn, and an observer beside it.
type session struct {
	Options
	report   Report
	messages []message // of the conversation
	turn     Turn      // being played, or to be played next
	last     []byte    // the latest request, as the agent sent it
	id       string    // of the conversation; empty where epitome does not read it
}

// Run plays a session and returns its report. A session that dies on its way is no error: the report says so.
func Run(ctx context.Context, o Options) (*Report, error) {
	const leastTurns = 20 // the first clearing and its questions lie behind them
	if o.Turns < leastTurns {
		return nil, fmt.Errorf("cannot play %d turns: the demo needs at least %d", o.Turns, leastTurns)
	}
	o.Model.artifacts = o.Artifacts
	s := &session{Options: o, report: Report{Window: o.Model.window}}
	s.line("An agent sends its whole conversation again each turn. In time it outgrows its model, which here\n"+
		"holds %s tokens; epitome, between the two, keeps the model's requests small. Agent, user and\n"+
		"model are scripted, and epitome is real. Sizes are in tokens. Turns without news are left out.\n",
		humanize.Comma(int64(s.report.Window)))
	s.line("%4s  %-25s%5s   %5s  %-12s  %5s  %s", "turn", "the agent", "sends", "gets", "window used", "cache",
		"what epitome did")
	err := s.play(ctx)
	var refused *refusal
	if errors.As(err, &refused) {
		s.printTurn()
		s.line("      The session died: %v", refused)
		return &s.report, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot play turn %d: %w", s.turn.Number, err)
	}
	var sums journal.Report
	if s.id != "" {
		err = s.Get("/-/api/summary", &sums)
	}
	s.report.Sums = sums.Total
	return &s.report, err
}

// play plays the script: in each step, the user may say something, the model answers, and the agent runs its tool.
func (s *session) play(ctx context.Context) error {
	for _, x := range script(s.Turns) {
		if x.System != "" {
			s.messages = append(s.messages, message{Role: "system", Content: x.System})
		}
		if x.User != "" {
			s.messages = append(s.messages, message{Role: "user", Content: x.User})
			s.turn = Turn{Did: "user: " + x.About, Question: x.Needs != nil}
		}
		taken, err := s.send(ctx, x)
		if err == nil && taken.isSearch {
			x.isSearched = true
			_, err = s.send(ctx, x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// send sends the conversation, and runs the tool that the model asks for. It returns the step that the model took, and
// notes what the model received and what epitome says that it did.
func (s *session) send(ctx context.Context, x step) (taken step, err error) {
	t := &s.turn
	t.Number = s.report.Turns + 1
	s.Model.next = x
	s.last = encode(request{Model: ModelName, Tools: tools, Messages: s.messages})
	t.Sent = s.Model.count(s.last)
	if t.Sent > s.Model.window && s.report.Alone == "" {
		s.report.Alone = fmt.Sprint(t.Number-1, ", then error 400")
		_, why := s.post(ctx, s.Model.URL)
		s.line("      ✗ without epitome the session dies here. Sent as the agent made it, the request gets\n"+
			"        %s", strings.Replace(why.Error(), ". ", ".\n        ", 1))
	}
	answer, err := s.post(ctx, s.URL)
	if err != nil {
		return taken, err
	}
	t.Got, taken = s.Model.last, s.Model.taken
	if s.id != "" {
		t.Step, err = s.decided()
	}
	if t.Question && taken.Tool == "" {
		t.Answer, t.Right = taken.found, taken.found == x.Needs.Want
	}
	s.report.add(*t)
	s.printTurn()
	s.messages = append(s.messages, answer)
	if taken.Tool != "" {
		id := gjson.GetBytes(answer.Calls, "0.id").Str
		s.messages = append(s.messages, message{Role: "tool", CallID: id, Content: taken.Result})
	}
	s.turn = Turn{Did: taken.String(), ReadBack: taken.isSearch, Question: t.Question && taken.isSearch}
	return taken, err
}

// post sends the latest request to a base URL. The error is a refusal if the model refused it.
func (s *session) post(ctx context.Context, url string) (answer message, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(s.last))
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
	err = errors.Join(err, json.Unmarshal(text, &body))
	if err != nil || len(body.Choices) == 0 {
		return answer, errors.Join(err, &body.Error)
	}
	s.id = resp.Header.Get("X-Epitome-Conversation")
	return body.Choices[0].Message, nil
}

// decided returns what epitome has newly decided with the latest request, as its pages say it; empty for nothing. It
// waits for the record.
func (s *session) decided() (string, error) {
	for range 1000 {
		var c journal.Conversation
		err := s.Get("/-/api/conversations/"+s.id, &c)
		if err == nil && c.Turns == s.turn.Number {
			_, step, _ := strings.Cut(c.Latest, fmt.Sprintf("turn %d: ", c.Turns))
			return step, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return "", errors.New("epitome has no record of it")
}

// encode returns v as JSON.
func encode(v any) []byte {
	text, _ := json.Marshal(v) // nothing here fails
	return text
}
