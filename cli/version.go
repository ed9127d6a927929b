package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"epitome/cli/daemon"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version of this program",
		Run: func(*cobra.Command, []string) { fmt.Println(versionText()) }}
}

// versionText is the program's version, which names the commit of a build from a checkout, and what built it.
func versionText() string {
	return fmt.Sprintf("epitome %s\n%s for %s/%s", daemon.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
