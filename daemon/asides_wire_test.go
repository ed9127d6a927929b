package daemon

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/config"
	"epitome/scripted/scriptedtest"
)

// speaks is an upstream that answers each connection with these bytes, the first with the first, and closes it.
func speaks(t *testing.T, answers ...string) (url string, asked func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	heads := make(chan int, 100)
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			heads <- n
			piece := make([]byte, 64<<10)
			for length := -1; length != 0; { // the whole request comes in few pieces
				k, err := c.Read(piece)
				if err != nil {
					break
				}
				head, body, whole := strings.Cut(string(piece[:k]), "\r\n\r\n")
				if whole {
					_, _ = fmt.Sscanf(head[strings.Index(head, "Content-Length: "):], "Content-Length: %d", &length)
					k = len(body)
				}
				length -= k
			}
			_, _ = io.WriteString(c, answers[min(n, len(answers)-1)])
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String(), func() int { return len(heads) }
}

// streamOf is an answer whose end is that of its connection.
func streamOf(events ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: " +
		strings.Join(events, "\n\ndata: ") + "\n\n"
}

// TestAStreamWithoutALengthIsCompleteOnlyWithItsEnd: in whatever round it breaks off.
func TestAStreamWithoutALengthIsCompleteOnlyWithItsEnd(t *testing.T) {
	t.Parallel()
	says := func(delta, why string) string {
		return `{"id":"a","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + why + `}]}`
	}
	text, end := says(`{"role":"assistant","content":"Hi"}`, "null"), says("{}", `"stop"`)
	call := says(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"epitome_recall","arguments":"{}"}}]}`, "null")
	asks := []string{text, call, says("{}", `"tool_calls"`), "[DONE]"}
	f := func(whole bool, rounds int, answers ...string) {
		t.Helper()
		url, asked := speaks(t, answers...)
		k := besides(t, t.TempDir(), url, nil)
		defer k.end(t)
		resp, err := http.Post(k.url()+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"Which?"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		got, err := io.ReadAll(resp.Body)
		if (err == nil) != whole || strings.Contains(string(got), "[DONE]") != whole || asked() != rounds {
			t.Errorf("%d requests, %v: %s", asked(), err, got)
		}
	}
	f(true, 1, streamOf(text, end, "[DONE]"))
	f(false, 1, streamOf(text))
	f(false, 1, streamOf(text, call))
	f(false, 2, streamOf(asks...), streamOf(text))
	f(false, 2, streamOf(asks...), streamOf())
	f(true, 2, streamOf(asks...), streamOf(text, end, "[DONE]"))
}

// grower is an upstream whose first answer grows until it has all the room that there is, while others have begun.
type grower struct {
	begun        chan struct{} // one for each of the others
	grown, ended chan struct{} // closed when the first answer is large, and when the others have ended
}

const (
	word       = 64 << 10 // bytes
	firstWords = 100
)

func (g grower) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text := strings.Repeat("x", word)
	piece := `data: {"id":"a","choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}` + "\n\n"
	asked, _ := io.ReadAll(r.Body)
	said := string(asked)
	if !strings.Contains(said, "the first") {
		g.begun <- struct{}{}
		<-g.grown
	}
	if strings.Contains(said, "a document") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"a","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",`+
			`"content":"%s"}}]}`, strings.Repeat(text, firstWords))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	words := firstWords
	if strings.Contains(said, "a word") {
		words = 1
	}
	_, _ = io.WriteString(w, strings.Repeat(piece, words))
	if strings.Contains(said, "the first") {
		_ = http.NewResponseController(w).Flush()
		<-g.ended
	}
	_, _ = io.WriteString(w, `data: {"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+
		"\n\ndata: [DONE]\n\n")
}

