package load

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"
)

// Names of contenders in the report.
const (
	direct  = "direct" // a call without a proxy
	subject = "epitome"
	bare    = "bare fasthttp"
)

// contender takes requests: a proxy, or the upstream itself.
type contender struct {
	name    string
	command []string    // of a proxy, without the address to listen on
	dir     string      // of a proxy's files
	addr    string      // host:port
	process *os.Process // nil for the upstream
}

// contenders returns what Run measures before an upstream. Proxies keep their files in dir.
func contenders(o Options, dir, upstream string) ([]*contender, error) {
	config := filepath.Join(dir, "config.toml")
	proxy := func(name, program string, command ...string) *contender {
		command = append([]string{program, "--upstream", "http://" + upstream, "--config", config}, command...)
		return &contender{name: name, dir: dir, command: command}
	}
	all := []*contender{proxy(subject, o.Program, "serve"), {name: direct, addr: upstream},
		proxy(bare, o.Program, "bench", "baseline")}
	for i, path := range o.Against {
		all = append(all, proxy(fmt.Sprintf("%d: %s", i+1, filepath.Base(path)), path, "serve"))
	}
	// Results of bash are replaced, and old results once half a million tokens fill up; all else passes unchanged.
	settings := "rewrite.rent = 0.0\nrewrite.offload_tokens = 1000\nwindow.models." + largeModel + " = \"500k\"\n"
	return all, os.WriteFile(config, []byte(settings), 0o600)
}

// start starts a process of the proxy, and returns when it takes requests. The caller calls stop, which kills it.
func (c *contender) start() (stop func(), err error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c.addr = free.Addr().String()
	_ = free.Close()
	log, err := os.Create(filepath.Join(c.dir, "log")) // a pipe would cost time here
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own descriptor
	flags := []string{"--listen", c.addr, "--data", filepath.Join(c.dir, c.addr)}
	p := exec.Command(c.command[0], append(c.command[1:], flags...)...)
	p.Stderr = log
	if err := p.Start(); err != nil {
		return nil, err
	}
	c.process, stop = p.Process, func() { _, _ = p.Process.Kill(), p.Wait() }
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(time.Millisecond) {
		// The bare proxy passes this on, and the upstream answers.
		if status, _, _ := fasthttp.Get(nil, "http://"+c.addr+"/-/ready"); status == fasthttp.StatusOK {
			return stop, nil
		}
	}
	stop()
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("it is not ready: %s", text)
}

// usage returns the CPU time of the process in µs and its resident memory in KB, now and at most. Where they are not
// known they are 0: for a direct call, and on other systems than Linux.
func (c *contender) usage() (cpu, memory, peak float64) {
	if c.process == nil {
		return 0, 0, 0
	}
	process, err := procfs.NewProc(c.process.Pid)
	if err != nil {
		return 0, 0, 0
	}
	stat, failed := process.Stat()
	status, err := process.NewStatus()
	if errors.Join(failed, err) != nil {
		return 0, 0, 0
	}
	return stat.CPUTime() * 1e6, float64(status.VmRSS) / 1024, float64(status.VmHWM) / 1024
}

// answerLimit bounds one exchange: a proxy that hangs fails the run.
const answerLimit = time.Minute

// request returns a request with a body. Phase is waiting or streaming if the upstream holds it, or else empty.
func (c *contender) request(phase string, body []byte) *fasthttp.Request {
	r := &fasthttp.Request{}
	r.SetRequestURI("http://" + c.addr + "/v1/chat/completions?bench=" + phase)
	r.Header.SetMethod(fasthttp.MethodPost)
	r.Header.SetContentType("application/json")
	r.Header.Set("Authorization", "Bearer bench")
	r.SetBodyRaw(body)
	return r
}

// sendFor sends requests over each of several connections for some time, at least one, and reads the whole responses.
// It returns the time of each exchange in µs, and the least number of bytes of a body that arrived.
func (c *contender) sendFor(length time.Duration, body []byte, conns int) ([]float64, int, error) {
	client := &fasthttp.HostClient{Addr: c.addr, MaxConns: conns, ReadTimeout: answerLimit, WriteTimeout: answerLimit,
		MaxIdemponentCallAttempts: 1}
	defer client.CloseIdleConnections()
	took, arrived := make([][]float64, conns), slices.Repeat([]int{len(body)}, conns)
	var group errgroup.Group
	for i := range took {
		group.Go(func() error {
			request, response := c.request("", body), &fasthttp.Response{}
			for began := time.Now(); len(took[i]) == 0 || time.Since(began) < length; {
				sent := time.Now()
				err := client.Do(request, response)
				took[i] = append(took[i], 1000*milliseconds(time.Since(sent)))
				if err != nil {
					return err
				}
				n, err := strconv.Atoi(string(response.Header.Peek(lengthHeader)))
				if err != nil || n > len(body) {
					return fmt.Errorf("of %d bytes %d arrived: %.200q", len(body), n, response.Body())
				}
				arrived[i] = min(arrived[i], n)
			}
			return nil
		})
	}
	err := group.Wait()
	return slices.Concat(took...), slices.Min(arrived), err
}

// open sends a request that the upstream holds, over a connection of its own, which the caller closes. Gone gets the
// time at which the upstream's connection ends.
func (r *run) open(c *contender, phase string) (conn net.Conn, gone chan time.Time, err error) {
	if conn, err = net.Dial("tcp", c.addr); err != nil {
		return nil, nil, err
	}
	if _, err = c.request(phase, chatBody(2<<10)).WriteTo(conn); err != nil {
		return nil, nil, err
	}
	select {
	case gone = <-r.upstream.held:
		return conn, gone, nil
	case <-time.After(answerLimit):
		return nil, nil, errors.New("the request does not reach the upstream")
	}
}
