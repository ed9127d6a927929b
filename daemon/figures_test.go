package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"epitome/config"
	"epitome/console"
	"epitome/event"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
)

// billing answers as a provider that says what it counted, or fails, by the model that is asked.
func billing(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct{ Model string }
	_ = json.Unmarshal(body, &asked)
	usage := fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":7,`+
		`"prompt_tokens_details":{"cached_tokens":%d}}`, len(body)/4, len(body)/8)
	switch asked.Model {
	case "gpt-4.1-mini":
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case "gpt-4.1":
		usage = ""
	case "charged-by-who-sells-it":
		usage = `,"usage":{"prompt_tokens":100,"completion_tokens":7,"cost":0.0123}`
	case "gpt-5-mini":
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Length", "100000")
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"do\"}}]%s}\n\n", usage)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]%s}`,
		usage)
}

// billed is an epitome in front of that provider.
func billed(t *testing.T, folder string) *program {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(billing))
	t.Cleanup(upstream.Close)
	return run(t, folder, upstream.URL+"/v1", func(c *config.Config) {
		c.Window.Models = map[string]unit.Tokens{"*": 40_000}
	})
}

// figures are what must be the same wherever it is read; money is in billionths of a dollar.
type figures struct{ Exchanges, Before, After, Billed, Saved int64 }

func (f *figures) add(g figures) {
	*f = figures{f.Exchanges + g.Exchanges, f.Before + g.Before, f.After + g.After, f.Billed + g.Billed,
		f.Saved + g.Saved}
}

func figuresOf(s event.Sums) figures {
	return figures{s.Exchanges, s.TokensBefore, s.TokensAfter, s.Money.Billed, s.Money.Saved}
}

// ofExchange are the figures of one event. Only those in mode on count as shaped.
func ofExchange(e event.Exchange) figures {
	f := figures{Exchanges: 1, Billed: e.Bill.Billed}
	if e.Mode == event.ModeOn && e.ShapeTime > 0 {
		f.Before, f.After = int64(e.TokensBefore.Total()), int64(e.TokensAfter.Total())
		if e.Bill.Ruled {
			f.Saved = e.Bill.Saved()
		}
	}
	return f
}

// logged adds up the log's lines of exchanges.
func (p *program) logged() (f figures) {
	for line := range strings.Lines(p.log.String()) {
		var e struct {
			Msg, Mode string
			Before    int64 `json:"tokens_before"`
			After     int64 `json:"tokens_after"`
			Billed    int64 `json:"billed_nano"`
			Saved     int64 `json:"saved_nano"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.t.Fatal(err)
		}
		if e.Mode != event.ModeOn {
			e.Before, e.After = 0, 0
		}
		if e.Msg == "exchange" {
			f.add(figures{1, e.Before, e.After, e.Billed, e.Saved})
		}
	}
	return f
}

// inMetrics adds up the series of the metrics.
func (p *program) inMetrics() figures {
	metrics := p.read("/-/metrics")
	sum := func(name string) (sum float64) {
		for line := range strings.Lines(metrics) {
			series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			if number, err := strconv.ParseFloat(value, 64); err == nil && strings.HasPrefix(series, name+"{") {
				sum += number
			}
		}
		return sum
	}
	return figures{int64(sum("epitome_exchanges_total")), int64(sum("epitome_received_tokens_total")),
		int64(sum("epitome_sent_tokens_total")), int64(math.Round(sum("epitome_billed_dollars_total") * 1e9)),
		int64(math.Round(sum("epitome_saved_dollars") * 1e9))}
}

// The figures are the same in the summary, by each key, in the conversations and their exchanges, in the log, in the
// metrics, and after a restart.
func TestFiguresAreTheSameWhereverTheyAreRead(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	p := billed(t, folder)
	for _, play := range []struct {
		model, mode string
		turns       int
	}{{"gpt-5", "on", 6}, {"gpt-4o", "observe", 3}, {"gpt-4.1", "on", 2}, {"gpt-4.1-mini", "on", 2},
		{"gpt-5-mini", "on", 2}, {"a-model-of-no-price", "on", 2}, {"charged-by-who-sells-it", "on", 2},
		{"gpt-5", "off", 1}} {
		for turn := range play.turns {
			body := strings.Replace(string(fakeapi.Conversation(turn+1)), `"model":"m"`, `"model":"`+play.model+`"`, 1)
			p.chat(strings.Replace(body, "Look at", play.model+" in mode "+play.mode+", look at", 1),
				"x-epitome-mode: "+play.mode)
		}
	}
	var all event.Report
	fakeapi.Eventually(func() bool { // the last exchange is recorded after its client has the answer
		all = event.Report{}
		p.get("/-/api/summary", &all)
		return all.Total.Exchanges == 20
	})
	want := figuresOf(all.Total)
	if want.Exchanges != 20 || want.Before <= want.After || want.Billed == 0 || want.Saved == 0 ||
		all.Total.Observed.Exchanges != 3 || all.Total.Failed != 4 {
		t.Errorf("the session shows too little: %+v", all.Total)
	}
	for _, by := range []string{"day", "model", "upstream"} {
		var s event.Report
		p.get("/-/api/summary?by="+by, &s)
		rows := figures{}
		for _, row := range s.Rows {
			rows.add(figuresOf(row.Sums))
		}
		if rows != want {
			t.Errorf("rows by %s come to %+v, the summary to %+v", by, rows, want)
		}
	}
	cached, known := all.Total.Usage.Cached()
	tile := regexp.MustCompile(`(?s)Cached input.{0,200}?` + regexp.QuoteMeta(console.Percent(cached)))
	if !known || all.Total.Usage.Input == all.Total.Usage.CacheInput || !tile.MatchString(p.read("/-/")) {
		t.Errorf("%+v: the page does not have the share %s of cached tokens", all.Total.Usage, console.Percent(cached))
	}
	exchanges, conversations := figures{Exchanges: 1}, figures{Exchanges: 1} // the one in mode off is of none
	var page event.Page[event.Conversation]
	p.get("/-/api/conversations", &page)
	for _, c := range page.Items {
		conversations.add(figuresOf(c.Sums))
		if cached, known := c.Sums.Usage.Cached(); known && c.Cached != cached {
			t.Errorf("conversation %s has the share %f of cached tokens, its sums %f", c.ID, c.Cached, cached)
		}
		var s event.Story
		p.get("/-/api/conversations/"+c.ID, &s)
		for _, e := range s.Exchanges {
			exchanges.add(ofExchange(e))
		}
	}
	for name, got := range map[string]figures{"exchanges": exchanges, "conversations": conversations,
		"the log":     p.logged(),
		"the metrics": p.inMetrics()} {
		if got != want {
			t.Errorf("%s come to %+v, the summary to %+v", name, got, want)
		}
	}
	p.stop()
	p = billed(t, folder)
	var again event.Report
	p.get("/-/api/summary", &again)
	if !reflect.DeepEqual(again.Total, all.Total) || !reflect.DeepEqual(again.Rows, all.Rows) {
		t.Errorf("after a restart there is %+v, before %+v", again.Total, all.Total)
	}
	if lines, err := filepath.Glob(filepath.Join(folder, "events", "*.jsonl")); err != nil || len(lines) == 0 {
		t.Errorf("there are no files: %v", err)
	}
}
