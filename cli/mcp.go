package cli

import (
	"github.com/spf13/cobra"

	"epitome/cli/daemon"
	"epitome/console"
)

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{Use: "mcp", Short: "Serve tools to read artifacts, over the Model Context Protocol on " +
		"standard input and output",
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := untilSignal()
			defer stop()
			return console.ServeMCP(ctx, daemon.Version(), a.readArtifact)
		}}
}
