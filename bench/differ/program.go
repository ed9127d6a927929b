package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// program is an epitome that this process has started; stop ends it.
type program struct {
	cmd    *exec.Cmd
	url    string
	log    string        // file with all it printed
	exited chan struct{} // closed once it has been waited for
}

// How long a program may take until it is ready, and until it has left after SIGTERM.
const (
	readyLimit = time.Minute
	stopLimit  = time.Minute
)

// start runs a binary on an address, with a configuration file beside which it prints, and waits until it is ready.
// Texts name the address, so it stays the same for a whole run: if another program has it just then, start tries
// again.
func start(ctx context.Context, binary, listen, config string) (*program, error) {
	for end := time.Now().Add(readyLimit); ; time.Sleep(100 * time.Millisecond) {
		p, err := startOnce(ctx, binary, listen, config)
		if err == nil || !strings.Contains(err.Error(), "address already in use") || time.Now().After(end) {
			return p, err
		}
	}
}

func startOnce(ctx context.Context, binary, listen, config string) (*program, error) {
	p := &program{url: "http://" + listen, log: config + ".log", exited: make(chan struct{})}
	printed, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer printed.Close()
	p.cmd = exec.Command(binary, "--config", config, "--listen", listen, "serve")
	p.cmd.Dir = filepath.Dir(config)
	home := p.cmd.Dir // the user's own configuration must not matter
	p.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home)
	p.cmd.Stdout, p.cmd.Stderr = printed, printed
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", binary, err)
	}
	go func() {
		_ = p.cmd.Wait() // stop looks at how it ended
		close(p.exited)
	}()
	if err := p.awaitReady(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start %s: %w", binary, err), p.stop())
	}
	return p, nil
}

// awaitReady returns when the program takes requests.
func (p *program) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/-/ready", nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it has ended: %s", p.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop ends the program as a user does, and returns when it has ended. One that does not end is killed, which is an
// error.
func (p *program) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // one that has ended already is seen below
	select {
	case <-p.exited:
	case <-time.After(stopLimit):
		_ = p.cmd.Process.Kill()
		<-p.exited
		return fmt.Errorf("cannot stop process %d: it goes on after SIGTERM", p.cmd.Process.Pid)
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("cannot use what process %d has done: %s: %s",
			p.cmd.Process.Pid, p.cmd.ProcessState, p.lastWords())
	}
	return nil
}

// lastWords returns the end of what the program printed.
func (p *program) lastWords() string {
	const most = 600
	text, _ := os.ReadFile(p.log)
	return string(bytes.TrimSpace(text[max(0, len(text)-most):]))
}

// freeAddress returns a loopback address that was free a moment ago.
func freeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}
