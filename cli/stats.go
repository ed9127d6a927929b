package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"epitome/console/story"
	"epitome/console/terminal"
)

func (a *app) statsCommand() *cobra.Command {
	var since string
	var asJSON bool
	by := "day"
	c := &cobra.Command{Use: "stats", Short: "Show what a running epitome has done",
		RunE: func(*cobra.Command, []string) error { return a.stats(since, by, asJSON) }}
	c.Flags().StringVar(&since, "since", "", "start `time`: how long ago, as 24h or 7d, or a date, as 2026-11-20 "+
		"(default: all that is kept)")
	choiceVar(c, c.Flags(), &by, "by", "what each line is of: day, hour, model, upstream, client or conversation",
		"day", "hour", "model", "upstream", "client", "conversation")
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
	answer, err := card.Get("/-/api/summary", query)
	if err != nil {
		return err
	}
	if asJSON {
		_, err = os.Stdout.Write(answer)
		return err
	}
	var sums story.Summary
	if err := json.Unmarshal(answer, &sums); err != nil {
		return fmt.Errorf("cannot read the answer of the epitome on %s: %w", card.Listen, err)
	}
	_, err = os.Stdout.WriteString(terminal.Stats(sums, terminal.Width(os.Stdout)))
	return err
}
