package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/console/story"
	"epitome/event"
)

// billing answers as a provider that tells what it counted, or fails, by the model that is asked.
func billing(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct{ Model string }
	_ = json.Unmarshal(body, &asked)
	if asked.Model == "mine-busy" {
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	usage := fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":7,"total_tokens":%d,`+
		`"prompt_tokens_details":{"cached_tokens":%d}}`, len(body)/4, len(body)/4+7, len(body)/8)
	if asked.Model == "mine-silent" {
		usage = ""
	}
	if asked.Model == "charged-by-who-sells-it" {
		usage = `,"usage":{"prompt_tokens":100,"completion_tokens":7,"cost":0.0123}`
	}
	w.Header().Set("Content-Type", "application/json")
	if asked.Model == "mine-cut" {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Length", "100000")
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"do\"}}]%s}\n\n", usage)
		return
	}
	_, _ = fmt.Fprintf(w, `{"id":"x","object":"chat.completion","model":%q,"choices":[{"index":0,"message":`+
		`{"role":"assistant","content":"done"},"finish_reason":"stop"}]%s}`, asked.Model, usage)
}

// kept is a program over a folder, with its log.
type kept struct {
	*Daemon
	signals chan os.Signal
	ended   chan error
	log     *lockedBuffer
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

// keep starts a program that asks the upstream.
func keep(t *testing.T, folder, upstream string) *kept {
	t.Helper()
	conf, err := config.Load(configtest.Text(), fileWith(t,
		"[prices.\"mine-*\"]\ninput = 3\noutput = 10\ncached = 0.3\n[window.models]\n\"mine-*\" = 40000\n"),
		config.Overrides{Listen: "127.0.0.1:0", Data: folder, Upstream: upstream})
	if err != nil {
		t.Fatal(err)
	}
	k, err := serve(conf)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// serve starts a program.
func serve(conf config.Config) (*kept, error) {
	k := &kept{signals: make(chan os.Signal, 1), ended: make(chan error, 1), log: &lockedBuffer{}}
	k.Daemon = New(slog.New(slog.NewJSONHandler(k.log, nil)), k.signals,
		func() (config.Config, error) { return conf, nil })
	if err := k.Start(); err != nil {
		return nil, err
	}
	go func() { k.ended <- k.Serve() }()
	return k, nil
}

func (k *kept) end(t *testing.T) {
	t.Helper()
	k.signals <- syscall.SIGTERM
	if err := <-k.ended; err != nil {
		t.Error(err)
	}
}

// get reads a path under /-/ as JSON into v.
func (k *kept) get(t *testing.T, path string, v any) {
	t.Helper()
	if text := k.read(t, path); json.Unmarshal([]byte(text), v) != nil {
		t.Fatalf("%s is %s", path, text)
	}
}

func (k *kept) read(t *testing.T, path string) string {
	t.Helper()
	resp, err := http.Get("http://" + k.Address() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
	}
	return string(text)
}

// ask sends turns of a conversation, each with one more large result.
func (k *kept) ask(t *testing.T, model, mode string, turns int) {
	t.Helper()
	messages := fmt.Sprintf(`{"role":"user","content":"look into %s in mode %s"}`, model, mode)
	for turn := range turns {
		result, _ := json.Marshal(strings.Repeat(fmt.Sprintf("line of result %d, with nothing new in it\n", turn), 1500))
		messages += fmt.Sprintf(`,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function",`+
			`"function":{"name":"bash","arguments":"{\"command\":\"make %d\"}"}}]},{"role":"tool","tool_call_id":"c%d","content":%s}`,
			turn, turn, turn, result)
		r, err := http.NewRequest(http.MethodPost, "http://"+k.Address()+"/v1/chat/completions",
			strings.NewReader(`{"model":"`+model+`","messages":[`+messages+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("x-epitome-mode", mode)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// figures are what must be the same wherever it is read.
type figures struct{ Exchanges, Before, After, Billed, AtLeast, Saved, Unpriced, Beyond int64 }

func figuresOf(s story.Sums) figures {
	m := s.Money
	return figures{s.Exchanges, s.TokensBefore, s.TokensAfter, m.Billed, m.AtLeast, m.Saved, m.Unpriced, m.Beyond}
}

// plus adds what an exchange tells.
func (f *figures) plus(e event.Exchange) {
	f.Exchanges++
	f.Billed += e.Bill.Billed
	if e.Bill.AtLeast {
		f.AtLeast++
	}
	if e.Bill.IsUnpriced() {
		f.Unpriced++
	}
	if e.Mode != event.ModeOn || e.ShapeTime == 0 {
		return
	}
	f.Before += int64(e.TokensBefore.Total())
	f.After += int64(e.TokensAfter.Total())
	if e.Bill.Ruled {
		f.Saved += e.Bill.Saved()
	}
	if e.Bill.Beyond {
		f.Beyond++
	}
}

// logged adds up the log's lines of exchanges.
func (k *kept) logged(t *testing.T) (f figures) {
	t.Helper()
	for line := range strings.Lines(k.log.text()) {
		var e struct {
			Msg, Mode string
			Before    int64 `json:"tokens_before"`
			After     int64 `json:"tokens_after"`
			Billed    int64 `json:"billed_nano"`
			Saved     int64 `json:"saved_nano"`
			Unpriced  string
			Beyond    bool
			Cut       bool
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Msg != "exchange" {
			continue
		}
		f.Exchanges++
		f.Billed += e.Billed
		f.Saved += e.Saved
		if e.Cut {
			f.AtLeast++
		}
		if e.Unpriced != "" {
			f.Unpriced++
		}
		if e.Mode == event.ModeOn {
			f.Before += e.Before
			f.After += e.After
			if e.Beyond {
				f.Beyond++
			}
		}
	}
	return f
}

// sumOf adds up the series of the metrics that begin so and hold all parts.
func sumOf(metrics string, parts ...string) (sum float64) {
	for line := range strings.Lines(metrics) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		fits := strings.HasPrefix(name, parts[0])
		for _, part := range parts[1:] {
			fits = fits && strings.Contains(name, part)
		}
		if number, err := strconv.ParseFloat(value, 64); fits && err == nil {
			sum += number
		}
	}
	return sum
}

func TestFiguresAreTheSameWhereverTheyAreRead(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(billing))
	defer upstream.Close()
	folder := t.TempDir()
	k := keep(t, folder, upstream.URL+"/v1")
	k.ask(t, "mine-one", "on", 6)
	k.ask(t, "mine-two", "observe", 3)
	k.ask(t, "mine-silent", "on", 2)
	k.ask(t, "mine-busy", "on", 2)
	k.ask(t, "mine-cut", "on", 2)
	k.ask(t, "a-model-of-no-price", "on", 2)
	k.ask(t, "charged-by-who-sells-it", "on", 2)
	k.ask(t, "mine-one", "off", 1)

	var all story.Summary
	k.get(t, "/-/api/summary", &all)
	want := figuresOf(all.Total)
	if want.Exchanges != 20 || want.Before <= want.After || want.Billed == 0 || want.Unpriced == 0 ||
		want.Beyond == 0 || want.AtLeast != 2 || all.Total.Observed.Exchanges != 3 || all.Total.Failed != 4 {
		t.Errorf("the session shows too little: %+v", all.Total)
	}
	var one, conversations figures
	for _, by := range []string{"day", "model", "upstream"} {
		var s story.Summary
		k.get(t, "/-/api/summary?by="+by, &s)
		rows := figures{}
		for _, row := range s.Rows {
			rows.add(figuresOf(row.Sums))
		}
		if rows != want {
			t.Errorf("rows by %s come to %+v, the summary to %+v", by, rows, want)
		}
	}
	var page story.Page[story.Conversation]
	k.get(t, "/-/api/conversations", &page)
	for _, c := range page.Items {
		conversations.add(figuresOf(c.Sums))
		var s story.Story
		k.get(t, "/-/api/conversations/"+c.ID, &s)
		for _, e := range s.Exchanges {
			one.plus(e)
		}
	}
	if one != conversations {
		t.Errorf("exchanges come to %+v, conversations to %+v", one, conversations)
	}
	if conversations.Exchanges += 1; conversations != want { // the one in mode off is of none
		t.Errorf("conversations come to %+v, the summary to %+v", conversations, want)
	}
	if got := k.logged(t); got != want {
		t.Errorf("the log comes to %+v, the summary to %+v", got, want)
	}
	metrics := k.read(t, "/-/metrics")
	nano := func(name string) int64 { return int64(math.Round(sumOf(metrics, name+"{") * 1e9)) }
	count := func(name string) int64 { return int64(sumOf(metrics, name+"{")) }
	if got := (figures{
		Exchanges: count("epitome_exchanges_total"), Before: count("epitome_received_tokens_total"),
		After: count("epitome_sent_tokens_total"), Billed: nano("epitome_billed_dollars_total"),
		Saved: nano("epitome_saved_dollars"), AtLeast: want.AtLeast, Unpriced: want.Unpriced, Beyond: want.Beyond,
	}); got != want {
		t.Errorf("the metrics come to %+v, the summary to %+v", got, want)
	}
	k.end(t)
	k = keep(t, folder, upstream.URL+"/v1")
	defer k.end(t)
	var again story.Summary
	k.get(t, "/-/api/summary", &again)
	if !reflect.DeepEqual(again.Total, all.Total) || !reflect.DeepEqual(again.Rows, all.Rows) {
		t.Errorf("after a restart there is %+v, before %+v", again.Total, all.Total)
	}
	if lines, err := filepath.Glob(filepath.Join(folder, "events", "*.jsonl")); err != nil || len(lines) == 0 {
		t.Errorf("there are no files: %v", err)
	}
}

func (f *figures) add(g figures) {
	f.Exchanges += g.Exchanges
	f.Before += g.Before
	f.After += g.After
	f.Billed += g.Billed
	f.AtLeast += g.AtLeast
	f.Saved += g.Saved
	f.Unpriced += g.Unpriced
	f.Beyond += g.Beyond
}

func TestWatchersEndWithTheProgram(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(billing))
	defer upstream.Close()
	k := keep(t, t.TempDir(), upstream.URL+"/v1")
	var streams []io.ReadCloser
	for range 8 {
		resp, err := http.Get("http://" + k.Address() + "/-/events")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		streams = append(streams, resp.Body)
	}
	k.ask(t, "mine-one", "on", 1)
	for _, s := range streams {
		text := make([]byte, 0, 4096)
		for !bytes.Contains(text, []byte("event: exchange\n")) {
			n, err := s.Read(text[len(text):cap(text)])
			if text = text[:len(text)+n]; err != nil {
				t.Fatalf("%v behind %s", err, text)
			}
		}
	}
	k.end(t) // and does not wait for shutdown_grace, which is longer than a test may take
	for _, s := range streams {
		if _, err := io.ReadAll(s); err != nil {
			t.Errorf("a stream was broken off: %v", err)
		}
	}
}
