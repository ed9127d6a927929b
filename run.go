package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

type runCmd struct {
	Command []string `arg:"" optional:"" passthrough:"" placeholder:"CMD" help:"The command and its arguments, best after --. A base URL in OPENAI_BASE_URL, OPENAI_API_BASE or ANTHROPIC_BASE_URL becomes the upstream."`
}

// Run finds or starts a proxy that has the upstreams the command would talk to, and runs the command with its
// base URLs pointing there. Nothing but the command's environment is changed.
func (k runCmd) Run(c *cli) error {
	command := k.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return errors.New("cannot run nothing: give a command, as in 'epitome run -- CMD'")
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		fmt.Fprintf(os.Stderr, "epitome: cannot run %s: %v\n", command[0], errors.Unwrap(err))
		if errors.Is(err, fs.ErrPermission) {
			return exitStatus(126)
		}
		return exitStatus(127)
	}
	conf, err := Load(defaultConfig, c.Config, c.overrides())
	if err != nil {
		return err
	}
	want := wanted(conf, os.Getenv)
	if err := unambiguous(os.Getenv); err != nil {
		return err
	}
	if c.Upstream != "" && want[0].url != trimSlash(conf.Upstreams[conf.Upstream].URL) {
		return fmt.Errorf("cannot follow both --upstream %s and OPENAI_BASE_URL, which is set to %s: unset one of them", c.Upstream, want[0].url)
	}
	home, err := dataFolder(conf)
	if err != nil {
		return err
	}
	found, err := search{c, conf, home, want}.findOrStart()
	if err != nil {
		return err
	}
	defer found.release()
	defer found.tell()
	child := exec.Command(path, command[1:]...)
	child.Args[0] = command[0]
	child.Env = found.environ(os.Environ(), want)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	return passSignals(child)
}

// target is one provider that the command would talk to.
type target struct {
	vars []string // environment variables that carry its base URL
	url  string   // its base URL without epitome
	name string   // for an upstream made for it
	like string   // the upstream to prefer of those with this base URL
	v1   bool     // base URLs in these variables end in /v1 when nothing else is said
}

// The upstreams that are made for a run.
const (
	runOpenAI    = "run-openai"
	runAnthropic = "run-anthropic"
)

// wanted reads where the command would go: a base URL that is set already is its upstream.
func wanted(conf Config, getenv func(string) string) []target {
	openai := cmp.Or(getenv("OPENAI_BASE_URL"), getenv("OPENAI_API_BASE"))
	anthropic := getenv("ANTHROPIC_BASE_URL")
	return []target{
		{vars: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, name: runOpenAI, like: conf.Upstream, v1: openai == "",
			url: trimSlash(cmp.Or(openai, conf.Upstreams[conf.Upstream].URL))},
		{vars: []string{"ANTHROPIC_BASE_URL"}, name: runAnthropic, like: "anthropic",
			url: trimSlash(cmp.Or(anthropic, conf.Upstreams["anthropic"].URL))},
	}
}

// unambiguous refuses an environment that does not say clearly where the command would go.
func unambiguous(getenv func(string) string) error {
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL"} {
		if value := getenv(name); value != "" {
			if err := checkURL(value); err != nil {
				return fmt.Errorf("cannot use %s: %w", name, err)
			}
		}
	}
	now, old := getenv("OPENAI_BASE_URL"), getenv("OPENAI_API_BASE")
	if now != "" && old != "" && trimSlash(now) != trimSlash(old) {
		return errors.New("cannot follow both OPENAI_BASE_URL and OPENAI_API_BASE, which differ: unset one of them")
	}
	return nil
}

func trimSlash(base string) string { return strings.TrimRight(base, "/") }

// running is a proxy that has answered and proved itself.
type running struct {
	address   string // http://host:port
	upstreams map[string]string
	badge     *badge
	mode      string
	settings  string // the badge's mark of what it is configured to do
	build     string // and of the program and its way to the network
	lease     io.Closer
	log       string // path; empty if a run has not started it
	started   bool   // by this run
}

// hold takes a lease.
func (r *running) hold() bool {
	lease, err := r.badge.lease()
	r.lease = lease
	return err == nil
}

func (r *running) release() { _ = r.lease.Close() }

// runsAs reports whether the proxy does what the configuration says.
func (r *running) runsAs(conf Config) bool {
	return r.mode == conf.Mode && r.settings == r.badge.mark(settingsOf(conf))
}

// has finds an upstream with exactly this base URL; which one it is decides over the headers that it adds.
func (r *running) has(t target) (name string, ok bool) {
	if base, ok := r.upstreams[t.like]; ok && trimSlash(base) == t.url {
		return t.like, true
	}
	for _, name := range slices.Sorted(maps.Keys(r.upstreams)) {
		if trimSlash(r.upstreams[name]) == t.url {
			return name, true
		}
	}
	return "", false
}

// serves reports whether the proxy has every upstream wanted, or is itself what a base URL points at.
func (r *running) serves(want []target) bool {
	for _, t := range want {
		if _, ok := r.has(t); !ok && !r.is(t.url) {
			return false
		}
	}
	return true
}

// is reports whether a base URL points at this proxy already, as in a command run by a command.
func (r *running) is(base string) bool {
	return base == r.address || strings.HasPrefix(base, r.address+"/")
}

// environ is the command's environment: the caller's, with the base URLs replaced.
func (r *running) environ(env []string, want []target) []string {
	for _, t := range want {
		base := t.url
		if name, ok := r.has(t); ok && !r.is(t.url) {
			base = r.address + "/u/" + name
			if t.v1 || strings.HasSuffix(t.url, "/v1") {
				base += "/v1"
			}
		}
		for _, v := range t.vars {
			env = append(env, v+"="+base)
		}
	}
	return append(env, around(env, r.address)...)
}

// around keeps clients that use a forward proxy from sending it what is meant for epitome.
func around(env []string, address string) (more []string) {
	vars := make(map[string]string)
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	if cmp.Or(vars["HTTP_PROXY"], vars["http_proxy"], vars["ALL_PROXY"], vars["all_proxy"]) == "" {
		return nil
	}
	host, _, _ := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		list := cmp.Or(vars[name], vars["NO_PROXY"], vars["no_proxy"])
		if list != "*" { // which is for all, alone only
			list = strings.TrimPrefix(list+","+host, ",")
		}
		more = append(more, name+"="+list)
	}
	return more
}

// passSignals runs the command to its end and hands on the signals that come for it.
func passSignals(child *exec.Cmd) error {
	signals := make(chan os.Signal, 16)
	if wanted := slices.DeleteFunc(passed(), signal.Ignored); len(wanted) > 0 { // what we are to ignore, the command is too
		signal.Notify(signals, wanted...)
	}
	defer signal.Stop(signals)
	if err := child.Start(); err != nil {
		return fmt.Errorf("cannot run %s: %w", child.Path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for {
		select {
		case err := <-ended:
			return err
		case s := <-signals:
			if !fromTerminal(s) {
				_ = child.Process.Signal(s)
			}
		}
	}
}
