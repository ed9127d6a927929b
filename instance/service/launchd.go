package service

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// launchd is that of the user who is logged in, which needs no rights.
type launchd struct{ Place }

// label is what launchd calls the service.
const label = "local." + Name

func (l launchd) file() (string, error) {
	home, err := l.home()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "Library", "LaunchAgents", label+".plist"), nil
}

// domain is the user's own session.
func (l launchd) domain() string { return fmt.Sprintf("gui/%d", l.User) }

func (l launchd) reach() error {
	if _, err := l.control("print", l.domain()); err != nil {
		return fmt.Errorf("nobody is logged in to this Mac's screen as you (%w)", err)
	}
	return nil
}

func (l launchd) text() []byte {
	var args, home bytes.Buffer
	for _, arg := range append([]string{l.Program, "serve"}, l.Args...) {
		args.WriteString("\n\t\t<string>")
		_ = xml.EscapeText(&args, []byte(arg)) // a buffer takes all
		args.WriteString("</string>")
	}
	_ = xml.EscapeText(&home, []byte(l.Getenv("HOME")))
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by 'epitome service install'; 'epitome service remove' takes it away. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>%s
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ExitTimeOut</key>
	<integer>%d</integer>
	<key>Umask</key>
	<integer>%d</integer>
	<key>StandardErrorPath</key>
	<string>%s/Library/Logs/%s.log</string>
</dict>
</plist>
`, label, args.String(), stopTime, 0o077, home.String(), Name)
}

func (l launchd) begin(path string) error {
	_, _ = l.control("bootout", l.domain()+"/"+label) // one that runs makes way; none is as good
	_, err := l.control("bootstrap", l.domain(), path)
	return err
}

func (l launchd) end(path string) error {
	if _, runs := l.state(); runs {
		if _, err := l.control("bootout", l.domain()+"/"+label); err != nil {
			return err
		}
	}
	return os.Remove(path)
}

func (l launchd) state() (word string, runs bool) {
	said, err := l.control("print", l.domain()+"/"+label)
	if err != nil {
		return "not loaded", false
	}
	for line := range strings.Lines(said) {
		if state, ok := strings.CutPrefix(strings.TrimSpace(line), "state = "); ok {
			return state, state == "running"
		}
	}
	return "loaded", true
}

// control asks launchd.
func (l launchd) control(args ...string) (string, error) {
	said, err := l.Run("launchctl", args...)
	return said, because(said, err)
}
