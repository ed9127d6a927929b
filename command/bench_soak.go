package command

import (
	"fmt"
	"os"

	"epitome/bench/soak"
)

type soakCmd struct {
	JSON    bool    `help:"Print the report as JSON."`
	Minutes float64 `default:"2" placeholder:"N" help:"How long to run. Default: ${default}."`
	Seed    uint64  `default:"1" placeholder:"N" help:"Number that conversations and faults are made from. Default: ${default}."`

	Replicas int `default:"1" placeholder:"N" help:"How many epitomes run over one shared store, which needs valkey-server or redis-server. Default: ${default}."`
}

// Run runs this program as another process, and fails where a promise was broken.
func (k soakCmd) Run(*cli) error {
	if !(k.Minutes > 0 && k.Minutes <= 10_000) { // nor what is not a number
		return fmt.Errorf("cannot run for %g minutes: write how many, as --minutes 2", k.Minutes)
	}
	if k.Replicas < 1 || k.Replicas > 16 {
		return fmt.Errorf("cannot run %d replicas: write 1 to 16", k.Replicas)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find epitome's own program file: %w", err)
	}
	ctx, stop := untilSignal()
	defer stop()
	r, err := soak.Run(ctx, soak.Options{Program: self, Minutes: k.Minutes, Seed: k.Seed, Replicas: k.Replicas,
		Progress: os.Stderr})
	if err != nil {
		return err
	}
	return verdict{JSON: k.JSON, Check: true}.report(r)
}
