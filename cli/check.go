package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
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
	return c
}

// checkConfiguration checks all that serve would before it listens.
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
	return nil
}

// checkRunning asks a running epitome whether it takes requests.
func (a *app) checkRunning() error {
	card, err := a.running("ask epitome whether it takes requests")
	if err == nil {
		err = card.Get("/-/ready", new(json.RawMessage))
	}
	if err == nil {
		fmt.Printf("The epitome on %s takes requests.\n", card.Listen)
	}
	return err
}
