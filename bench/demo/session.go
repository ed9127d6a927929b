package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"epitome/tokenize"
)

// session is one run from the user's first message to the last answer.
type session struct {
	Options
	agent  *agent
	model  *model
	world  *world
	user   *user
	table  *table
	report *Report
	proxy  Proxy

	turn  int
	added addition
	last  lastRequest
}

// addition is what the agent has added since the last request.
type addition struct {
	asked   *probe    // what the user wants to know; nil for nothing
	did     string    // all of it in a few words
	results []arrival // of the calls
}

// lastRequest is the request of the turn before, as the agent sent it and as the model got it.
type lastRequest struct {
	body     []byte
	tokens   int      // of body
	messages int      // in body
	heard    *hearing // what the model got; nil before the first request
	reads    int      // of artifacts, up to this request
}

// arrival is a result that is sent for the first time.
type arrival struct {
	id      string
	content text
	tokens  int
}

// play goes on until the user has gone or the session has died.
func (s *session) play(ctx context.Context) error {
	s.hear()
	for s.turn = 1; ; s.turn++ {
		if s.turn == s.Turns/2 {
			if err := s.restart(ctx); err != nil {
				return err
			}
		}
		said, err := s.exchange(ctx)
		if refused := (refusalError{}); errors.As(err, &refused) {
			s.report.Failed = refused.Error()
			break
		}
		if err != nil {
			return fmt.Errorf("cannot go on in turn %d: %w", s.turn, err)
		}
		if more := s.react(said); !more {
			break
		}
	}
	s.table.unfold()
	s.report.settle(s)
	return nil
}

// hear takes the user's next message. It returns false if there is none.
func (s *session) hear() bool {
	words, p, ok := s.user.says(s.turn)
	if !ok {
		return false
	}
	s.agent.add(&message{Role: "user", Content: text(words)})
	s.report.UserMessages++
	switch s.added.asked = p; {
	case p != nil:
		s.added.did = "user: " + p.short + "?"
	case s.user.said == 1:
		s.added.did = "user: the goal"
	case s.user.said == 2:
		s.added.did = "user: rules, first job"
	default:
		s.added.did = "user: the next job"
	}
	return true
}

// react does what the model has said. It returns false at the end of the session.
func (s *session) react(said *message) bool {
	s.agent.add(said)
	s.added.results = nil
	if len(said.Calls) == 0 {
		return s.hear()
	}
	for _, c := range said.Calls {
		result := &message{Role: "tool", Answers: c.ID, Content: text(s.world.run(c))}
		s.added.results = append(s.added.results, arrival{c.ID, result.Content, s.agent.add(result)})
	}
	s.report.Calls += len(said.Calls)
	s.added.did = doing(said.Calls)
	return true
}

// exchange plays one turn: it sends the request, notes what the model got of it, and returns the answer.
func (s *session) exchange(ctx context.Context) (*message, error) {
	body := s.agent.body()
	t := Turn{Turn: s.turn, Did: s.added.did, Sent: s.agent.tokens, Asked: s.added.asked != nil}
	if t.Sent > s.Window && s.report.Died == 0 {
		if err := s.withoutEpitome(ctx, body); err != nil {
			return nil, err
		}
	}
	said, head, err := s.agent.ask(ctx, s.proxy.URL, body)
	s.price(&t)
	for _, h := range s.model.take() {
		s.noteRequest(&t, h)
	}
	s.last.body, s.last.tokens, s.last.messages = body, t.Sent, len(s.agent.messages)
	s.compareCounts(&t, head)
	s.noteReading(&t)
	if err == nil && len(said.Calls) == 0 && s.added.asked != nil {
		s.judgeAnswer(&t, said)
	}
	s.report.Turns = append(s.report.Turns, t)
	s.table.turn(t)
	return said, err
}

// withoutEpitome sends the request to the model as it is, for once.
func (s *session) withoutEpitome(ctx context.Context, body []byte) error {
	_, _, err := s.agent.ask(ctx, s.model.url, body)
	s.model.take()
	refused := refusalError{}
	if !errors.As(err, &refused) {
		return fmt.Errorf("cannot see the model refuse %d tokens in a window of %d: it answered, or %w", s.agent.tokens, s.Window, err)
	}
	s.report.Died, s.report.DiedOf = s.turn, refused.Error()
	s.table.death(refused)
	return nil
}

