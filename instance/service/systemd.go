package service

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// systemd is that of the user, which needs no rights.
type systemd struct{ Place }

const unit = Name + ".service"

func (s systemd) file() (string, error) {
	folder := s.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(folder) { // a relative one is void, by its specification
		home, err := s.home()
		if err != nil {
			return "", err
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "systemd", "user", unit), nil
}

func (s systemd) reach() error {
	if _, err := s.control("show-environment"); err != nil {
		return fmt.Errorf("this session has no systemd of the user (%w)", err)
	}
	return nil
}

// stopTime is how long systemd waits for streams to end, in seconds: longer than proxy.shutdown_grace is by default.
const stopTime = 45

func (s systemd) text() []byte {
	var b bytes.Buffer
	command := []string{systemdWord(s.Program), "serve"}
	for _, arg := range s.Args {
		command = append(command, systemdWord(arg))
	}
	fmt.Fprintf(&b, `# Written by 'epitome service install'; 'epitome service remove' takes it away.
# Variables that the configuration names belong into the file epitome/environment of your configuration folder.
[Unit]
Description=epitome, a proxy that keeps the conversations of agents small
Documentation=man:epitome(1)

[Service]
ExecStart=%s
ExecReload=kill -HUP $MAINPID
EnvironmentFile=-%%E/epitome/environment
Restart=on-failure
RestartSec=2
TimeoutStopSec=%d
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`, strings.Join(command, " "), stopTime)
	return b.Bytes()
}

// systemdWord is a word of a command line as units hold it.
func systemdWord(word string) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`, "\t", `\t`).Replace(word)
	if word == "" || strings.ContainsAny(word, " ';") || strings.Contains(word, `\`) {
		return `"` + word + `"`
	}
	return word
}

func (s systemd) begin(string) error {
	for _, args := range [][]string{{"daemon-reload"}, {"enable", unit}, {"restart", unit}} {
		if _, err := s.control(args...); err != nil {
			return err
		}
	}
	return nil
}

func (s systemd) end(path string) error {
	if _, err := s.control("disable", "--now", unit); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	_, err := s.control("daemon-reload")
	return err
}

func (s systemd) state() (word string, runs bool) {
	said, err := s.control("is-active", unit)
	if word = strings.TrimSpace(said); word == "" {
		word = "unknown"
	}
	return word, err == nil
}

// control asks systemd.
func (s systemd) control(args ...string) (string, error) {
	said, err := s.Run("systemctl", append([]string{"--user"}, args...)...)
	return said, because(said, err)
}

// because is why a command failed, in its own words if it had some.
func because(said string, err error) error {
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if err == nil || first == "" {
		return err
	}
	return errors.New(strings.TrimSuffix(first, "."))
}
