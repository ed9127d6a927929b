// Package service has the user's own service manager start epitome when the user logs in: systemd on Linux, launchd on
// macOS.
//
// It promises that nothing is asked of root, that nothing is written where there is no such manager, and that what
// Install has written Remove takes away. Elsewhere it says in one sentence what to do instead.
package service

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Name is what the service is called.
const Name = "epitome"

// Place is whose service it is, and what it runs.
type Place struct {
	System  string // as runtime.GOOS
	Getenv  func(name string) string
	User    int      // id of the user, for launchd
	Program string   // absolute path
	Args    []string // after "serve"
	// Run runs a command of the system, and returns what that has printed.
	Run func(name string, args ...string) (string, error)
}

// starter is a service manager.
type starter interface {
	// reach is nil if the manager can be asked.
	reach() error
	// file is where the description of the service lies, and text what stands there.
	file() (path string, err error)
	text() []byte
	// begin makes it known and starts it, anew if it runs; end stops it and has it forgotten.
	begin(path string) error
	end(path string) error
	// state is what the manager says of it in a word, and whether it runs.
	state() (word string, runs bool)
}

// Install writes the description of the service, starts it, and says so.
func Install(p Place) (said string, err error) {
	const verb = "install"
	m, err := starterOf(p, verb)
	if err != nil {
		return "", err
	}
	path, err := m.file()
	if err != nil {
		return "", fmt.Errorf("cannot install the service: %w", err)
	}
	if err := m.reach(); err != nil {
		return "", instead(p, verb, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("cannot install the service: %w", err)
	}
	text := m.text()
	if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, text) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return "", fmt.Errorf("cannot install the service: %w", err)
		}
	}
	if err := m.begin(path); err != nil {
		return "", fmt.Errorf("cannot start the service that %s describes: %w", path, err)
	}
	return "installed " + path + " and started it: epitome starts when you log in; 'epitome service status' says how it is", nil
}

// Status says whether the service is installed and runs.
func Status(p Place) (said string, runs bool, err error) {
	m, path, err := installed(p, "ask for")
	if err != nil {
		return "", false, err
	}
	word, runs := m.state()
	return path + ": " + word, runs, nil
}

// Remove stops the service and takes its description away.
func Remove(p Place) (said string, err error) {
	m, path, err := installed(p, "remove")
	if err != nil {
		return "", err
	}
	if err := m.end(path); err != nil {
		return "", fmt.Errorf("cannot remove the service that %s describes: %w", path, err)
	}
	return "stopped the service and removed " + path + "; the data folder stays", nil
}

// installed is the manager of a service that there is.
func installed(p Place, verb string) (m starter, path string, err error) {
	if m, err = starterOf(p, verb); err != nil {
		return nil, "", err
	}
	if path, err = m.file(); err != nil {
		return nil, "", fmt.Errorf("cannot %s the service: %w", verb, err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("cannot %s the service: there is no %s; 'epitome service install' makes it", verb, path)
	}
	if err := m.reach(); err != nil {
		return nil, "", instead(p, verb, err)
	}
	return m, path, nil
}

// starterOf is the manager of the system.
func starterOf(p Place, verb string) (starter, error) {
	switch p.System {
	case "linux":
		return systemd{p}, nil
	case "darwin":
		return launchd{p}, nil
	}
	return nil, instead(p, verb, errors.New("epitome knows the service managers of Linux and macOS only"))
}

// instead is what a user does where there is no manager, in one sentence.
func instead(p Place, verb string, why error) error {
	command := strings.Join(append([]string{p.Program, "serve"}, p.Args...), " ")
	if p.System == "windows" {
		return fmt.Errorf("cannot %s a service on Windows: the Task Scheduler starts epitome when you log in after "+
			`schtasks /Create /SC ONLOGON /TN %s /TR "%s"`, verb, Name, command)
	}
	return fmt.Errorf("cannot %s the service: %w; have whatever starts your programs at login run '%s'", verb, why, command)
}

// home is the user's own folder.
func (p Place) home() (string, error) {
	home := p.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("HOME is not set, so your own folder is not known; set HOME to it")
	}
	return home, nil
}