// price counts the request as it would have been without epitome in an endless window: the prompt cache would then hold
// all of the request before.
func (s *session) price(t *Turn) {
	s.report.Raw.add(t.Sent, inSteps(s.last.tokens-tokenize.PerReply))
}

// noteRequest takes in one request that came to the model in this turn.
func (s *session) noteRequest(t *Turn, h hearing) {
	switch {
	case h.refused != nil:
		s.report.Refused++
		return
	case h.summary:
		if t.Summary == nil {
			t.Summary = &Asking{}
		}
		for _, a := range []*Asking{t.Summary, &s.report.Summaries} {
			a.join(Asking{Requests: 1, Input: h.tokens, Cached: h.cached, Output: h.output})
		}
		return
	}
	t.Got, t.Cached = h.tokens, h.cached
	s.report.Sent.add(h.tokens, h.cached)
	if s.last.heard != nil {
		s.compare(t, &h)
	}
	s.compareArrivals(t, &h)
	s.last.heard = &h
}

// compareCounts compares epitome's count with the model's.
func (s *session) compareCounts(t *Turn, head http.Header) {
	t.Action = head.Get("X-Epitome-Action")
	_, after, _ := strings.Cut(head.Get("X-Epitome-Tokens"), ">")
	if n, err := strconv.Atoi(after); err == nil {
		s.report.MostOff = max(s.report.MostOff, n-t.Got, t.Got-n)
	}
}

// noteReading notes whether the agent has read an artifact for this turn.
func (s *session) noteReading(t *Turn) {
	if s.world.reads > s.last.reads {
		t.ReadBack = true
		s.report.ReadBack++
	}
	s.last.reads = s.world.reads
}

// judgeAnswer judges what the model has said to the user's question.
func (s *session) judgeAnswer(t *Turn, said *message) {
	want := s.world.truth(s.added.asked)
	_, got, _ := strings.Cut(string(said.Content), ": ")
	q := Question{Turn: s.turn, Asked: s.added.asked.label, Want: want, Got: strings.TrimSuffix(got, "."),
		ReadBack: t.ReadBack}
	t.Question = &q
	s.report.Questions = append(s.report.Questions, q)
	s.added.asked = nil
}

// restart ends epitome and starts it again on what it has kept. The agent then sends its last request once more, as if
// the connection had been cut, and the model says whether the same bytes came.
func (s *session) restart(ctx context.Context) error {
	if err := s.proxy.Close(); err != nil {
		return fmt.Errorf("cannot stop epitome in turn %d: %w", s.turn, err)
	}
	s.agent.client.CloseIdleConnections()
	next, err := s.Open(s.model.url)
	if err != nil {
		s.proxy.Close = func() error { return nil } // it has been
		return fmt.Errorf("cannot start epitome again in turn %d: %w", s.turn, err)
	}
	s.proxy = next
	if _, _, err := s.agent.ask(ctx, s.proxy.URL, s.last.body); err != nil {
		return fmt.Errorf("cannot send the request of turn %d again: %w", s.turn-1, err)
	}
	r := Restart{Turn: s.turn}
	for _, h := range s.model.take() {
		r.Bytes, r.Equal = len(h.body), h.again
	}
	s.report.Restart = &r
	s.table.restart(r)
	return nil
}

// doing returns what calls do, in a few words.
func doing(calls []toolCall) string {
	var all []string
	for _, c := range calls {
		a := c.Function.Arguments
		switch c.Function.Name {
		case readTool:
			all = append(all, argument(a, "path"))
		case searchTool:
			if p := argument(a, "path"); p != "." {
				return "grep " + number(1+strings.Count(p, "\n"), "file") + " set aside"
			}
			return "grep " + argument(a, "pattern")
		case editTool:
			return "edit " + argument(a, "path")
		case writeTool:
			return "write " + argument(a, "path")
		case shellTool:
			return argument(a, "command")
		case webTool:
			_, path, _ := strings.Cut(argument(a, "url"), ".internal")
			return "GET " + path
		}
	}
	return "read " + strings.Join(all, ", ")
}

// argument returns one of a call's arguments.
func argument(arguments, name string) string {
	var all map[string]any
	if json.Unmarshal([]byte(arguments), &all) != nil {
		return ""
	}
	s, _ := all[name].(string)
	return s
}