// TestWhatIsHeldOfAnswersHasRoom: what is held of an answer counts as what requests hold. Where another one has all the
// room, a stream is cut, a document passes as it is, and a short answer needs none.
func TestWhatIsHeldOfAnswersHasRoom(t *testing.T) {
	g := grower{make(chan struct{}, 3), make(chan struct{}), make(chan struct{})}
	up := httptest.NewServer(g)
	defer up.Close()
	k := besides(t, t.TempDir(), up.URL, func(c *config.Config) {
		c.Proxy.MaxInFlight, c.Proxy.MaxBody = 16<<20, 1<<20
	})
	defer k.end(t)
	ask := func(what string) (answer io.ReadCloser, err error) {
		resp, err := http.Post(k.url()+"/v1/chat/completions", "application/json", strings.NewReader(
			`{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"Give me `+what+`"}]}`))
		if err != nil {
			return nil, err
		}
		return resp.Body, nil
	}
	whole := map[string]bool{"another": false, "a document": true, "a word": true}
	var all sync.WaitGroup
	for what, want := range whole {
		all.Go(func() {
			answer, err := ask(what)
			if err != nil {
				t.Error(err)
				return
			}
			got, err := io.ReadAll(answer)
			if _ = answer.Close(); (err == nil) != want || len(got) < word {
				t.Errorf("%s: %d bytes, %v", what, len(got), err)
			}
		})
	}
	for range whole {
		<-g.begun
	}
	first, err := ask("the first")
	if err == nil {
		_, err = io.CopyN(io.Discard, first, firstWords*word)
	}
	close(g.grown)
	all.Wait()
	close(g.ended)
	if err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(first); err != nil || !strings.HasSuffix(string(rest), "[DONE]\n\n") {
		t.Errorf("the first: %d bytes more, %v", len(rest), err)
	}
	_ = first.Close()
}

// TestWhatIsHeldOfEarlierRoundsHasRoom: in the next round it counts on, beside the request that repeats it. Where
// another request has the room for both, a stream is cut, and a document passes as it is.
func TestWhatIsHeldOfEarlierRoundsHasRoom(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(strings.Repeat("x", word-1)+" ", 48)
	f := func(alone, streamed bool) {
		t.Helper()
		o := &oracle{t: t, answer: func(messages []gjson.Result) utterance {
			if len(messages) == 1 {
				return utterance{text: long, recall: []string{"{}"}}
			}
			return utterance{text: "It is 7."}
		}}
		begun, ended := make(chan struct{}), make(chan struct{})
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/chat/completions") {
				o.ServeHTTP(w, r)
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			close(begun)
			<-ended
		}))
		defer up.Close()
		k := besides(t, t.TempDir(), up.URL, func(c *config.Config) {
			c.Proxy.MaxInFlight, c.Proxy.MaxBody = 16<<20, 8<<20
		})
		defer k.end(t)
		var other sync.WaitGroup
		if !alone {
			other.Go(func() {
				resp, err := http.Post(k.url()+"/v1/files", "text/plain", strings.NewReader(strings.Repeat("x", 7<<20)))
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
			})
			<-begun
		}
		l := &loop{t: t, stream: streamed, said: []string{`{"role":"user","content":"Which?"}`}}
		a, err := l.asks(k.url())
		close(ended)
		other.Wait()
		whole := err == nil && a.Get("choices.0.message.content").Str == long+"\n\nIt is 7."
		if whole != alone || len(o.bodies) != 2 {
			t.Errorf("streamed %v, alone %v: %d requests, %d bytes came, %v", streamed, alone, len(o.bodies), len(l.raw), err)
		}
		used := int64(0)
		if isTold := func() bool { // whatever passes, its tokens count
			for n := range uint64(8) { // some numbers may be left out
				if e, err := k.book.Exchange(n + 1); err == nil {
					used = max(used, int64(e.Usage.Input))
				}
			}
			return used == 200
		}; !streamed && !scriptedtest.Eventually(isTold) {
			t.Errorf("alone %v: the answer is told with %d tokens", alone, used)
		}
	}
	for _, streamed := range []bool{true, false} {
		f(true, streamed)
		f(false, streamed)
	}
}
