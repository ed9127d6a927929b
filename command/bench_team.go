package command

import (
	"fmt"
	"os"

	"epitome/bench/team"
)

type teamCmd struct {
	verdict
	Quick bool `help:"Run briefly, to see that everything works. The figures then mean little."`
}

// Run runs this program as other processes.
func (k teamCmd) Run(*cli) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find epitome's own program file: %w", err)
	}
	ctx, stop := untilSignal()
	defer stop()
	r, err := team.Run(ctx, team.Options{Program: self, Quick: k.Quick, Progress: os.Stderr})
	if err != nil {
		return err
	}
	return k.report(r)
}
