package load

import (
	"bytes"
	"context"
	_ "embed"
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
	name  string
	addr  string    // host:port
	cmd   *exec.Cmd // nil for a direct call
	ready time.Duration
	stop  func() // ends the process, by force if it does not end within three seconds
}

// launch starts a contender and waits until it is ready. The caller stops it.
func launch(ctx context.Context, c contender, upstream string) (*lane, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "epitome-bench-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder: %w", err)
	}
	config, output := filepath.Join(dir, "config"), filepath.Join(dir, "output")
	fill := strings.NewReplacer("{listen}", addr, "{upstream}", upstream, "{dir}", dir, "{config}", config)
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, c.command[0])
	for _, word := range c.command[1:] {
		cmd.Args = append(cmd.Args, fill.Replace(word))
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	l := &lane{name: c.name, addr: addr, cmd: cmd, stop: func() {
		cancel()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}}
	if err := l.start(fill.Replace(c.config), config, output, c.ready); err != nil {
		text, _ := os.ReadFile(output)
		l.stop()
		return nil, fmt.Errorf("cannot start %s: %w: %s", c.name, err, bytes.TrimSpace(text))
	}
	return l, nil
}

// start runs the command, and asks for the path ready until it is answered. Config is the file for text. The output
// goes to a file as well, so that no goroutine here spends time on it.
func (l *lane) start(text, config, output, ready string) error {
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	defer file.Close() // the process has its own descriptor
	l.cmd.Stdout, l.cmd.Stderr = file, file
	began := time.Now()
	if err := l.cmd.Start(); err != nil {
		return err
	}
	client, request := l.client(1), l.request(ready, nil)
	for err = exchange(client, request); err != nil && time.Since(began) < 20*time.Second; {
		time.Sleep(time.Millisecond)
		err = exchange(client, request)
	}
	l.ready = time.Since(began)
	return err
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

// usage returns the CPU time of the process in µs and its resident memory in KB. They are known on Linux alone, and not
// of a direct call.
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
