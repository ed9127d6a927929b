package cli

import (
	"epitome/console/recall"
	"epitome/instance"
)

type mcpCmd struct{}

// Run serves until its input ends.
func (mcpCmd) Run(c *cli) error {
	ctx, stop := untilSignal()
	defer stop()
	return recall.ServeStdio(ctx, instance.Version(), &ownArtifacts{cli: c})
}
