package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"epitome/console/figure"
	"epitome/console/story"
)

func (a *app) statsCommand() *cobra.Command {
	var since string
	var asJSON bool
	by := "day"
	c := &cobra.Command{Use: "stats", Short: "Show what a running epitome has done",
		RunE: func(*cobra.Command, []string) error { return a.stats(since, by, asJSON) }}
	c.Flags().StringVar(&since, "since", "", "start `time`: how long ago, as 24h or 7d, or a date, as 2026-11-20 "+
		"(default: all that is kept)")
	choiceVar(c, c.Flags(), &by, "by", "what each line is of: day, model, upstream, client or conversation",
		"day", "model", "upstream", "client", "conversation")
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of the API as it is")
	return c
}

// stats prints sums over the exchanges of the epitome that runs with the data folder.
func (a *app) stats(since, by string, asJSON bool) error {
	card, err := a.running("show what was done")
	if err != nil {
		return err
	}
	query := url.Values{"by": {by}}
	if since != "" {
		query.Set("from", since)
	}
	path, sums := "/-/api/summary?"+query.Encode(), story.Summary{}
	if asJSON {
		var answer json.RawMessage
		err := card.Get(path, &answer)
		fmt.Println(string(answer))
		return err
	}
	if err := card.Get(path, &sums); err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(statsText(sums))
	return err
}

// statsText returns sums as a table that ends with a line for all of them, with notes below.
func statsText(s story.Summary) string {
	const minute = "Jan 2 15:04"
	var b strings.Builder
	fmt.Fprintf(&b, "epitome %s, mode %s, %s to %s\n\n", plain(s.Version), plain(s.Mode), s.From.Format(minute),
		s.To.Format(minute))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")+"\t") }
	row(strings.ToUpper(s.By), "REQUESTS", "FAILED", "RESCUED", "CAME", "SENT", "LESS", "CACHED", "OUTPUT", "BILLED",
		"SAVED")
	for _, r := range s.Rows {
		row(statsRow(cmp.Or(figure.Plain(figure.Shorten(r.Key, 32)), "(none)"), r.Sums)...)
	}
	row(statsRow("all", s.Total)...)
	_ = t.Flush() // a builder takes everything
	for _, note := range statsNotes(s) {
		fmt.Fprintf(&b, "\n%s", note)
	}
	return b.String() + "\n"
}

// statsRow returns the cells of a line of the table. An unknown figure is –, and one that may be higher has ≥ before it.
func statsRow(key string, s story.Sums) []string {
	less, cached, output, billed, saved := "–", "–", "–", "–", "–"
	atLeast := func(is bool, text string) string {
		if is {
			return "≥ " + text
		}
		return text
	}
	if s.TokensBefore > 0 {
		less = figure.Percent(1 - float64(s.TokensAfter)/float64(s.TokensBefore))
	}
	u, m := s.Usage, s.Money
	if u.CacheInput > 0 {
		cached = atLeast(u.CacheUntold() > 0, figure.Percent(float64(u.Read)/float64(u.Input)))
	}
	if u.Told > 0 {
		output = atLeast(u.Counted+u.Cut > 0, figure.Tokens(u.Output))
	}
	if m.Measured > 0 {
		billed = atLeast(m.AtLeast > 0, figure.Dollars(m.Billed))
	}
	if m.Ruled > 0 || m.Own != 0 {
		saved = figure.Dollars(m.Saved)
	}
	return []string{key, humanize.Comma(s.Exchanges), humanize.Comma(s.Failed), humanize.Comma(s.Rescued),
		figure.Tokens(s.TokensBefore), figure.Tokens(s.TokensAfter), less, cached, output, billed, saved}
}

// statsNotes returns sentences that say what the table leaves out.
func statsNotes(s story.Summary) (notes []string) {
	note := func(is bool, format string, args ...any) {
		if is {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	m, o := s.Total.Money, s.Total.Observed
	note(m.Own != 0, "BILLED leaves out the %s that summaries cost, and SAVED is less that.", figure.Dollars(m.Own))
	note(m.Raw != 0, "SAVED is an estimate, of the requests with a price that would have fitted (%d): %s without epitome.",
		m.Ruled, figure.Dollars(m.Raw))
	note(m.Unpriced > 0, "Of some requests (%d) a price or the usage is unknown. [prices] can name a price.", m.Unpriced)
	note(o.Exchanges > 0, "In mode observe, %s tokens would have become %s. CAME, SENT, LESS and SAVED leave these "+
		"requests (%d) out.", figure.Tokens(o.TokensBefore), figure.Tokens(o.TokensAfter), o.Exchanges)
	note(s.Prices.Old, "The prices are of %s: a newer epitome has newer ones.", s.Prices.Date.Format(time.DateOnly))
	for _, n := range s.Notes {
		notes = append(notes, plain(n))
	}
	return notes
}
