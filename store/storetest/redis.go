package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"epitome/internal/fakeapi"
)

// Server is a server of the Redis protocol on this machine, which keeps nothing.
type Server struct {
	Address string
	Client  *redis.Client // past whatever is tested

	tb   testing.TB
	args []string
	kill func()
}

const (
	patience  = 2 * time.Minute // for what must happen, as machines can be busy
	portTaken = "Address already in use"
	mostPorts = 10 // that are tried
)

// binary is a server that is installed; empty if none is.
func binary() string {
	for _, name := range []string{"valkey-server", "redis-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// StartRedis starts a server for the test, with more settings of the server. Where none is installed, the test is skipped.
func StartRedis(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	folder, s := tb.TempDir(), &Server{tb: tb}
	for tries := 1; ; tries++ { // another program may take the port first
		s.Address = FreeAddress(tb)
		_, port, _ := net.SplitHostPort(s.Address)
		s.args = append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", folder, "--save", "",
			"--appendonly", "no"}, settings...)
		s.Client = redis.NewClient(&redis.Options{Addr: s.Address, MaxRetries: -1})
		client := s.Client
		tb.Cleanup(func() { _ = client.Close() })
		why := s.start()
		if why == "" {
			return s
		}
		if !strings.Contains(why, portTaken) || tries == mostPorts {
			tb.Fatal(why)
		}
	}
}

// URL is where the server is.
func (s *Server) URL() string { return "redis://" + s.Address }

// Run starts the server again, which was killed. Another program may have its port for a moment.
func (s *Server) Run() {
	s.tb.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		why := s.start()
		if why == "" {
			return
		}
		if !strings.Contains(why, portTaken) || time.Now().After(late) {
			s.tb.Fatal(why)
		}
	}
}

// start starts the server and waits until it answers, and no other in its place. It returns why it has ended instead.
func (s *Server) start() (why string) {
	s.tb.Helper()
	path := binary()
	if path == "" {
		fakeapi.Skip(s.tb, "neither redis-server nor valkey-server is installed")
	}
	var said bytes.Buffer
	run, ended := exec.Command(path, s.args...), make(chan struct{})
	run.Stdout = &said
	if err := run.Start(); err != nil {
		s.tb.Fatalf("cannot start %s: %v", filepath.Base(path), err)
	}
	go func() {
		_ = run.Wait() // what it has said tells more
		close(ended)
	}()
	s.kill = func() {
		_ = run.Process.Kill()
		<-ended
	}
	s.tb.Cleanup(s.kill)
	Await(s.tb, "the server", func() error {
		select {
		case <-ended:
			why = filepath.Base(path) + " has ended: " + said.String()
			return nil
		default:
		}
		c, err := net.DialTimeout("tcp", s.Address, time.Second) // the client would say at each try that it cannot
		if err != nil {
			return err
		}
		_ = c.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		told, err := s.Client.Info(ctx, "server").Result()
		if err == nil && !strings.Contains(told, fmt.Sprintf("process_id:%d\r", run.Process.Pid)) {
			err = errors.New("another server answers in its place")
		}
		return err
	})
	return why
}

// Kill ends the server as a fault would.
func (s *Server) Kill() { s.kill() }

// Flush takes everything away.
func (s *Server) Flush() {
	s.tb.Helper()
	if err := s.Client.FlushAll(context.Background()).Err(); err != nil {
		s.tb.Fatal(err)
	}
}

// Refuse has it take no writes from now on, as a master does that has too few replicas.
func (s *Server) Refuse() {
	s.tb.Helper()
	if err := s.Client.ConfigSet(context.Background(), "min-replicas-to-write", "1").Err(); err != nil {
		s.tb.Fatal(err)
	}
}

// Await waits until what is asked gives no error. A Sentinel that had no processor for two seconds does nothing for
// half a minute.
func Await(tb testing.TB, what string, ask func() error) {
	tb.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := ask()
		if err == nil {
			return
		}
		if time.Now().After(late) {
			tb.Fatalf("%s does not come: %v", what, err)
		}
	}
}

// FreeAddress is one of loopback where nobody listens.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return fmt.Sprint(ln.Addr())
}

// StartSentinel starts a Sentinel with a file of its settings, and returns its address.
func StartSentinel(tb testing.TB, file, settings string) (address string) {
	tb.Helper()
	s := &Server{tb: tb, Address: FreeAddress(tb)}
	_, port, _ := net.SplitHostPort(s.Address)
	if err := os.WriteFile(file, []byte("port "+port+"\nbind 127.0.0.1\n"+settings), 0o600); err != nil {
		tb.Fatal(err)
	}
	s.args = []string{file, "--sentinel"}
	s.Client = redis.NewClient(&redis.Options{Addr: s.Address, MaxRetries: -1})
	tb.Cleanup(func() { _ = s.Client.Close() })
	s.Run()
	return s.Address
}
