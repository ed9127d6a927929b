package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"epitome/cli/daemon"
	"epitome/console"
	"epitome/event"
)

func (a *app) statusCommand() *cobra.Command {
	var line bool
	c := &cobra.Command{Use: "status", Short: "Show how full the window of the newest conversation is",
		Long: "Show how full the window of the newest conversation is.\n\n" +
			"With --line, an agent that writes JSON with its session_id to standard input gets the conversation of its session.",
		RunE: func(*cobra.Command, []string) error { return a.status(line) }}
	c.Flags().BoolVar(&line, "line", false, "for the status line of an agent: the exit status is always 0")
	return c
}

// status prints one line about the conversation used last. For the status line of an agent, it is the conversation of
// the session that the agent names, and an error is printed as a line too.
func (a *app) status(line bool) error {
	path := "/-/status"
	if line {
		path += "?session=" + url.QueryEscape(sessionIn(os.Stdin, 300*time.Millisecond))
	}
	var s event.Status
	card, err := a.running("show a conversation")
	if err == nil {
		err = card.Get(path, &s)
	}
	isNone := errors.Is(err, daemon.ErrNotFound)
	switch {
	case err == nil:
		fmt.Println(statusText(s))
	case line && isNone:
		fmt.Println("epitome: no conversation yet")
	case line:
		fmt.Println("epitome: not running")
	case isNone:
		return errors.New("cannot show a conversation: there is none yet; requests through epitome make one")
	default:
		return err
	}
	return nil
}

// sessionIn returns the session_id in the JSON that an agent writes to in, all at once; it is empty if none comes
// within wait.
func sessionIn(in *os.File, wait time.Duration) string {
	if isTerminal(in) {
		return ""
	}
	read := make(chan string, 1)
	go func() {
		var said struct {
			Session string `json:"session_id"`
		}
		_ = json.NewDecoder(io.LimitReader(in, 1<<20)).Decode(&said)
		read <- said.Session
	}()
	select {
	case session := <-read:
		return session
	case <-time.After(wait):
		return ""
	}
}

// statusText returns a conversation in one line: how much of its window it fills, the share of cached tokens, the money
// saved and the last decision. Unknown parts are left out.
func statusText(s event.Status) string {
	filled := console.Tokens(int64(s.Tokens)) + " tokens"
	if s.Window > 0 {
		filled = fmt.Sprintf("%s/%s %s", console.Tokens(int64(s.Tokens)), console.Tokens(int64(s.Window)),
			console.Percent(s.Share))
	}
	parts := []string{filled}
	if s.Cached >= 0 {
		parts = append(parts, "cache "+console.Percent(s.Cached))
	}
	if s.Saved != nil {
		parts = append(parts, "saved "+console.Dollars(int64(*s.Saved*1e9)))
	}
	if s.Last != "" {
		parts = append(parts, plain(s.Last))
	}
	return "epitome " + strings.Join(parts, " · ")
}
