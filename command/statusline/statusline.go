// Package statusline is what an agent says to the command that it runs for its status line.
//
// It promises to wait for nobody: what says nothing in time has said nothing.
package statusline

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"epitome/command/logging"
)

// An agent writes all that it says at once.
const (
	wait      = 300 * time.Millisecond
	mostInput = 1 << 20 // bytes
)

// Session is what an agent calls its session: session_id in the JSON that it writes to the standard input of the
// command. It is empty where nothing of the kind comes.
func Session(in *os.File) string { return within(in, wait) }

// within is Session where an agent has so long to say it.
func within(in *os.File, wait time.Duration) string {
	if logging.IsTerminal(in) { // or the null device
		return ""
	}
	read := make(chan string, 1)
	go func() {
		var said struct {
			Session string `json:"session_id"`
		}
		if json.NewDecoder(io.LimitReader(in, mostInput)).Decode(&said) != nil {
			said.Session = ""
		}
		read <- said.Session
	}()
	select {
	case session := <-read:
		return session
	case <-time.After(wait):
		return ""
	}
}
