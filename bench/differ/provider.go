package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"
)

// Headers by which the upstream knows what a request belongs to. epitome passes the first one on with the client's
// request, and the credential with a request of its own too. The third one stays with epitome: it keeps plays apart.
const (
	turnHeader  = "X-Differ-Turn"
	credential  = "Bearer play-"
	scopeHeader = "x-epitome-play"
)

// Headers of epitome's answers that are compared.
const (
	actionHeader = "x-epitome-action"
	tokensHeader = "x-epitome-tokens"
)

// provider is the upstream: it answers every request in the same way, tells no usage, and notes what it got.
type provider struct {
	server *http.Server
	url    string
	notes  atomic.Pointer[journal] // of the run that is under way
	narrow map[string]int          // bytes of body above which a model's requests are refused; none: never
}

// startProvider listens on a free port of loopback until close.
func startProvider() (*provider, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot start the upstream: %w", err)
	}
	p := &provider{url: "http://" + ln.Addr().String(), narrow: map[string]int{}}
	p.notes.Store(newJournal(0))
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(ln) }()
	return p, nil
}

func (p *provider) close() { _ = p.server.Close() }

// ServeHTTP notes the request and answers it.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // epitome has left; what is missing in the journal shows it
	}
	kind, text := p.note(r, body), "Noted."
	w.Header().Set("Content-Type", "application/json")
	if most := p.narrow[gjson.GetBytes(body, "model").Str]; most > 0 && len(body) > most {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, refusal, most/bytesPerToken, len(body)/bytesPerToken)
		return
	}
	if kind == asked {
		text = prose(body)
	}
	quoted, _ := json.Marshal(text) // a string always can be
	fmt.Fprintf(w, completion, quoted)
}

const (
	completion = `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]}`

	refusal = `{"error":{"message":"This model's maximum context length is %d tokens. However, your messages ` +
		`resulted in %d tokens. Please reduce the length of the messages.","type":"invalid_request_error",` +
		`"param":"messages","code":"context_length_exceeded"}}`

	bytesPerToken = 4 // roughly; for refusals
)

// note puts the request where it belongs.
func (p *provider) note(r *http.Request, body []byte) (kind string) {
	j := p.notes.Load()
	n := note{kind: sent, head: headOf(r)}
	place, turn, found := strings.Cut(r.Header.Get(turnHeader), "/")
	if !found {
		n.kind, place = asked, strings.TrimPrefix(r.Header.Get("Authorization"), credential)
	}
	k, err := strconv.Atoi(place)
	if n.turn, _ = strconv.Atoi(turn); err != nil || k < 0 || k >= len(j.tracks)-1 {
		n.kind, k = stray, len(j.tracks)-1
	}
	t := &j.tracks[k]
	if n.kind == asked {
		n.turn = t.turnAtHand()
	}
	t.add(n, body)
	return n.kind
}

// turnAtHand returns the number of the request that the client waits for.
func (t *track) turnAtHand() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range slices.Backward(t.notes) {
		if n.kind == answered {
			return n.turn + 1
		}
	}
	return 0
}

// headOf returns a request's first line and headers, the headers in the order of their names.
func headOf(r *http.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.RequestURI)
	_ = r.Header.Write(&b) // a Builder takes everything
	return b.String()
}

var (
	wantedTokens  = regexp.MustCompile(`about ([0-9]+) tokens`)
	wantedHeading = regexp.MustCompile(`(?m)^## .+$`)
)

// prose returns an answer to a request for a summary: the headings that it wants, and something under each.
func prose(body []byte) string {
	messages := gjson.GetBytes(body, "messages").Array()
	if len(messages) == 0 {
		return "There is nothing to say."
	}
	form := messages[len(messages)-1].Get("content").String()
	if at := strings.LastIndex(form, "\nWrite plain text "); at >= 0 {
		form = form[at:]
	}
	headings, lines := wantedHeading.FindAllString(form, -1), 10
	if m := wantedTokens.FindStringSubmatch(form); m != nil {
		tokens, _ := strconv.Atoi(m[1])
		lines = max(1, tokens/20/max(1, len(headings)))
	}
	var b strings.Builder
	for i, h := range headings {
		b.WriteString(h + "\n")
		for k := range lines {
			fmt.Fprintf(&b, "- point %d of part %d.\n", k+1, i+1)
		}
	}
	return b.String()
}

// caller sends the requests of plays to epitome.
type caller struct {
	client *http.Client
	url    string
	notes  *journal
}

// callLimit bounds one request from its first byte to the last one of its answer.
const callLimit = 2 * time.Minute

func newCaller(url string, notes *journal) *caller {
	client := &http.Client{Timeout: callLimit, Transport: &http.Transport{DisableCompression: true}}
	return &caller{client: client, url: url, notes: notes}
}

// send sends the request at turn of play number k, and notes the answer.
func (c *caller) send(ctx context.Context, q request, k, turn int) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+q.path, strings.NewReader(string(q.body())))
	if err != nil {
		return err
	}
	r.Header = q.header.Clone()
	r.Header.Set("Authorization", credential+strconv.Itoa(k))
	r.Header.Set(turnHeader, fmt.Sprintf("%d/%d", k, turn))
	r.Header.Set(scopeHeader, strconv.Itoa(k))
	response, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	head := response.Status
	for _, name := range []string{actionHeader, tokensHeader} {
		head += fmt.Sprintf("\n%s: %s", name, response.Header.Get(name))
	}
	c.notes.tracks[k].add(note{kind: answered, turn: turn, head: head}, body)
	return nil
}
