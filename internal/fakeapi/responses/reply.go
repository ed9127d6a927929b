package responses

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/responses/rules"
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	asked := Received{Method: r.Method, Target: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body}
	path := r.URL.Path[max(0, strings.Index(r.URL.Path, "/v1/")):]
	purpose, known := purposeOf(path)
	id, fetched := strings.CutPrefix(path, "/v1/responses/")
	switch {
	case r.Method == http.MethodPost && known:
		asked.Purpose = purpose
		s.reply(w, r, asked)
	case r.Method == http.MethodPost && path == "/v1/conversations":
		s.open(w, asked)
	case r.Method == http.MethodGet && path == "/v1/responses" && r.Header.Get("Upgrade") != "":
		refuse(s, w, asked, &rules.Refusal{Status: http.StatusUpgradeRequired, Type: "invalid_request_error",
			Message: "WebSockets are not served here."})
	case r.Method == http.MethodGet && path == "/v1/models":
		s.give(w, asked, http.StatusOK, listModels(s.options))
	case r.Method == http.MethodGet && fetched:
		s.fetch(w, asked, id)
	default:
		asked.Judged = r.Method == http.MethodPost
		refuse(s, w, asked, rules.Unknown("Invalid URL (%s %s)", r.Method, r.URL.Path))
	}
}

// purposeOf is what is asked for at a path; ok is false for others.
func purposeOf(path string) (p rules.Purpose, ok bool) {
	switch path {
	case "/v1/responses":
		return rules.Answer, true
	case "/v1/responses/input_tokens":
		return rules.Count, true
	case "/v1/responses/compact":
		return rules.Compact, true
	}
	return 0, false
}

// readBody reads a body, decompressed.
func readBody(r *http.Request) ([]byte, error) {
	switch coding := r.Header.Get("Content-Encoding"); coding {
	case "zstd":
		plain, err := zstd.NewReader(r.Body)
		if err != nil {
			return nil, fmt.Errorf("cannot read a body in zstd: %w", err)
		}
		defer plain.Close()
		return io.ReadAll(plain)
	case "gzip":
		plain, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, fmt.Errorf("cannot read a body in gzip: %w", err)
		}
		return io.ReadAll(plain)
	}
	return io.ReadAll(r.Body)
}

// refuse answers a request with a refusal.
func refuse(s *Server, w http.ResponseWriter, asked Received, refused *rules.Refusal) {
	asked.Refusal = refused
	s.give(w, asked, refused.Status, refused.Body())
}

// give records a request and answers it.
func (s *Server) give(w http.ResponseWriter, asked Received, status int, text []byte) {
	s.Record(&asked, &asked.N)
	w.Header().Set("x-request-id", fmt.Sprintf("req_%032d", asked.N))
	fakeapi.WriteJSON(w, status, text)
}

// open begins a conversation.
func (s *Server) open(w http.ResponseWriter, asked Received) {
	s.mu.Lock()
	s.conversations++
	id := fmt.Sprintf("conv_%032d", s.conversations)
	s.book.Open(id)
	s.mu.Unlock()
	s.give(w, asked, http.StatusOK, fakeapi.Encode(map[string]any{
		"id": id, "object": "conversation", "created_at": epoch, "metadata": map[string]any{}}))
}

// listModels lists the models of Options.
func listModels(o Options) []byte {
	all := []any{}
	for _, name := range slices.Sorted(maps.Keys(o.Models)) {
		all = append(all, map[string]any{"id": name, "object": "model", "created": epoch, "owned_by": "scripted"})
	}
	return fakeapi.Encode(map[string]any{"object": "list", "data": all})
}

// fetch returns a response that is kept.
func (s *Server) fetch(w http.ResponseWriter, asked Received, id string) {
	s.mu.Lock()
	a := s.kept[id]
	s.mu.Unlock()
	if a == nil {
		refuse(s, w, asked, rules.Unknown("Response with id '%s' not found.", id))
		return
	}
	s.give(w, asked, http.StatusOK, fakeapi.Encode(a))
}

// reply judges what was asked, and answers it.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, asked Received) {
	v, streams := s.examine(&asked)
	switch {
	case v.refused != nil:
		refuse(s, w, asked, v.refused)
		return
	case asked.Purpose == rules.Count:
		s.give(w, asked, http.StatusOK, fakeapi.Encode(map[string]any{"object": "response.input_tokens", "input_tokens": v.tokens}))
		return
	}
	t := s.turn(asked, v, streams)
	asked.Refusal = cmp.Or(t.Refuse, t.Fail, t.Error)
	if t.Refuse != nil || asked.Refusal != nil && !v.q.Streamed {
		refuse(s, w, asked, asked.Refusal)
		return
	}
	s.Hold(r, t.Hold)
	s.send(w, &asked, v, t)
}

// examine judges what was asked and notes what came of it. streams is a refusal that comes as an event, if what was
// asked for is a stream.
func (s *Server) examine(asked *Received) (v verdict, streams *rules.Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v = s.judge(asked.Header, asked.Body, asked.Purpose)
	asked.Tokens, asked.Answered = v.tokens, s.answers
	if v.q != nil {
		asked.Model = v.q.Name
	}
	if v.refused != nil && v.positions != nil && v.q.Model.Overflow.Streams() && v.tokens > v.q.Model.Window {
		streams, v.refused = v.refused, nil
	}
	asked.Refusal = cmp.Or(v.refused, streams)
	asked.Judged = asked.Refusal != nil
	return v, streams
}

// turn takes the next turn, or makes one of a refusal that comes in a stream.
func (s *Server) turn(asked Received, v verdict, streams *rules.Refusal) Turn {
	if streams != nil {
		if o := v.q.Model.Overflow; o == rules.ErrorInStream || o == rules.ErrorObject {
			return Turn{Error: streams, After: 2}
		}
		return Turn{Fail: streams, After: 2}
	}
	return s.Take(func() Turn {
		if s.options.Otherwise == nil {
			return Say("Done.")
		}
		return s.options.Otherwise(asked)
	})
}

// send answers with a turn.
func (s *Server) send(w http.ResponseWriter, asked *Received, v verdict, t Turn) {
	a := s.write(asked, v, t)
	s.Record(asked, &asked.N)
	w.Header().Set("x-request-id", fmt.Sprintf("req_%032d", asked.N))
	if !v.q.Streamed || a.compaction {
		if t.Cut {
			panic(http.ErrAbortHandler)
		}
		if v.q.Background {
			queued := *a
			queued.Status, queued.Items, queued.Usage = "queued", []map[string]any{}, nil
			a = &queued
		}
		fakeapi.WriteJSON(w, http.StatusOK, fakeapi.Encode(a))
		return
	}
	events := &stream{a.events()}
	if t.Fail != nil || t.Error != nil || t.Cut {
		events.events = events.events[:min(max(t.After, 1), len(events.events))]
	}
	events.end(a, t)
	fakeapi.WriteEvents(w, events.events)
	if t.Cut {
		panic(http.ErrAbortHandler)
	}
}

// write accounts the request with the cache and composes its answer. What fails is not kept.
func (s *Server) write(asked *Received, v verdict, t Turn) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Fail != nil || t.Error != nil {
		v.q.Stored = false
	}
	u := s.cache.Account(v.q, v.positions)
	a := s.compose(t, v.q, u)
	if t.Fail == nil && t.Error == nil {
		asked.Usage = *a.Usage
	}
	return a
}
