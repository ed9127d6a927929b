package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"epitome/console/story"
	"epitome/console/terminal"
	"epitome/instance"
)

func (a *app) statusCommand() *cobra.Command {
	var line, asJSON bool
	c := &cobra.Command{Use: "status", Short: "Show how full the window of the newest conversation is",
		Long: "Show how full the window of the newest conversation is.\n\n" +
			"With --line, an agent that writes JSON with its session_id to standard input gets the conversation of its session.",
		RunE: func(*cobra.Command, []string) error {
			if !line {
				return a.status(asJSON)
			}
			fmt.Println(a.statusLine(sessionIn(os.Stdin, 300*time.Millisecond)))
			return nil
		}}
	c.Flags().BoolVar(&line, "line", false, "print one line for the status line of an agent; the exit status is always 0")
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of the API as it is")
	return c
}

// status prints how the conversation used last stands.
func (a *app) status(asJSON bool) error {
	s, answer, err := a.askStatus("")
	switch {
	case errors.Is(err, instance.ErrNotFound):
		return errors.New("cannot show a conversation: there is none yet; requests through epitome make one")
	case err != nil:
		return err
	case asJSON:
		_, err = os.Stdout.Write(answer)
		return err
	}
	_, err = os.Stdout.WriteString(terminal.Status(s))
	return err
}

// statusLine is one line about the conversation used last in a session, or in all of them if session is empty.
func (a *app) statusLine(session string) string {
	s, _, err := a.askStatus(session)
	switch {
	case errors.Is(err, instance.ErrNotFound):
		return "epitome: no conversation yet"
	case err != nil:
		return "epitome: not running"
	}
	return terminal.Line(s)
}

// askStatus asks the running epitome. answer is its JSON.
func (a *app) askStatus(session string) (s story.Status, answer []byte, err error) {
	card, err := a.running("show a conversation")
	if err != nil {
		return s, nil, err
	}
	query := url.Values{}
	if session != "" {
		query.Set("session", session)
	}
	if answer, err = card.Get("/-/status", query); err == nil {
		err = json.Unmarshal(answer, &s)
	}
	return s, answer, err
}

// sessionIn returns the session_id in the JSON that an agent writes to in, all at once; it is empty if none comes
// within wait.
func sessionIn(in *os.File, wait time.Duration) string {
	if isTerminal(in) { // or the null device
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
