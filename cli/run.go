package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/event/journal"
	"epitome/inject"
)

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{Use: "run [flags] -- COMMAND [ARG...]", Short: "Run a command with its base URLs pointing at epitome",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.run(args) }}
	c.Flags().SetInterspersed(false) // flags behind the command are its own
	return c
}

// run runs a command to its end, through the epitome that runs with the data folder. It changes only the command's
// environment and, for agents that read no base URL there, its arguments.
func (a *app) run(command []string) error {
	child := exec.Command(command[0])
	if child.Err != nil {
		warn("cannot run %s: %v", command[0], errors.Unwrap(child.Err))
		return exitStatus(127) // as shells report it
	}
	conf, err := a.load()
	if err != nil {
		return err
	}
	r, err := a.newRun(conf)
	if err != nil {
		return err
	}
	agent := strings.TrimSuffix(strings.ToLower(filepath.Base(command[0])), ".exe")
	all, err := a.providers(conf, r, agent)
	if err != nil {
		return err
	}
	if err := a.register(conf, r, all); err != nil {
		return err
	}
	args := r.arguments(agent, all, conf.Offload.TellsTool())
	child.Args = slices.Concat(command[:1], args, command[1:])
	child.Env = append(os.Environ(), r.environ(all)...)
	anthropic := all[1] // see findProviders
	_, isChosen := os.LookupEnv(toolSearch)
	if agent == "claude" && anthropic.url == "https://api.anthropic.com" && !isChosen {
		// Without it Claude Code, which sees epitome's address, would send the schemas of all tools at once.
		child.Env = append(child.Env, toolSearch+"=true")
	}
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = passSignals(child)
	r.tell(err)
	if r.Hosted {
		warn("'epitome open' and 'epitome stats' show it and earlier ones; log: %s", filepath.Join(r.folder, logFile))
	} else {
		warn("'epitome open' shows it, on %s", r.Listen)
	}
	return err
}

// providers returns the providers that an agent uses. Where neither the command line nor a configuration names an
// upstream, requests go to that of the epitome that runs, and a warning says so.
func (a *app) providers(conf config.Config, running run, agent string) ([]provider, error) {
	base, configured := running.Upstreams[running.Upstream], conf.Upstreams[conf.Upstream].URL
	adopts := base != "" && !conf.Named && a.file == ""
	if adopts {
		conf.AddUpstream(running.Upstream, base)
		conf.Upstream, conf.Named = running.Upstream, running.Named
	}
	all, err := findProviders(conf, a.flags.Upstream != "")
	if err != nil {
		return nil, err
	}
	moves := func(p provider) bool { return !p.isSet && p.upstream == conf.Upstream }
	if adopts && (running.Named || base != configured) && slices.ContainsFunc(all, moves) {
		which := "requests"
		if !running.Named {
			which = "requests to OpenAI's API"
		}
		warn("%s go to %s, the upstream of the epitome on %s; to send them elsewhere, add --upstream", which, base,
			running.Listen)
	}
	if agent == "codex" {
		p, err := codexProvider(conf, all[0], all[0].isSet || a.file != "")
		if err != nil {
			warn("%v", err)
		} else {
			all = append(all, p)
		}
	}
	return all, nil
}

// newRun returns a run that uses the epitome of the run around it, or else that of the data folder. The error says why it
// cannot.
func (a *app) newRun(conf config.Config) (r run, err error) {
	folder := conf.Data
	outer := os.Getenv(folderVariable)
	_, ended := daemon.Read(outer)
	if outer != "" && ended == nil {
		folder = outer
		if a.flags.Mode != "" {
			return r, errors.New("cannot give a run within a run a --mode of its own: give it to the outer one")
		}
	}
	listen := cmp.Or(a.flags.Listen, "127.0.0.1:0")
	if !console.Loopback(listen) {
		return r, fmt.Errorf("cannot listen on %s for one command, only on this machine; 'epitome serve' can", listen)
	}
	h, err := a.join(folder, conf, listen)
	if err != nil {
		return r, err
	}
	if err := a.checkFit(conf, h); err != nil {
		return r, fmt.Errorf("cannot use the epitome on %s, which runs with the data folder %s: %w; end it, or give "+
			"another folder with --data", h.Listen, folder, err)
	}
	if h.Hosted {
		go h.keep()
	}
	return run{h, rand.Text()[:8]}, nil
}

