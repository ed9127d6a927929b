package backend

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"epitome/bench/wire"
	"epitome/scripted/messages/rules"
	"epitome/tokenize"
)

func TestBodiesOfMessagesAreTakenByAStrictServer(t *testing.T) {
	for _, size := range []int{512, 700, 2 << 10, 2<<10 + 1, 100 << 10, 800 << 10} {
		body, err := Messages.Body(size)
		if err != nil || len(body) != size {
			t.Fatalf("%d bytes for %d: %v", len(body), size, err)
		}
		header := http.Header{"Anthropic-Version": {"1"}}
		if _, refused := rules.Read(header, body, false, rules.ModelOf); refused != nil {
			t.Errorf("%d bytes are refused: %v", size, refused)
		}
	}
	if _, err := Messages.Body(511); err == nil {
		t.Error("a body of 511 bytes")
	}
}

func TestDialectsAreToldByTheirPath(t *testing.T) {
	f := func(line string, want Dialect) {
		t.Helper()
		if got := dialectOf(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	f("POST /v1/messages HTTP/1.1", Messages)
	f("POST /u/x/v1/messages?bench=idle HTTP/1.1", Messages)
	f("POST /v1/responses HTTP/1.1", Responses)
	f("POST /v1/chat/completions?a=/v1/messages HTTP/1.1", Chat)
	f("", Chat)
	for name, want := range map[string]Dialect{"": Chat, "chat": Chat, "messages": Messages, "responses": Responses} {
		if d, err := Named(name); d != want || err != nil {
			t.Errorf("%q is %v (%v)", name, d, err)
		}
	}
	if _, err := Named("latin"); err == nil {
		t.Error("a dialect that nobody speaks")
	}
}

func TestAnswersInOtherDialects(t *testing.T) {
	answersIn(t, Messages, "message_start content_block_start content_block_delta content_block_stop message_delta message_stop")
	answersIn(t, Responses, "response.created response.output_item.added response.output_text.delta response.completed")
}

func answersIn(t *testing.T, d Dialect, events string) {
	t.Helper()
	const size = 100 << 10
	body, err := d.Body(size)
	if err != nil {
		t.Fatal(err)
	}
	var counters tokenize.Counters
	counter, err := counters.For(tokenize.O200k)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Usage struct {
			Input int `json:"input_tokens"`
		}
	}
	whole := d.answer(size)
	if err := json.Unmarshal(whole, &answer); err != nil || len(whole) < 900 || len(whole) > 1100 {
		t.Errorf("%v, %d bytes: %s", err, len(whole), whole)
	}
	if sent := counter.Count(body); answer.Usage.Input < sent*9/10 || answer.Usage.Input > sent*2 {
		t.Errorf("the answer counts %d tokens of %d", answer.Usage.Input, sent)
	}
	sent := time.Unix(1700000000, 123456789)
	stream := append(appendEvent(d.begin(), d, sent), d.end()...)
	text, err := io.ReadAll(wire.NewBody(bufio.NewReader(bytes.NewReader(stream)), wire.Head{Chunked: true}))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if data, ok := strings.CutPrefix(line, "data: "); ok && !json.Valid([]byte(data)) {
			t.Errorf("no JSON: %s", data)
		}
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			kinds = append(kinds, kind)
		}
		if at, ok := EventSent(line); ok && !at.Equal(sent) {
			t.Errorf("the event's time is %v", at)
		}
	}
	if got := strings.Join(kinds, " "); got != events {
		t.Errorf("events %s", got)
	}
}
