package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// checkout is a clone of the commit that is built, and the environment to build it in.
type checkout struct {
	folder string // it holds src, the clone, and bin, what is built
	date   time.Time
	cache  string // GOCACHE; empty is the user's own
}

// head is the commit that is checked out here.
func head() (commit string, err error) {
	if commit, err = output("", "git", "rev-parse", "HEAD"); err != nil {
		return "", fmt.Errorf("cannot make a release but from a git checkout: %w", err)
	}
	return commit, nil
}

// newCheckout clones the commit into a new folder, whose name begins as given. What is not committed is left out, and
// said.
func newCheckout(name, commit string) (*checkout, error) {
	here, err := output("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	if changed, err := output("", "git", "status", "--porcelain"); err == nil && changed != "" {
		fmt.Fprintln(os.Stderr, "release: what is not committed is left out")
	}
	folder, err := os.MkdirTemp("", name)
	if err != nil {
		return nil, err
	}
	c := &checkout{folder: folder}
	if err := c.fill(here, commit); err != nil {
		c.remove()
		return nil, err
	}
	return c, nil
}

// fill clones the commit.
func (c *checkout) fill(from, commit string) error {
	if _, err := output("", "git", "clone", "--quiet", "--no-checkout", from, c.source()); err != nil {
		return err
	}
	if _, err := output(c.source(), "git", "checkout", "--quiet", "--detach", commit); err != nil {
		return err
	}
	seconds, err := output(c.source(), "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	c.date = time.Unix(unix, 0).UTC()
	return err
}

func (c *checkout) remove()        { _ = os.RemoveAll(c.folder) }
func (c *checkout) source() string { return filepath.Join(c.folder, "src") }

// environ is the environment in which a program for the target is built: what a user has set there must not change it.
func (c *checkout) environ(t target) []string {
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.system, "GOARCH="+t.machine, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off")
	if c.cache != "" {
		env = append(env, "GOCACHE="+c.cache)
	}
	return env
}

// output is what a command prints, without the last line break.
func output(folder, name string, args ...string) (string, error) {
	return printed(exec.Command(name, args...), folder)
}

func printed(cmd *exec.Cmd, folder string) (string, error) {
	var said strings.Builder
	cmd.Dir, cmd.Stderr = folder, &said
	out, err := cmd.Output()
	if err != nil && said.Len() > 0 {
		err = errors.New(strings.TrimSpace(said.String()))
	}
	if err != nil {
		return "", fmt.Errorf("cannot run %s: %w", strings.Join(cmd.Args[:min(3, len(cmd.Args))], " "), err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
