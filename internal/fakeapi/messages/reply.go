package messages

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/messages/rules"
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	counting := strings.HasSuffix(r.URL.Path, "/v1/messages/count_tokens")
	asked := Received{Method: r.Method, Target: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body,
		Counting: counting}
	switch {
	case r.Method == http.MethodPost && (counting || strings.HasSuffix(r.URL.Path, "/v1/messages")):
		s.reply(w, r, asked)
	case r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		w.WriteHeader(http.StatusOK)
	default:
		refused := &rules.Refusal{Status: 404, Type: "not_found_error", Message: "Not found"}
		asked.Refusal, asked.Judged = refused, r.Method == http.MethodPost
		s.Record(&asked, &asked.N)
		writeRefusal(w, refused)
	}
}

// reply judges what was asked, and answers it.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, asked Received) {
	v, streams := s.examine(&asked)
	if v.refused == nil && !asked.Counting {
		t := Turn{Fail: streams}
		if streams == nil {
			t = s.turn(asked)
			asked.Refusal = cmp.Or(t.Refuse, t.Fail)
		}
		if t.Refuse == nil && (t.Fail == nil || v.q.Streamed) {
			s.Hold(r, t.Hold)
			s.send(w, &asked, v, t)
			return
		}
	}
	s.Record(&asked, &asked.N)
	w.Header().Set("request-id", fmt.Sprintf("req_%024d", asked.N))
	switch {
	case asked.Refusal != nil:
		writeRefusal(w, asked.Refusal)
	default:
		fakeapi.WriteJSON(w, http.StatusOK, fakeapi.Encode(countAnswer(v.q, v.tokens)))
	}
}

// examine judges what was asked and notes what came of it. streams is a refusal that comes as
// an event, if what was asked for is a stream.
func (s *Server) examine(asked *Received) (v verdict, streams *rules.Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v = s.judge(asked.Header, asked.Body, asked.Counting)
	asked.Tokens, asked.Answered = v.tokens, s.answers
	if v.q != nil {
		asked.Model = v.q.Name
	}
	if v.thought != nil {
		asked.Dropped = len(v.thought.Drops)
	}
	if v.refused != nil && v.positions != nil && v.q.Model.Overflow == rules.FailsInStream {
		streams, v.refused = v.refused, nil
	}
	asked.Refusal = cmp.Or(v.refused, streams)
	asked.Judged = asked.Refusal != nil
	return v, streams
}

// turn takes the next turn.
func (s *Server) turn(asked Received) Turn {
	return s.Take(func() Turn {
		if s.options.Otherwise == nil {
			return Say("Done.")
		}
		return s.options.Otherwise(asked)
	})
}

// countAnswer is the answer of count_tokens.
func countAnswer(q *rules.Request, tokens int) any {
	answer := map[string]any{"input_tokens": tokens}
	if q.Fields.Has("context_management") {
		answer["context_management"] = map[string]int{"original_input_tokens": tokens}
	}
	return answer
}

// send answers with a turn.
func (s *Server) send(w http.ResponseWriter, asked *Received, v verdict, t Turn) {
	a := s.write(asked, v, t)
	w.Header().Set("request-id", fmt.Sprintf("req_%024d", asked.N))
	if !v.q.Streamed {
		if t.Cut {
			panic(http.ErrAbortHandler)
		}
		fakeapi.WriteJSON(w, http.StatusOK, fakeapi.Encode(a))
		return
	}
	events := a.events()
	if t.Fail != nil || t.Cut {
		events = events[:min(max(t.After, 1), len(events))]
	}
	if t.Fail != nil {
		events = append(events, fakeapi.Event{Name: "error", Data: t.Fail.Body()})
	}
	fakeapi.WriteEvents(w, events)
	if t.Cut {
		panic(http.ErrAbortHandler)
	}
}

// write accounts the request with the cache, composes its answer and records both.
func (s *Server) write(asked *Received, v verdict, t Turn) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.cache.Account(v.q, v.positions)
	a := s.compose(t, v.thought, &u)
	if len(a.Content) > 0 && (a.Content[0].Type == "thinking") {
		for _, c := range a.Content[1:] {
			s.thoughtful[c.ID] = true
		}
	}
	asked.Usage = u
	s.Record(asked, &asked.N)
	return a
}

// writeRefusal answers with a refusal.
func writeRefusal(w http.ResponseWriter, refused *rules.Refusal) {
	fakeapi.WriteJSON(w, refused.Status, refused.Body())
}
