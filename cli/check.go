package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"epitome/cli/daemon"
	"epitome/config"
)

func (a *app) checkCommand() *cobra.Command {
	var running, defaults bool
	c := &cobra.Command{Use: "check", Short: "Check the configuration, or whether an epitome runs",
		RunE: func(*cobra.Command, []string) error {
			switch {
			case defaults:
				_, err := fmt.Print(a.defaults)
				return err
			case running:
				return a.checkRunning()
			}
			return a.checkConfiguration()
		}}
	c.Flags().BoolVar(&running, "running", false, "check instead that an epitome runs and takes requests; the exit "+
		"status is 1 if not")
	c.Flags().BoolVar(&defaults, "defaults", false, "print the built-in configuration file instead, which explains every "+
		"key")
	c.MarkFlagsMutuallyExclusive("running", "defaults")
	return c
}

// checkConfiguration checks all that serve would before it listens, and that the address is free.
func (a *app) checkConfiguration() error {
	conf, err := a.load()
	if err != nil {
		return err
	}
	folder, err := conf.Admit()
	if err != nil {
		return err
	}
	fmt.Printf("The configuration is sound: listen on %s, send to %s (%s), keep data in %s, mode %s.\n",
		conf.Listen, conf.Upstream, conf.Upstreams[conf.Upstream].URL, folder, conf.Mode)
	ln, err := config.Listen(conf.Listen)
	if err == nil {
		return ln.Close()
	}
	for _, card := range daemon.Running(folder) {
		if card.Listen == config.Reachable(conf.Listen) {
			fmt.Printf("The epitome of this data folder runs, and listens on %s.\n", card.Listen)
			return nil
		}
	}
	fmt.Fprintln(os.Stderr, "epitome: warning: "+err.Error())
	return nil
}

// checkRunning asks the epitome of the data folder whether it takes requests. One that "epitome run" has started serves its own command alone, and is not meant.
func (a *app) checkRunning() error {
	_, home, err := a.loadWithFolder()
	if err != nil {
		return err
	}
	card, err := daemon.Read(home)
	if listen := a.flags.Listen; err != nil || listen != "" && card.Listen != config.Reachable(listen) {
		return noneRuns("ask epitome whether it takes requests", home)
	}
	if err := card.Get("/-/ready", new(json.RawMessage)); err != nil {
		return err
	}
	fmt.Printf("The epitome on %s takes requests.\n", card.Listen)
	return nil
}