// checkFit says why a command cannot use an epitome.
func (a *app) checkFit(conf config.Config, h *host) error {
	listen := config.Reachable(a.flags.Listen)
	_, port, _ := net.SplitHostPort(listen)
	switch {
	case h.TLS:
		return errors.New("it speaks TLS, and commands do not know its certificate")
	case h.Keyed:
		return errors.New("its clients need keys, and commands have none")
	case listen != "" && port != "0" && listen != h.Listen:
		return fmt.Errorf("it does not listen on %s", listen)
	case a.file == "" || conf.File() == h.File:
		return nil
	}
	running, err := config.Load(a.defaults, h.File, config.Overrides{Data: conf.Data})
	if err != nil {
		return err
	}
	keys := config.Differ(running, conf)
	if len(keys) > 0 {
		return fmt.Errorf("its configuration has other values for %s", strings.Join(keys, ", "))
	}
	return nil
}

// register writes what holds for the requests of this run alone into the data folder, where each epitome finds it.
func (a *app) register(conf config.Config, r run, all []provider) error {
	own := daemon.Run{Upstreams: map[string]string{}}
	own.Mode = a.flags.Mode
	if a.file != "" {
		own.Mode, own.Preset = conf.Mode, conf.Rewrite.Preset
	}
	for _, p := range all {
		if !r.leads(p.url) {
			own.Upstreams[r.nameOf(p)] = p.url
		}
	}
	if r.Runtime {
		folder, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("cannot tell the agent about this machine: %w; set context.runtime = false", err)
		}
		own.Runtime = inject.Describe(folder)
	}
	err := own.Write(r.folder, r.id, time.Now().Add(-conf.Store.Keep.D()))
	if err != nil {
		return fmt.Errorf("cannot write to the data folder: %w; give another one with --data", err)
	}
	return nil
}

// passSignals runs a command to its end and hands on the signals that come for it, but for those of a terminal's keys:
// the terminal sends them to both, and a second interrupt makes many agents quit.
func passSignals(child *exec.Cmd) error {
	signals := make(chan os.Signal, 16)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // or else the command is to ignore it, too
			signal.Notify(signals, s)
		}
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
			if isKey := s == syscall.SIGINT || s == syscall.SIGQUIT; !isKey || !isTerminal(os.Stdin) {
				_ = child.Process.Signal(s) // which Windows cannot
			}
		}
	}
}

// tell prints what epitome has done for the command, which has ended so. In a run within a run, the outer one tells it.
func (r run) tell(ended error) {
	if r.folder == os.Getenv(folderVariable) {
		return
	}
	card, err := daemon.Read(r.folder)
	var done journal.Run
	if err == nil {
		err = card.Search("/-/api/runs/"+r.id, &done)
	}
	if err != nil {
		warn("cannot tell what became of this run: %v", err)
		return
	}
	if done.Sums.Exchanges == 0 && ended != nil {
		warn("no request came before the command ended: %v", ended)
		return
	}
	if done.Sums.Exchanges == 0 {
		warn("no request came: an agent that reads neither OPENAI_BASE_URL nor ANTHROPIC_BASE_URL needs a setting of its " +
			"own; docs/agents.md has those of many")
		return
	}
	var text strings.Builder
	_ = show(&text, "run", 0, done) // memory takes it
	warn("%s", text.String())
}

// toolSearch has Claude Code send the schemas of tools as they are needed. Some of its versions only do so if they see
// Anthropic's own address, or this variable. Settings of the user's, in files or arguments, override it.
const toolSearch = "ENABLE_TOOL_SEARCH"
