package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
)

// running finds the epitome that a command asks: the one of the run around the command, or the first of those that run
// with the data folder and of those that "epitome run" has started there. --listen names another.
func (a *app) running() (*daemon.Card, error) {
	listen := a.flags.Listen
	if folder := os.Getenv(folderVariable); folder != "" && listen == "" {
		if card, err := daemon.Read(folder); err == nil {
			return card, nil
		}
		return nil, errors.New("the epitome of this run has ended; --listen names another one")
	}
	_, home, err := a.loadWithFolder()
	if err != nil {
		return nil, err
	}
	cards, where := daemon.Running(home), home
	if listen != "" {
		where += " and listens on " + listen
		cards = slices.DeleteFunc(cards, func(c *daemon.Card) bool { return c.Listen != config.Reachable(listen) })
	}
	if len(cards) == 0 {
		return nil, fmt.Errorf("no epitome runs with the data folder %s: start one with 'epitome serve', or give "+
			"the --data or --config of another one (the epitome of an 'epitome run' ends when its command does)", where)
	}
	if len(cards) > 1 && isTerminal(os.Stderr) {
		warn("asking the one on %s; --listen %s asks another", cards[0].Listen, cards[1].Listen)
	}
	return cards[0], nil
}

// openCommand prints a link that logs a browser in to the pages of a running epitome, and starts the user's browser
// with it.
func (a *app) openCommand() *cobra.Command {
	var print bool
	c := &cobra.Command{Use: "open", SuggestFor: []string{"logs", "log", "dashboard", "ui"}, Short: "Open the pages of a running epitome in a browser",
		RunE: func(*cobra.Command, []string) error {
			card, err := a.running()
			if err != nil {
				return err
			}
			link, err := card.LoginLink(console.CodeLife)
			if err == nil {
				fmt.Println(link)
			}
			if err == nil && !print {
				openBrowser(link)
			}
			return err
		}}
	c.Flags().BoolVar(&print, "print", false, "only print the link")
	return c
}

// openBrowser starts the user's browser, or says why it cannot.
func openBrowser(link string) {
	browser := exec.Command("xdg-open", link)
	switch runtime.GOOS {
	case "windows":
		browser = exec.Command("rundll32", "url.dll,FileProtocolHandler", link)
	case "darwin":
		browser = exec.Command("open", link)
	}
	if err := browser.Start(); err != nil { // it is not waited for: some end only when they are closed
		warn("cannot start a browser: %v; open this link within a minute; it works once", err)
	}
}
