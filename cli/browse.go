package cli

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// opener is the command that opens a link in the user's browser; the link comes behind it. It is empty where there is
// nothing to show a browser on.
func opener(system string, getenv func(string) string) []string {
	switch {
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	case system == "darwin":
		return []string{"open"}
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "" || getenv("BROWSER") != "":
		return []string{"xdg-open"}
	}
	return nil
}

// openerTime is how long the command is waited for. Some stay as long as the browser.
const openerTime = 3 * time.Second

// browse opens a link in the user's browser.
func browse(link string) error {
	command := opener(runtime.GOOS, os.Getenv)
	if len(command) == 0 {
		return errors.New("there is no display")
	}
	start := exec.Command(command[0], append(command[1:], link)...)
	if err := start.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- start.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(openerTime):
		return nil
	}
}
