package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"epitome/console"
)

func (a *app) openCommand() *cobra.Command {
	var print bool
	c := &cobra.Command{Use: "open", Short: "Open the pages of a running epitome in a browser",
		RunE: func(*cobra.Command, []string) error { return a.open(print) }}
	c.Flags().BoolVar(&print, "print", false, "print the link instead of opening a browser")
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
	if !print {
		if err := browse(link); err == nil {
			fmt.Println("opened " + card.URL() + "/-/ in your browser; 'epitome open --print' prints a link for another one")
			return nil
		} else {
			fmt.Fprintf(os.Stderr, "epitome: cannot start a browser: %v; open this link within a minute, it is good once\n", err)
		}
	}
	fmt.Println(link)
	return nil
}

// browse opens a link in the user's browser.
func browse(link string) error {
	command := exec.Command("xdg-open", link)
	switch {
	case runtime.GOOS == "windows":
		command = exec.Command("rundll32", "url.dll,FileProtocolHandler", link)
	case runtime.GOOS == "darwin":
		command = exec.Command("open", link)
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("BROWSER") == "":
		return errors.New("there is no display")
	}
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(3 * time.Second): // some stay as long as the browser
		return nil
	}
}
