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
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"epitome/console"
	"epitome/daemon"
	"epitome/event/journal"
)

func (a *app) statsCommand() *cobra.Command {
	var since, by string
	var asJSON bool
	c := &cobra.Command{Use: "stats", Short: "Show what a running epitome has done",
		Long: "Show totals of what a running epitome has done. 'epitome status' shows one conversation.",
		RunE: func(*cobra.Command, []string) error { return a.stats(since, by, asJSON) }}
	c.Flags().StringVar(&since, "since", "", "start `time`, for example 24h, 7d or 2026-11-20 (default: all)")
	c.Flags().StringVar(&by, "by", "day", "one line for each `day|model|agent|upstream|client`")
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of the API as it is")
	return c
}

// stats prints sums over the exchanges of the epitome that runs with the data folder.
func (a *app) stats(since, by string, asJSON bool) error {
	query := url.Values{"by": {by}}
	if since != "" {
		query.Set("from", since)
	}
	var answer json.RawMessage
	if _, err := a.get("/-/api/summary?"+query.Encode(), &answer); err != nil {
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
	return writeStats(stdout, sums)
}

// writeStats writes sums as a table that ends with a line for all of them, with notes below.
func writeStats(w io.Writer, s journal.Report) error {
	const minute = "Jan 2 15:04"
	fmt.Fprintf(w, "epitome %s, mode %s, %s to %s\n\n", plain(s.Version), plain(s.Mode), s.From.Format(minute),
		s.To.Format(minute))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	columns := slices.DeleteFunc(slices.Clone(journal.Figures), func(f journal.Figure) bool { return f.Column == "" })
	fmt.Fprint(t, strings.ToUpper(s.By)+"\t")
	for _, f := range columns {
		fmt.Fprint(t, f.Column+"\t")
	}
	for _, r := range append(s.Rows, journal.Row{Key: "all", Sums: s.Total}) {
		fmt.Fprint(t, "\n", cmp.Or(console.Plain(console.Shorten(r.Key, 32)), "(none)"), "\t")
		for _, f := range columns {
			fmt.Fprint(t, console.FigureText(f, r.Sums)+"\t")
		}
	}
	fmt.Fprintln(t)
	_ = t.Flush() // an error comes again below
	_, err := fmt.Fprintln(w, strings.Join(append([]string{""}, statsNotes(s)...), "\n"))
	return err
}

// statsNotes returns sentences that say what the table leaves out.
func statsNotes(s journal.Report) (notes []string) {
	note := func(is bool, format string, args ...any) {
		if is {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	m, o, u := s.Total.Money, s.Total.Observed, s.Total.Usage
	note(u.Input > u.CacheInput || u.Cut > 0, "Some answers report no cached or output tokens: CACHED leaves them out, "+
		"OUTPUT may be too low, and ≥ marks an amount that may be.")
	again := console.ReadAgain(s.Total, "agents")
	note(again != "", "%s", again)
	note(u.Reasoning > 0, "OUTPUT includes %s tokens of reasoning.", console.Tokens(u.Reasoning))
	share, isKnown := s.Total.BilledAgain()
	note(isKnown, "%s of BILLED is for tokens that the provider's cache had lost.", console.Percent(share))
	note(m.Saved != 0 || m.Oversized > 0, "%s", console.MoneyText(m))
	note(m.Own > m.Distills, "BILLED leaves out the %s that summaries cost.", console.Dollars(m.Own-m.Distills))
	note(m.Distills > 0, "BILLED leaves out the %s that distillates of results cost.", console.Dollars(m.Distills))
	note(m.Unpriced > 0, "BILLED and SAVED leave out requests whose model has no price (set it under [prices] in "+
		"config.toml), or whose answer reports no tokens: %d.", m.Unpriced)
	note(o.Exchanges > 0, "Requests in mode observe: %d. They had %s tokens and would have had %s. BEFORE, "+
		"AFTER, LESS and SAVED leave them out.", o.Exchanges, console.Tokens(o.TokensBefore),
		console.Tokens(o.TokensAfter))
	note(s.Prices.Old, "The prices are of %s: a newer epitome has newer ones.", s.Prices.Date.Format(time.DateOnly))
	for _, n := range s.Notes {
		notes = append(notes, plain(n))
	}
	return notes
}

func (a *app) statusCommand() *cobra.Command {
	var line bool
	c := &cobra.Command{Use: "status", Short: "Show how full the window of the newest conversation is, and of what",
		Long: "Show how full the window of the newest conversation is, and its newest request by category.\n" +
			"'epitome stats' shows totals.\n\n" +
			"With --line, it reads the JSON that Claude Code pipes to the command of its status line, and shows the\n" +
			"conversation of that session.",
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

var errNoConversation = errors.New("there is no conversation yet; it begins with an agent's first request")

// status prints a line about the conversation that a query names, as /-/status takes it, and unless that is to be all
// its tokens by category.
func (a *app) status(query string, lineOnly bool) error {
	var s journal.Status
	_, err := a.get("/-/status?"+query, &s)
	if errors.Is(err, daemon.ErrNotFound) {
		return errNoConversation
	}
	if err != nil {
		return err
	}
	fmt.Println(statusText(s))
	if lineOnly {
		return nil
	}
	fmt.Printf("conversation %s with %s\n", s.ID, plain(s.Model))
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nTOKENS FOR\tBEFORE\tAFTER\t")
	for _, p := range console.Parts(s.TokensBefore, s.TokensAfter) {
		fmt.Fprintf(t, "%s\t%s\t%s\t\n", p.Name, console.Tokens(int64(p.Before)), console.Tokens(int64(p.After)))
	}
	err = t.Flush()
	if s.CompactLine > 0 {
		fmt.Printf("\nOld results are cleared at %s tokens, and old turns become a summary at %s.\n"+
			"Where it saves more than it costs, old results are cleared earlier.\n",
			console.Tokens(int64(s.ClearLine)), console.Tokens(int64(s.CompactLine)))
	}
	return err
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

// colourOf returns the colour of a share of the window, as Percent rounds it: yellow from 70 percent on, and red from
// 90.
func colourOf(share float64) string {
	percent := math.Round(100 * share)
	switch {
	case percent < 70:
		return ""
	case percent < 90:
		return "\x1b[33m"
	}
	return "\x1b[31m"
}

// statusText returns a conversation in one line: how much of its window it fills, the share of cached tokens, the money
// saved, the requests that would have failed and the last decision. Unknown parts are left out.
func statusText(s journal.Status) string {
	text := "epitome " + console.Tokens(int64(s.Tokens))
	if s.Window > 0 {
		share := console.Percent(s.Share)
		colour := colourOf(s.Share)
		if colour != "" && hasColours(os.Stdout) {
			share = colour + share + "\x1b[0m"
		}
		text += fmt.Sprintf("/%s %s", console.Tokens(int64(s.Window)), share)
		if s.Near {
			text += ", soon to be shortened"
		}
	} else {
		text += " tokens"
	}
	if s.Cached >= 0 {
		text += " · cached " + console.Percent(s.Cached)
	}
	if s.Clock != nil {
		text += " · " + console.ClockText(s.Clock)
	}
	if gain := console.Gain(s.Money); gain != "" {
		text += " · " + gain
	}
	if s.Oversized > 0 {
		text += fmt.Sprintf(" · %s would have failed", english.Plural(int(s.Oversized), "request", ""))
	}
	if s.EndsAt > 0 {
		text += fmt.Sprintf(" from turn %d on", s.EndsAt)
	}
	if s.Last != "" {
		text += " · " + plain(s.Last)
	}
	if lost := console.CacheLost(s.Miss, s.Rebilled); lost != "" {
		text += " · " + lost
	}
	if s.Notice != "" {
		text += " · " + plain(s.Notice)
	}
	return text
}
