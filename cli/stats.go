package cli

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"epitome/console"
	"epitome/daemon"
	"epitome/event/journal"
)

func (a *app) statsCommand() *cobra.Command {
	var since, by, token string
	var asJSON bool
	var urls []string
	c := &cobra.Command{Use: "stats", Short: "Show what epitome has done",
		RunE: func(*cobra.Command, []string) error { return a.stats(since, by, asJSON, urls, token) }}
	c.Flags().StringVar(&since, "since", "", "start `time`, for example 24h, 7d or 2026-11-20 (default: all)")
	c.Flags().StringVar(&by, "by", "day", "one line for each `day|model|agent|upstream|client`")
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of the API as it is")
	c.Flags().StringArrayVar(&urls, "url", nil, "ask the epitome at that `URL`")
	c.Flags().StringVar(&token, "token", "", "its console.token, as `TEXT`; $EPITOME_TOKEN has it, too")
	return c
}

// stats prints sums over the exchanges of the epitome at a URL, or without one of that which runs with the data folder.
func (a *app) stats(since, by string, asJSON bool, urls []string, token string) error {
	if len(urls) > 1 {
		return errors.New("stats asks one epitome: give one --url; Prometheus sums up several, as docs/configuration.md " +
			"says under Several replicas")
	}
	query := url.Values{"by": {by}}
	if since != "" {
		query.Set("from", since)
	}
	target := "/-/api/summary?" + query.Encode()
	var answer json.RawMessage
	var err error
	if len(urls) == 0 {
		_, err = a.get(target, &answer)
	} else {
		err = daemon.GetAt(urls[0], cmp.Or(token, os.Getenv("EPITOME_TOKEN")), target, &answer)
	}
	if err != nil {
		return err
	}
	if asJSON {
		_, err := fmt.Fprintln(stdout, string(answer))
		return err
	}
	var sums journal.Report
	if err := json.Unmarshal(answer, &sums); err != nil {
		return err
	}
	sums.Rows = append(sums.Rows, journal.Row{Key: "all", Sums: sums.Total})
	return show(stdout, "stats", tabwriter.AlignRight, sums)
}

//go:embed texts.tmpl
var textFile string

// texts are those in texts.tmpl.
var texts = sync.OnceValue(func() *template.Template {
	t := template.New("").Option("missingkey=zero").Funcs(console.Functions)
	return template.Must(t.Funcs(template.FuncMap{
		"plain": plain, "whole": console.Plain, "upper": strings.ToUpper,
		"coloured": coloured, "percent": console.Percent, "next": func(n int) int { return n + 1 },
		"sum": func(n, m int64) int64 { return n + m }, "less": func(n, m int64) int64 { return n - m },
		"words": func(text string) string { return strings.Join(strings.Fields(text), " ") },
		"number": func(digits string) int {
			n, _ := strconv.Atoi(digits) // of the log; 0 for none
			return n
		},
	}).Parse(textFile))
})

// show writes one of the texts, with columns of these flags of package tabwriter.
func show(to io.Writer, name string, flags uint, data any) error {
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', flags)
	return errors.Join(texts().ExecuteTemplate(t, name, data), t.Flush())
}

func (a *app) statusCommand() *cobra.Command {
	var line bool
	c := &cobra.Command{Use: "status", Short: "Show how full the window of the newest conversation is, and of what",
		RunE: func(*cobra.Command, []string) error {
			session := ""
			if line {
				session = sessionIn(os.Stdin, 300*time.Millisecond)
			}
			err := a.status("session="+url.QueryEscape(session), line)
			switch { // an agent shows what is printed, whatever the exit status
			case line && errors.Is(err, errNoConversation):
				fmt.Println("epitome: no conversation yet")
			case line && err != nil:
				fmt.Println("epitome: not running")
			default:
				return err
			}
			return nil
		}}
	c.Flags().BoolVar(&line, "line", false, "for the status line of an agent: the exit status is always 0")
	return c
}

var errNoConversation = errors.New("there is no such conversation; one begins with an agent's first request")

// status prints a line about the conversation that a query names, as /-/status takes it, and unless that is to be all
// its tokens by category.
func (a *app) status(query string, lineOnly bool) error {
	var s journal.Status
	find := a.reach
	if lineOnly { // an agent asks for it time and again
		find = a.running
	}
	card, err := find()
	if err == nil {
		err = card.Get("/-/status?"+query, &s)
	}
	if errors.Is(err, daemon.ErrNotFound) {
		return errNoConversation
	}
	if err != nil {
		return err
	}
	if lineOnly {
		return show(os.Stdout, "line", 0, s)
	}
	return show(os.Stdout, "status", tabwriter.AlignRight, s)
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

// coloured writes a share of the window, on a terminal yellow from 70 percent on and red from 90, unless its user has
// turned colours off.
func coloured(share float64) string {
	text := console.Percent(share)
	percent := math.Round(100 * share)
	if percent < 70 || !isTerminal(os.Stdout) || os.Getenv("NO_COLOR") != "" {
		return text
	}
	colour := 33
	if percent >= 90 {
		colour = 31
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, text)
}
