package cli

import (
	"fmt"
	"os"
	"slices"

	"epitome/cli/daemon"
	"epitome/config"
)

// running finds the epitome that a command asks: the one of the run around the command, or the first of those that run
// with the data folder and of those that "epitome run" has started there. --listen names another. purpose completes the
// sentence "cannot …".
func (a *app) running(purpose string) (*daemon.Card, error) {
	if folder := os.Getenv(folderVariable); folder != "" && a.flags.Listen == "" {
		card, err := daemon.Read(folder)
		if err != nil {
			return nil, fmt.Errorf("cannot %s: the epitome of this run has ended; --listen names another one", purpose)
		}
		return card, nil
	}
	_, home, err := a.loadWithFolder()
	if err != nil {
		return nil, err
	}
	cards, where := daemon.Running(home), home
	if listen := a.flags.Listen; listen != "" {
		where += " and listens on " + listen
		cards = slices.DeleteFunc(cards, func(c *daemon.Card) bool { return c.Listen != config.Reachable(listen) })
	}
	if len(cards) == 0 {
		return nil, fmt.Errorf("cannot %s: no epitome runs with the data folder %s; start one with 'epitome serve', "+
			"or give the --data or --config that it was started with", purpose, where)
	}
	if len(cards) > 1 && isTerminal(os.Stderr) {
		fmt.Fprintf(os.Stderr, "epitome: asking the one on %s; --listen %s asks another\n", cards[0].Listen, cards[1].Listen)
	}
	return cards[0], nil
}
