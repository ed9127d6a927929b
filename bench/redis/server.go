// Package redis runs a server of the Redis protocol for measurements: valkey-server or redis-server, whichever is
// installed.
//
// It promises that the server listens on loopback alone, has a folder of its own, and is the only process that is ended
// here.
package redis

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	ended   chan struct{} // closed once process has
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
	err := os.MkdirAll(s.folder, 0o700)
	if err != nil {
		return nil, fmt.Errorf("cannot begin: %w", err)
	}
	for range lineup.MostPorts {
		if s.Addr, err = lineup.FreeAddress(); err != nil {
			return nil, err
		}
		if err = s.run(); err == nil || !lineup.PortTaken(err) {
			break
		}
	}
	return s, err
}

// URL is what an epitome is told of it.
func (s *Server) URL() string { return "redis://" + s.Addr }

// Run starts it again, and waits until it answers. Another program may have its port for a moment.
func (s *Server) Run() error {
	for late := time.Now().Add(startLimit); ; time.Sleep(100 * time.Millisecond) {
		err := s.run()
		if err == nil || !lineup.PortTaken(err) || time.Now().After(late) {
			return err
		}
	}
}

// run starts it, and waits until it answers, and no other in its place.
func (s *Server) run() error {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	process, ended := exec.Command(s.program, "--bind", host, "--port", port, "--dir", s.folder, "--save", "",
		"--appendonly", "yes", "--appendfsync", "no"), make(chan struct{}) // to sync what the system has may hold writes back
	process.Stdout = &said
	if err := process.Start(); err != nil {
		return fmt.Errorf("cannot start the shared store: %w", err)
	}
	go func() {
		_ = process.Wait() // what it has said tells more
		close(ended)
	}()
	s.process, s.ended = process, ended
	for late := time.Now().Add(startLimit); !s.answers(); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			return fmt.Errorf("the shared store has ended: %s", &said)
		default:
		}
		if time.Now().After(late) {
			return fmt.Errorf("the shared store does not answer within %s", startLimit)
		}
	}
	return nil
}

// answers tells whether it is ready, and not another server in its place.
func (s *Server) answers() bool {
	c, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := c.Write([]byte("PING\r\nINFO server\r\nQUIT\r\n")); err != nil {
		return false
	}
	said, _ := io.ReadAll(c)
	return bytes.HasPrefix(said, []byte("+PONG")) && bytes.Contains(said, fmt.Appendf(nil, "process_id:%d\r", s.PID()))
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
		<-s.ended
		s.process = nil
	}
}
