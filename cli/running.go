package cli

import (
	"fmt"
	"os"
	"slices"

	"epitome/cli/daemon"
	"epitome/config"
)

// running finds the epitome that a command asks. purpose completes the sentence "cannot …".
func (a *app) running(purpose string) (*daemon.Card, error) {
	cards, err := a.allRunning(purpose)
	if err != nil {
		return nil, err
	}
	if len(cards) > 1 && isTerminal(os.Stderr) {
		fmt.Fprintf(os.Stderr, "epitome: asking the one on %s; --listen %s asks another\n", cards[0].Listen, cards[1].Listen)
	}
	return cards[0], nil
}

// allRunning finds the epitomes that run with the data folder, and those that "epitome run" has started there. Inside
// a run that is the run's own alone, unless --listen names another.
func (a *app) allRunning(purpose string) ([]*daemon.Card, error) {
	if folder := os.Getenv(folderVariable); folder != "" && a.flags.Listen == "" {
		card, err := daemon.Read(folder)
		if err != nil {
			return nil, fmt.Errorf("cannot %s: the epitome of this run has ended; --listen names another one", purpose)
		}
		return []*daemon.Card{card}, nil
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
		return nil, noneRuns(purpose, where)
	}
	return cards, nil
}

// askAny decodes the answer to a GET of the first of these epitomes that has one into v.
func (a *app) askAny(purpose, path string, v any) error {
	cards, err := a.allRunning(purpose)
	if err != nil {
		return err
	}
	for _, card := range cards {
		if err = card.Get(path, v); err == nil {
			return nil
		}
	}
	return fmt.Errorf("cannot %s: %w", purpose, err)
}

// noneRuns is the error of a command that needs a running epitome; where names a data folder.
func noneRuns(purpose, where string) error {
	return fmt.Errorf("cannot %s: no epitome runs with the data folder %s; start one with 'epitome serve', "+
		"or give the --data or --config that it was started with", purpose, where)
}
