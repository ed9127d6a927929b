package soak

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"epitome/bench/lineup"
)

// server is a server of the Redis protocol on loopback, with a folder of its own. What it has acknowledged lies in a
// file that the system has: it outlives the process.
type server struct {
	program string
	folder  string
	addr    string
	process *exec.Cmd
}

// startServer starts one that is installed.
func startServer(folder string) (*server, error) {
	s := &server{folder: filepath.Join(folder, "server")}
	for _, name := range []string{"valkey-server", "redis-server"} {
		if path, err := exec.LookPath(name); err == nil && s.program == "" {
			s.program = path
		}
	}
	if s.program == "" {
		return nil, errors.New("cannot run replicas: there is no valkey-server and no redis-server; install one")
	}
	var err error
	if s.addr, err = lineup.FreeAddress(); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(s.folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot begin: %w", err)
	}
	return s, s.run()
}

func (s *server) url() string { return "redis://" + s.addr }

// run starts it, and waits until it answers.
func (s *server) run() error {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	s.process = exec.Command(s.program, "--bind", host, "--port", port, "--dir", s.folder, "--save", "", "--appendonly", "yes",
		"--appendfsync", "no") // the system has what is written; to sync it may hold writes back
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("cannot start the shared store: %w", err)
	}
	for late := time.Now().Add(hangs); ; time.Sleep(20 * time.Millisecond) {
		if s.answers() {
			return nil
		}
		if time.Now().After(late) {
			return fmt.Errorf("the shared store does not answer within %s", hangs)
		}
	}
}

// answers tells whether it is ready.
func (s *server) answers() bool {
	c, err := net.DialTimeout("tcp", s.addr, time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	said := make([]byte, 5)
	n, _ := c.Read(said)
	return string(said[:n]) == "+PONG"
}

// kill ends it with no word.
func (s *server) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}
