package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"epitome/console"
)

func (a *app) openCommand() *cobra.Command {
	var print bool
	c := &cobra.Command{Use: "open", Short: "Open the pages of a running epitome in a browser",
		RunE: func(*cobra.Command, []string) error { return a.open(print) }}
	c.Flags().BoolVar(&print, "print", false, "only print the link")
	return c
}

// open logs a browser in to the pages of the epitome that runs with the data folder.
func (a *app) open(print bool) error {
	card, err := a.running("open the pages")
	if err != nil {
		return err
	}
	link, err := card.LoginLink(console.CodeLife)
	if err != nil {
		return err
	}
	fmt.Println(link)
	if print {
		return nil
	}
	if err := startBrowser(link); err != nil {
		fmt.Fprintf(os.Stderr, "epitome: cannot start a browser: %v; open this link within a minute, it is good once\n", err)
	}
	return nil
}

// startBrowser opens a link in the user's browser. It does not wait, as some browsers end only when they are closed.
func startBrowser(link string) error {
	switch {
	case runtime.GOOS == "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", link).Start()
	case runtime.GOOS == "darwin":
		return exec.Command("open", link).Start()
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("BROWSER") == "":
		return errors.New("there is no display")
	}
	return exec.Command("xdg-open", link).Start()
}
