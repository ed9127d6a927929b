package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"epitome/cli/daemon"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print version, commit and date of this program",
		Run: func(*cobra.Command, []string) { fmt.Println(versionText()) }}
}

// versionText is the program's version, the commit that it was built from if the build knows it, and what built it.
func versionText() string {
	text := "epitome " + daemon.Version()
	if commit, date, changed := daemon.Commit(); commit != "" {
		text += "\ncommit " + commit + " of " + date
		if changed {
			text += ", with changes"
		}
	}
	return text + "\n" + runtime.Version() + " for " + runtime.GOOS + "/" + runtime.GOARCH
}
