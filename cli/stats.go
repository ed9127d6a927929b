package cli

import (
	"errors"
	"fmt"
	"os"

	"epitome/console/story"
	"epitome/console/terminal"
)

type statsCmd struct {
	Since string `placeholder:"TIME" help:"From when on: how long ago, as 24h or 7d, or a date, as 2026-11-20. Default: all that is kept."`
	By    string `placeholder:"WHAT" enum:",day,hour,model,upstream,client,conversation" default:"" help:"What each line is of: day, hour, model, upstream, client or conversation. Default: day."`
	JSON  bool   `name:"json" help:"Print the answer of the API as it is."`
}

// Run prints what a running epitome has done.
func (k statsCmd) Run(c *cli) error {
	running, err := c.running("say what was done")
	if err != nil {
		return err
	}
	card := running[0]
	said, answer, err := asking(card).Summary(k.Since, k.By)
	switch {
	case errors.Is(err, story.ErrUnknown):
		return errTooOld(card.Listen)
	case err != nil:
		return err
	case k.JSON:
		_, err = os.Stdout.Write(answer)
		return err
	}
	if len(running) > 1 {
		fmt.Fprintln(os.Stderr, "epitome: this is of the one on "+card.Listen+"; others run too: "+others(running[1:], "stats"))
	}
	_, err = os.Stdout.WriteString(terminal.Stats(said, terminal.Width(os.Stdout)))
	return err
}

// errTooOld is what is said of an epitome that does not know a question.
func errTooOld(listen string) error {
	return fmt.Errorf("cannot ask the epitome on %s: it is of an older version, which keeps nothing of what happens; "+
		"start it again", listen)
}
