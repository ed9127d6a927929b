package soak

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// told is what epitome says of its exchanges, as it happens.
type told struct {
	mu    sync.Mutex
	again map[string]bool // by attempt: what had been sent was changed
	loose map[string]bool // attempts of which nothing could be recorded: what was new in them is decided on later
	news  chan struct{}   // closed with what comes next
}

func newTold() *told {
	return &told{again: map[string]bool{}, loose: map[string]bool{}, news: make(chan struct{})}
}

// watch hears of what happens until ctx ends, whenever there is an epitome.
func (t *told) watch(ctx context.Context, url string) {
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/-/events", nil)
		if err != nil {
			return
		}
		if answer, err := http.DefaultClient.Do(r); err == nil {
			t.read(answer)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (t *told) read(answer *http.Response) {
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			t.take(data)
		}
	}
}

// take takes one event.
func (t *told) take(event string) {
	e := gjson.Parse(event)
	id, _, _ := strings.Cut(strings.TrimPrefix(e.Get("path").Str, "/"), "/")
	if id == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.again[id] = e.Get("broke").Bool() || e.Get("rescue.tries").Int() > 0 || e.Get("action").Str == "bypass"
	if code := e.Get("code").Str; code == "failed" || code == "unrecorded" {
		t.loose[id] = true
	}
	close(t.news)
	t.news = make(chan struct{})
}

// broke tells whether epitome says that the attempt has changed what had been sent. It waits for the event.
func (t *told) broke(id string, limit time.Duration) bool {
	late := time.After(limit)
	for {
		t.mu.Lock()
		broke, known := t.again[id]
		news := t.news
		t.mu.Unlock()
		if known {
			return broke
		}
		select {
		case <-news:
		case <-late:
			return false
		}
	}
}

// isLoose tells whether epitome says of an attempt that nothing of it could be recorded.
func (t *told) isLoose(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.loose[id]
}

// knows tells whether an event of the attempt was heard of.
func (t *told) knows(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, known := t.again[id]
	return known
}

// readFiles takes what was written down of an attempt: a watcher hears nothing until it has found an epitome that was
// started anew.
func (t *told) readFiles(folder, id string) {
	files, _ := filepath.Glob(filepath.Join(folder, "*.jsonl*")) // the pattern is a good one
	for _, file := range files {
		for line := range strings.Lines(written(file)) {
			if strings.Contains(line, `"path":"/`+id+`/`) {
				t.take(gjson.Get(line, "exchange").Raw)
			}
		}
	}
}

// forget drops all that was heard: at a quiet point nobody asks for it any more.
func (t *told) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.again)
}

// written is what stands in a file of events, packed or not; as much of it as can be read.
func written(file string) string {
	f, err := os.Open(file)
	if err != nil { // gone meanwhile: it was an old one
		return ""
	}
	defer func() { _ = f.Close() }()
	var text io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if text, err = gzip.NewReader(f); err != nil {
			return ""
		}
	}
	all, _ := io.ReadAll(text)
	return string(all)
}
