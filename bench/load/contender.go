package load

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// Names of contenders in the report.
const (
	direct  = "direct" // a call without a proxy
	subject = "epitome"
	nginx   = "nginx"
	bare    = "bare fasthttp"
)

// contender is a proxy that takes part. In its command and configuration {listen} stands for the address to listen on,
// {upstream} for that of the upstream, {dir} for a folder of its own, and {config} for the file of its configuration.
type contender struct {
	name    string
	command []string
	config  string
	ready   string // path that answers 200 once the proxy takes requests
}

//go:embed nginx.conf
var nginxConfig string

// epitomeConfig has epitome leave the bodies as they are.
const epitomeConfig = "[rewrite]\nrent = 0.0\n"

// contenders returns the proxies in the order of their turns.
func contenders(program string, against []string) (all []contender) {
	for i, path := range append([]string{program}, against...) {
		name := subject
		if i > 0 {
			name = fmt.Sprintf("%d: %s", i, filepath.Base(path))
		}
		all = append(all, contender{name: name, config: epitomeConfig, ready: "/-/ready",
			command: []string{path, "serve", "--config", "{config}", "--listen", "{listen}", "--upstream",
				"http://{upstream}", "--data", "{dir}"}})
	}
	all = append(all, contender{name: bare, ready: "/", command: []string{program, "bench", "baseline",
		"--listen", "{listen}", "--upstream", "{upstream}"}})
	if path, err := exec.LookPath(nginx); err == nil {
		all = append(all, contender{name: nginx, config: nginxConfig, ready: "/",
			command: []string{path, "-e", "{dir}/error.log", "-p", "{dir}", "-c", "{config}"}})
	}
	return all
}

// lane is a contender that takes requests.
type lane struct {
	name   string
	addr   string // host:port
	dir    string
	cmd    *exec.Cmd     // nil for a direct call, and before the start
	ready  time.Duration // from the start of the process
	exited chan struct{}
}

// launch starts a contender and waits until it is ready. The caller stops it.
func launch(ctx context.Context, c contender, upstream string) (l *lane, err error) {
	l = &lane{name: c.name, exited: make(chan struct{})}
	if l.addr, err = freeAddress(); err != nil {
		return nil, err
	}
	if l.dir, err = os.MkdirTemp("", "epitome-bench-"); err != nil {
		return nil, fmt.Errorf("cannot make a folder: %w", err)
	}
	began := time.Now()
	if err = l.start(c, upstream); err == nil {
		err = l.awaitReady(ctx, c.ready)
	}
	if err != nil {
		output, _ := os.ReadFile(filepath.Join(l.dir, "output"))
		l.stop()
		return nil, fmt.Errorf("cannot start %s: %w: %s", c.name, err, bytes.TrimSpace(output))
	}
	l.ready = time.Since(began)
	return l, nil
}

// start runs the contender's command. Its output goes to a file, so that no goroutine here spends time on it.
func (l *lane) start(c contender, upstream string) error {
	config := filepath.Join(l.dir, "config")
	fill := strings.NewReplacer("{listen}", l.addr, "{upstream}", upstream, "{dir}", l.dir, "{config}", config)
	if err := os.WriteFile(config, []byte(fill.Replace(c.config)), 0o600); err != nil {
		return err
	}
	output, err := os.Create(filepath.Join(l.dir, "output"))
	if err != nil {
		return err
	}
	defer output.Close() // the process has its own descriptor
	cmd := exec.Command(c.command[0])
	for _, word := range c.command[1:] {
		cmd.Args = append(cmd.Args, fill.Replace(word))
	}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		return err
	}
	l.cmd = cmd
	go func() {
		_ = cmd.Wait()
		close(l.exited)
	}()
	return nil
}

// freeAddress returns a loopback address that nobody listens on.
func freeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

// awaitReady asks for path until it is answered.
func (l *lane) awaitReady(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client, request := l.client(1), l.request(path, nil)
	for exchange(client, request) != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.exited:
			return errors.New("it ended")
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// stop ends the process, by force if it does not end within three seconds, and removes its folder.
func (l *lane) stop() {
	defer os.RemoveAll(l.dir)
	if l.cmd == nil {
		return
	}
	if l.cmd.Process.Signal(syscall.SIGTERM) != nil {
		_ = l.cmd.Process.Kill() // this system has no SIGTERM
	}
	timer := time.AfterFunc(3*time.Second, func() { _ = l.cmd.Process.Kill() })
	defer timer.Stop()
	<-l.exited
}

// usage returns the CPU time of the process in µs and its resident memory in KB; ok is false where it is not known: of a
// direct call, and on other systems than Linux.
func (l *lane) usage() (cpu, memory float64, ok bool) {
	if l.cmd == nil {
		return 0, 0, false
	}
	p, err := procfs.NewProc(l.cmd.Process.Pid)
	if err != nil {
		return 0, 0, false
	}
	stat, err := p.Stat()
	return stat.CPUTime() * 1e6, float64(stat.ResidentMemory()) / 1024, err == nil
}
