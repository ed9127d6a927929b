package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"epitome/cli/daemon"
	"epitome/console/figure"
	"epitome/console/story"
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
	case errors.Is(err, daemon.ErrNotFound):
		return errors.New("cannot show a conversation: there is none yet; requests through epitome make one")
	case err != nil:
		return err
	case asJSON:
		_, err = os.Stdout.Write(answer)
		return err
	}
	_, err = os.Stdout.WriteString(statusText(s))
	return err
}

// statusLine is one line about the conversation used last in a session, or in all of them if session is empty.
func (a *app) statusLine(session string) string {
	s, _, err := a.askStatus(session)
	switch {
	case errors.Is(err, daemon.ErrNotFound):
		return "epitome: no conversation yet"
	case err != nil:
		return "epitome: not running"
	}
	return statusAsLine(s)
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

// statusAsLine returns a conversation in one line.
func statusAsLine(s story.Status) string {
	parts := []string{windowFilled(s)}
	if s.Cached >= 0 {
		parts = append(parts, "cache "+figure.Percent(s.Cached))
	}
	if s.Saved != nil {
		parts = append(parts, savedWords(*s.Saved))
	}
	if s.Last != "" {
		parts = append(parts, plain(s.Last))
	}
	return "epitome " + strings.Join(parts, " · ")
}

// statusText returns the same with a name before each figure.
func statusText(s story.Status) string {
	cached, saved := "–", "unknown: no price is known"
	if s.Cached >= 0 {
		cached = figure.Percent(s.Cached)
	}
	if s.Saved != nil {
		saved = savedWords(*s.Saved)
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "conversation\t%s\nmodel\t%s\nwindow\t%s\ncache\t%s\nmoney\t%s\nlast decision\t%s\nas of\t%s\n",
		plain(s.ID), plain(s.Model), windowFilled(s), cached, saved, cmp.Or(plain(s.Last), "none yet"),
		s.AsOf.Local().Format("Jan 2 15:04:05"))
	_ = t.Flush() // a builder takes everything
	return b.String()
}

// windowFilled returns how much of its window a conversation fills.
func windowFilled(s story.Status) string {
	if s.Window == 0 {
		return figure.Tokens(int64(s.Tokens)) + " tokens"
	}
	return fmt.Sprintf("%s/%s %s", figure.Tokens(int64(s.Tokens)), figure.Tokens(int64(s.Window)), figure.Percent(s.Share))
}

// savedWords returns the amount that was saved; a loss is called an extra cost.
func savedWords(dollars float64) string {
	if nano := int64(math.Round(dollars * 1e9)); nano >= 0 {
		return "saved " + figure.Dollars(nano)
	}
	return "extra cost " + figure.Dollars(int64(math.Round(-dollars*1e9)))
}
