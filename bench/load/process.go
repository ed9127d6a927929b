package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// process is a child that this package started; stop ends it.
type process struct {
	cmd    *exec.Cmd
	root   string        // folder with the child's own folder and its output; removed by stop
	exited chan struct{} // closed once the child has been waited for
}

const (
	// StartLimit is how long a contender may take until it is ready.
	StartLimit = time.Minute

	// stopLimit is how long it may take to leave after SIGTERM, where Contender.Leave does not say.
	stopLimit = 3 * time.Second
)

// mostPorts is how many ports are tried for one contender before its run fails.
const mostPorts = 20

// Lane is a contender that takes requests now.
type Lane struct {
	Name  string
	Addr  string        // host:port
	proc  *process      // nil: the direct call
	leave time.Duration // it may take so long after SIGTERM
	Ready time.Duration // from the start of the process to the first 200
}

// Launch starts c before the upstream at base URL upstream and waits until it is ready. The caller stops it.
func Launch(ctx context.Context, c Contender, upstream string) (*Lane, error) {
	for tries := 1; ; tries++ {
		listen, err := FreeAddress()
		if err != nil {
			return nil, err
		}
		run, err := launchAt(ctx, c, listen, upstream)
		if err == nil || !portTaken(err) || tries == mostPorts {
			return run, err
		}
	}
}

// portTaken reports whether a child could not start because another program took its port first.
func portTaken(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "address already in use") // of a child only words are known
}

// launchAt does what Launch does; listen is the address that c's command listens on.
func launchAt(ctx context.Context, c Contender, listen, upstream string) (*Lane, error) {
	began := time.Now()
	p, err := startProcess(c, listen, upstream)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", c.Name, err)
	}
	run := &Lane{Name: c.Name, Addr: listen, proc: p, leave: cmp.Or(c.Leave, stopLimit)}
	if err = p.awaitReady(ctx, run.Addr, c.Ready); err != nil {
		err = fmt.Errorf("cannot start %s: %w%s", c.Name, err, p.lastWords())
		p.stop(run.leave)
		return nil, err
	}
	run.Ready = time.Since(began)
	return run, nil
}

// FreeAddress returns a loopback address that was free a moment ago. Another program may take it before the child does.
func FreeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

// startProcess runs c's command. Its output goes to a file, so that no goroutine here spends time on it.
func startProcess(c Contender, listen, upstream string) (*process, error) {
	root, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	p := &process{root: root, exited: make(chan struct{})}
	if err = p.spawn(c, listen, upstream); err != nil {
		_ = os.RemoveAll(root)
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how a child ended matters only before it was ready, and lastWords tells that
		close(p.exited)
	}()
	return p, nil
}

func (p *process) spawn(c Contender, listen, upstream string) error {
	dir := filepath.Join(p.root, "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if c.prepare != nil {
		if err := c.prepare(dir, listen, upstream); err != nil {
			return err
		}
	}
	output, err := os.Create(p.outputPath())
	if err != nil {
		return err
	}
	defer output.Close() // the child has its own descriptor
	fill := strings.NewReplacer("{listen}", listen, "{upstream}", upstream, "{dir}", dir)
	argv := make([]string, len(c.Command))
	for i, word := range c.Command {
		argv[i] = fill.Replace(word)
	}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.SysProcAttr = childAttributes()
	return p.cmd.Start()
}

func (p *process) outputPath() string { return filepath.Join(p.root, "output") }

// awaitReady asks for path until it answers 200.
func (p *process) awaitReady(ctx context.Context, addr, path string) error {
	if path == "" {
		path = "/"
	}
	ask := GetRequest(addr, path)
	deadline := time.Now().Add(StartLimit)
	var last error
	for time.Now().Before(deadline) {
		if last = AskOnce(addr, ask); last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.exited:
			return errors.New("it ended at once")
		case <-time.After(time.Millisecond):
		}
	}
	return fmt.Errorf("not ready after %s: %w", StartLimit, last)
}

// AskOnce sends one request over a connection of its own; the answer has to be a good one.
func AskOnce(addr string, request []byte) error {
	c, err := Dial(addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Exchange(request)
}

// lastWords returns the end of the child's output, for an error message.
func (p *process) lastWords() string {
	const most = 1000 // bytes
	output, err := os.ReadFile(p.outputPath())
	if err != nil || len(output) == 0 {
		return ""
	}
	return "; it wrote: " + strings.TrimSpace(string(output[max(0, len(output)-most):]))
}

// stop ends the child, by force if it does not leave within limit, and removes its folder.
func (p *process) stop(limit time.Duration) {
	if p.cmd.Process.Signal(syscall.SIGTERM) != nil {
		_ = p.cmd.Process.Kill() // no SIGTERM on this system, or gone already
	}
	select {
	case <-p.exited:
	case <-time.After(limit):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	_ = os.RemoveAll(p.root)
}

// Stop ends the contender, if it was started here.
func (r *Lane) Stop() {
	if r.proc != nil {
		r.proc.stop(r.leave)
	}
}

// PID returns the contender's process id, 0 if it is not ours.
func (r *Lane) PID() int {
	if r.proc == nil {
		return 0
	}
	return r.proc.cmd.Process.Pid
}

// TurnLimit bounds one turn of one contender; a proxy that hangs fails the run instead of stopping it.
const TurnLimit = 30 * time.Second
