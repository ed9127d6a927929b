package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"epitome/console/story"
	"epitome/console/terminal"
)

type topCmd struct{}

// Run shows the conversations of a running epitome until somebody quits; without a terminal, once.
func (topCmd) Run(c *cli) error {
	running, err := c.running("show conversations")
	if err != nil {
		return err
	}
	card := running[0]
	top := terminal.NewTop(card.Listen, asking(card), time.Now)
	if terminal.IsScreen(os.Stdin, os.Stdout) {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return top.Show(ctx, os.Stdin, os.Stdout)
	}
	if err := top.Refresh(); errors.Is(err, story.ErrUnknown) {
		return errTooOld(card.Listen)
	} else if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(top.Print())
	return err
}
