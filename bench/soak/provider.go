package soak

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// turnHeader names the attempt in a request of a client. epitome's own requests have none.
const turnHeader = "X-Soak-Attempt"

// bytesPerToken is a guess, for refusals.
const bytesPerToken = 3

// provider is the upstream of all dialects: it plays the fate of each attempt and notes what reached it.
type provider struct {
	server *http.Server
	url    string
	notes  *record

	mu   sync.Mutex // guards what follows
	live map[string]*attempt
}

// startProvider listens on a free port of loopback until close.
func startProvider(notes *record) (*provider, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot start the upstream: %w", err)
	}
	p := &provider{url: "http://" + ln.Addr().String(), notes: notes, live: map[string]*attempt{}}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: hangs, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = p.server.Serve(ln) }() // it ends with close
	return p, nil
}

func (p *provider) close() { _ = p.server.Close() }

// expect makes an attempt known, forget takes it away.
func (p *provider) expect(a *attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live[a.id] = a
}

func (p *provider) forget(a *attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, a.id)
}

// ServeHTTP notes a request and answers it.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		p.notes.count("requests that broke off on their way to the upstream")
		return
	}
	if r.Method != http.MethodPost {
		http.NotFound(w, r) // whoever asks for models
		return
	}
	p.notes.breaks(leaked("a request to the upstream", r, body)...)
	id := r.Header.Get(turnHeader)
	if id == "" {
		p.answerOwn(w, r, body)
		return
	}
	p.mu.Lock()
	a := p.live[id]
	if a == nil {
		p.mu.Unlock()
		p.notes.count("requests that came when their client had gone")
		http.NotFound(w, r)
		return
	}
	n := a.arrive(body)
	p.mu.Unlock()
	defer a.underway.Done()
	s := &speaker{w: w, r: r, n: n, a: a}
	s.play(p.notes)
}

// speaker is the answer to one request.
type speaker struct {
	w http.ResponseWriter
	r *http.Request
	n *arrival
	a *attempt
}

// play answers as the attempt's fate says.
func (s *speaker) play(notes *record) {
	a := s.a
	if most := a.talk.most; most > 0 && len(s.n.body) > most {
		notes.count("refused as too long")
		s.all(http.StatusBadRequest, fmt.Sprintf(refusalIn(a.talk.dialect), most/bytesPerToken,
			len(s.n.body)/bytesPerToken))
		return
	}
	pieces := answerOf(a.talk.dialect, a.words(), a.stream)
	switch a.fate {
	case limited:
		s.all(http.StatusTooManyRequests, limitedAnswer)
	case failed:
		s.all(http.StatusInternalServerError, failedAnswer)
	case leaveBefore:
		s.awaitGone(notes)
	case leaveWithin:
		s.stream(pieces[:4], 0)
		s.awaitGone(notes)
	case cut:
		s.broken(pieces)
	case slowStream:
		s.answer(pieces, 30*time.Millisecond)
	default:
		s.answer(pieces, 0)
	}
}

func (s *speaker) answer(pieces []string, pause time.Duration) {
	if !s.a.stream {
		time.Sleep(4 * pause)
		s.all(http.StatusOK, pieces[0])
		return
	}
	s.stream(pieces, pause)
	s.n.whole = true
}

// all sends an answer that is not streamed.
func (s *speaker) all(status int, body string) {
	s.w.Header().Set("Content-Type", "application/json")
	s.n.status = status
	s.w.WriteHeader(status)
	s.write(body)
	s.n.whole = true
}

func (s *speaker) write(text string) {
	s.n.said = append(s.n.said, text...)
	_, _ = io.WriteString(s.w, text) // who does not get it says so
}

// stream sends events, one at a time.
func (s *speaker) stream(pieces []string, pause time.Duration) {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.n.status = http.StatusOK
	for _, piece := range pieces {
		s.write(piece)
		_ = http.NewResponseController(s.w).Flush()
		time.Sleep(pause)
	}
}

// broken ends the connection within the answer.
func (s *speaker) broken(pieces []string) {
	if s.a.stream {
		s.stream(pieces[:len(pieces)/2], 0)
		panic(http.ErrAbortHandler)
	}
	s.w.Header().Set("Content-Type", "application/json")
	s.w.Header().Set("Content-Length", fmt.Sprint(len(pieces[0])))
	s.n.status = http.StatusOK
	s.write(pieces[0][:len(pieces[0])/2])
	_ = http.NewResponseController(s.w).Flush()
	panic(http.ErrAbortHandler)
}

// awaitGone waits until the client has left.
func (s *speaker) awaitGone(notes *record) {
	select {
	case <-s.r.Context().Done():
	case <-time.After(hangs):
		notes.breaks(fmt.Sprintf("attempt %s: the client has left, and its call goes on (promise 9)", s.a.id))
	}
	panic(http.ErrAbortHandler)
}

// answerOwn answers a request that epitome makes by itself, for a summary. Its credential says whose conversation it
// holds.
func (p *provider) answerOwn(w http.ResponseWriter, r *http.Request, body []byte) {
	p.notes.count("requests for summaries")
	whose, holder := ownerOf(r.Header)
	what := "a request for a summary of conversation " + whose
	p.notes.breaks(append(strangers(what, whose, body), crossed(what, holder, body)...)...)
	dialect := chat
	for _, d := range []string{messages, responses} {
		if strings.HasSuffix(r.URL.Path, pathIn(d)) {
			dialect = d
		}
	}
	var text strings.Builder
	for _, t := range stringsOf(body) {
		for line := range strings.SplitSeq(t, "\n") {
			if strings.HasPrefix(line, "## ") { // which the summary is to have
				text.WriteString(line + "\n- The sacks were weighed, and some were kept for seed; " + keptBy(holder) + "\n")
			}
		}
	}
	stream := gjson.GetBytes(body, "stream").Bool()
	if w.Header().Set("Content-Type", "application/json"); stream {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for _, piece := range answerOf(dialect, text.String(), stream) {
		_, _ = io.WriteString(w, piece)
	}
}
