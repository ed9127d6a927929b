package command

import (
	"fmt"
)

type checkCmd struct {
	Running  bool `xor:"what" help:"Ask instead whether an epitome runs with the data folder, or where --listen says, and takes requests. The exit status is 0 if it does, and 1 if not."`
	Defaults bool `xor:"what" help:"Print the built-in configuration file instead. It explains every key."`
}

func (k checkCmd) Run(c *cli) error {
	if k.Defaults {
		_, err := fmt.Print(c.defaults)
		return err
	}
	if k.Running {
		return checkRunning(c)
	}
	conf, err := c.load()
	if err != nil {
		return err
	}
	folder, err := conf.Admit()
	if err != nil {
		return err
	}
	_, err = fmt.Printf("The configuration is sound: listen on %s, send to %s (%s), keep data in %s, mode %s.\n",
		conf.Listen, conf.Upstream, conf.Upstreams[conf.Upstream].URL, folder, conf.Mode)
	return err
}

// checkRunning asks the epitome of the data folder, which has to prove that it is one, whether it takes requests.
func checkRunning(c *cli) error {
	running, err := c.runningIn("ask epitome whether it takes requests", func(home string) []string { return []string{home} })
	if err != nil {
		return err
	}
	card := running[0]
	if _, err := card.Answer("/-/ready", nil); err != nil {
		return err
	}
	_, err = fmt.Printf("The epitome on %s takes requests.\n", card.Listen)
	return err
}
