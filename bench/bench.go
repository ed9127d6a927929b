// Package bench measures a running proxy from outside, as its users meet it.
//
// Load gives what a proxy adds to a direct call: latency, CPU, memory, throughput, delay of streamed chunks. Cancel
// gives the time from a client's leaving to the end of its upstream connection.
//
// Replay measures what shaping does to recorded conversations, in process or through a proxy, and without a model: tokens, the price under
// a provider's prompt cache, what a provider bills, and how much of what the agent needs is still there. Its figures depend on nothing but the
// conversations and the policies.
//
// It promises that everything compared was measured in one run, in short blocks that take turns, so that a noisy
// machine is noisy for all alike; that each contender is a process of its own; that every run is bounded in time and
// count, talks to loopback only, and ends the processes it started and no others. What cannot be measured here (no
// nginx, no /proc) is named in the report, never guessed.
//
// It does not promise figures that hold on another machine: absolute times must not be compared across runs.
package bench

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
)

// Contender is one proxy of a run.
type Contender struct {
	// Name stands in the report, e.g. "epitome".
	Name string
	// Command is the argv that runs the proxy in the foreground. In each word {listen} becomes the address to listen
	// on (host:port), {upstream} the upstream's base URL without a closing slash, {dir} an empty folder that is
	// removed afterwards. CPU and memory are those of this process, without its children.
	Command []string
	// URL is the base URL of a proxy that already runs, used when Command is empty: http and loopback only. Such a
	// proxy has no start, CPU or memory figures.
	URL string
	// Ready is the path that answers 200 once the proxy takes requests. Default "/", which goes to the upstream.
	Ready string

	// prepare writes what Command needs into dir before it starts; nil: nothing.
	prepare func(dir, listen, upstream string) error
	// fixed is the address to listen on; empty: a free loopback port.
	fixed string
}

// Lineup says who takes part in a run and where its progress is told.
type Lineup struct {
	// Proxies are the contenders beside nginx and the bare baseline. The first is the subject: the goals are about it.
	Proxies []Contender
	// Self is the argv prefix that runs this package's own roles: Self + "baseline --listen ADDR --upstream URL" must
	// call Baseline, Self + "upstream --listen ADDR" must call Upstream. Default: this executable and "bench".
	Self []string
	// Nginx is the nginx binary: a name on PATH or a path. Default "nginx"; "none" leaves it out.
	Nginx string
	// Progress gets a line per step. Default os.Stderr.
	Progress io.Writer
}

const (
	directName = "direct"
	nginxName  = "nginx"
	bareName   = "bare fasthttp"
)

func (l Lineup) withDefaults() (Lineup, error) {
	if len(l.Proxies) == 0 {
		return l, errors.New("cannot measure: no proxy given")
	}
	if l.Self == nil {
		exe, err := os.Executable()
		if err != nil {
			return l, fmt.Errorf("cannot find own executable: %w", err)
		}
		l.Self = []string{exe, "bench"}
	}
	if l.Nginx == "" {
		l.Nginx = "nginx"
	}
	if l.Progress == nil {
		l.Progress = os.Stderr
	}
	return l, nil
}

// contenders are the proxies in their order within a round: the subject, nginx, the baseline, any others. The second
// result tells what had to be left out.
func (l Lineup) contenders() (field []Contender, skipped []string) {
	field = append(field, l.Proxies[0])
	if l.Nginx == "none" {
		skipped = append(skipped, "nginx: left out by request")
	} else if c, err := nginxContender(l.Nginx); err != nil {
		skipped = append(skipped, err.Error())
	} else {
		field = append(field, c)
	}
	field = append(field, Contender{
		Name:    bareName,
		Command: append(append([]string{}, l.Self...), "baseline", "--listen", "{listen}", "--upstream", "{upstream}"),
	})
	return append(field, l.Proxies[1:]...), skipped
}

func (l Lineup) say(format string, args ...any) {
	fmt.Fprintf(l.Progress, "bench: "+format+"\n", args...)
}

// site is where a contender is reached.
type site struct {
	addr   string // host:port
	prefix string // path put before every target, no closing slash
}

// parseSite takes the base URL of a running proxy apart.
func parseSite(base string) (site, error) {
	u, err := url.Parse(base)
	if err != nil {
		return site{}, fmt.Errorf("cannot parse URL %q: %w", base, err)
	}
	if u.Scheme != "http" || u.Port() == "" {
		return site{}, fmt.Errorf("cannot use URL %q: want http://HOST:PORT", base)
	}
	if err = wantLoopback(u.Host); err != nil {
		return site{}, err
	}
	return site{addr: u.Host, prefix: strings.TrimSuffix(u.EscapedPath(), "/")}, nil
}

// wantLoopback refuses an address (host:port) outside this machine.
func wantLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("cannot use address %q: %w", addr, err)
	}
	ip := net.ParseIP(host)
	if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("cannot use address %q: measurements stay on loopback", addr)
	}
	return nil
}

// listenLoopback listens on an address of this machine only.
func listenLoopback(addr string) (net.Listener, error) {
	if err := wantLoopback(addr); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	return ln, nil
}
