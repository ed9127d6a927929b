package command

import (
	"fmt"
)

type checkCmd struct {
	Defaults bool `help:"Print the built-in configuration file instead. It explains every key."`
}

func (k checkCmd) Run(c *cli) error {
	if k.Defaults {
		_, err := fmt.Print(c.defaults)
		return err
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
