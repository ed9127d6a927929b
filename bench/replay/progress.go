package replay

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progress tells how far a run is: in a hundred lines at most, or at a terminal in one line that it draws again.
type progress struct {
	mu    sync.Mutex // guards all below
	to    io.Writer
	live  bool
	now   func() time.Time
	began time.Time
	of    int // conversations
	done  int
}

// The line at a terminal, in columns: few enough for every terminal, as one that wraps cannot be drawn again.
const (
	liveColumns = 72
	barColumns  = 24
)

// mostTold bounds the lines that tell how far a run is.
const mostTold = 100

func newProgress(opts Options, of int, now func() time.Time) *progress {
	p := &progress{to: opts.Progress, live: opts.Live, now: now, began: now(), of: of}
	if p.live && of > 0 {
		p.draw()
	}
	return p
}

// did counts one more conversation.
func (p *progress) did(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.live {
		p.draw()
		return
	}
	if p.done*mostTold/p.of > (p.done-1)*mostTold/p.of {
		fmt.Fprintf(p.to, "bench: %d of %d, %s\n", p.done, p.of, name)
	}
}

// end takes the line at a terminal away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live && p.of > 0 {
		fmt.Fprint(p.to, "\r"+strings.Repeat(" ", liveColumns)+"\r")
	}
}

func (p *progress) draw() {
	full := barColumns * p.done / p.of
	line := fmt.Sprintf("bench: [%s%s] %d of %d conversations%s", strings.Repeat("#", full),
		strings.Repeat(".", barColumns-full),
		p.done, p.of, p.timeLeft())
	fmt.Fprintf(p.to, "\r%-*s", liveColumns, line[:min(len(line), liveColumns)])
}

// timeLeft returns how long the rest may take, if it is like what was done.
func (p *progress) timeLeft() string {
	if p.done == 0 || p.done >= p.of {
		return ""
	}
	rest := p.now().Sub(p.began) / time.Duration(p.done) * time.Duration(p.of-p.done)
	return ", " + rest.Round(time.Second).String() + " left"
}
