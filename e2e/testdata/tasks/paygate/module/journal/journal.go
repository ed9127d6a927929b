// Package journal keeps what became of each charge, a line each.
package journal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// States of a charge.
const (
	Booked  = "booked"
	Refused = "refused"
	Open    = "open" // the nightly run settles it
)

// Journal appends lines to a writer.
type Journal struct {
	mu sync.Mutex
	to io.Writer
}

// New returns a journal that writes to a file or the like.
func New(to io.Writer) *Journal {
	return &Journal{to: to}
}

// Add writes a line. An empty id is written as a dash.
func (j *Journal) Add(at time.Time, ref, state, id string) error {
	if id == "" {
		id = "-"
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err := fmt.Fprintf(j.to, "%s %s %s %s\n", at.UTC().Format(time.RFC3339), ref, state, id)
	return err
}

// Read returns the last state of each reference.
func Read(from io.Reader) (map[string]string, error) {
	states := map[string]string{}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 4 {
			return nil, fmt.Errorf("journal: %q is not a line of a journal", lines.Text())
		}
		states[words[1]] = words[2]
	}
	return states, lines.Err()
}
