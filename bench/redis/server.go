// Package redis runs a server of the Redis protocol for measurements: valkey-server or redis-server, whichever is
// installed.
//
// It promises that the server listens on loopback alone, has a folder of its own, and is the only process that is ended
// here.
package redis

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

// startLimit is how long it may take until it answers.
const startLimit = 30 * time.Second

// Server is a server on loopback. What it has acknowledged lies in a file that the system has: it outlives the process.
type Server struct {
	Addr    string
	program string
	folder  string
	process *exec.Cmd
}

// Start starts one that is installed, with a folder below folder.
func Start(folder string) (*Server, error) {
	s := &Server{folder: filepath.Join(folder, "server")}
	for _, name := range []string{"valkey-server", "redis-server"} {
		if path, err := exec.LookPath(name); err == nil && s.program == "" {
			s.program = path
		}
	}
	if s.program == "" {
		return nil, errors.New("cannot run a shared store: there is no valkey-server and no redis-server; install one")
	}
	var err error
	if s.Addr, err = lineup.FreeAddress(); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(s.folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot begin: %w", err)
	}
	return s, s.Run()
}

// URL is what an epitome is told of it.
func (s *Server) URL() string { return "redis://" + s.Addr }

// Run starts it again, and waits until it answers.
func (s *Server) Run() error {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return err
	}
	s.process = exec.Command(s.program, "--bind", host, "--port", port, "--dir", s.folder, "--save", "", "--appendonly", "yes",
		"--appendfsync", "no") // the system has what is written; to sync it may hold writes back
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("cannot start the shared store: %w", err)
	}
	for late := time.Now().Add(startLimit); ; time.Sleep(20 * time.Millisecond) {
		if s.answers() {
			return nil
		}
		if time.Now().After(late) {
			return fmt.Errorf("the shared store does not answer within %s", startLimit)
		}
	}
}

// answers tells whether it is ready.
func (s *Server) answers() bool {
	c, err := net.DialTimeout("tcp", s.Addr, time.Second)
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

// PID returns the id of the process, 0 if there is none.
func (s *Server) PID() int {
	if s.process == nil {
		return 0
	}
	return s.process.Process.Pid
}

// Kill ends it with no word.
func (s *Server) Kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}
