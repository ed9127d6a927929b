package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"

	"epitome/cli/agent"
	"epitome/console"
	"epitome/console/figure"
)

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{Use: "run -- COMMAND [ARG...]", Short: "Run a command with its base URLs pointing at epitome",
		Long: "Run a command with its base URLs pointing at epitome, and start epitome if none runs. A base URL that is\n" +
			"set in OPENAI_BASE_URL, OPENAI_API_BASE, ANTHROPIC_BASE_URL or COPILOT_PROVIDER_BASE_URL becomes the upstream.",
		Args: atLeast(1, "a command, as in 'epitome run -- COMMAND'"),
		RunE: func(_ *cobra.Command, args []string) error { return a.run(args) }}
	c.Flags().SetInterspersed(false) // flags behind the command are its own
	return c
}

// run runs a command to its end through a proxy that it finds or starts. It changes only the command's environment and,
// for agents that read no base URL there, its arguments.
func (a *app) run(command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		fmt.Fprintf(os.Stderr, "epitome: cannot run %s: %v\n", command[0], errors.Unwrap(err))
		if errors.Is(err, fs.ErrPermission) {
			return exitStatus(126)
		}
		return exitStatus(127)
	}
	conf, home, err := a.loadWithFolder()
	if err != nil {
		return err
	}
	targets, err := agent.Targets(conf, os.Getenv, a.flags.Upstream != "")
	if err != nil {
		return err
	}
	finder := agent.Finder{Conf: conf, Home: home, Targets: targets, Quiet: !isTerminal(os.Stderr),
		Flags: agent.Flags{Config: a.file, Mode: a.flags.Mode, Upstream: a.flags.Upstream}}
	told := a.flags.Upstream != "" || a.file != "" || agent.HasProvider(os.Getenv)
	if !told {
		finder.Follow()
	}
	way := agent.Command{Args: command, Getenv: os.Getenv, Listen: conf.Listen, Told: told,
		ChatGPT: conf.Upstreams["chatgpt"].URL}.Find()
	finder.Targets = way.Extend(finder.Targets)
	proxy, err := finder.FindOrStart()
	if err != nil {
		return err
	}
	defer proxy.Release()
	defer reportRun(proxy)

	target, tools := finder.Targets[0], ""
	if way.URL != "" {
		target = finder.Targets[len(finder.Targets)-1]
	}
	if conf.Offload.TellsTool() {
		tools = proxy.URL() + "/-/mcp"
	}
	args, said := way.Arguments(proxy.Base(target), target.URL, tools)
	for _, sentence := range said {
		fmt.Fprintln(os.Stderr, "epitome: "+sentence)
	}
	child := exec.Command(path, slices.Concat(args, command[1:])...)
	child.Args[0] = command[0]
	child.Env = proxy.Environ(os.Environ(), finder.Targets)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	return passSignals(child)
}

// unreached is what to do if no request of an agent arrives.
const unreached = "an agent that reads neither OPENAI_BASE_URL nor ANTHROPIC_BASE_URL needs a setting of its own; " +
	"docs/agents.md has those of many"

// passSignals runs the command to its end and hands on the signals that come for it.
func passSignals(child *exec.Cmd) error {
	signals := make(chan os.Signal, 16)
	// a signal that this process is to ignore, the command is to ignore too
	if wanted := slices.DeleteFunc(passed(), signal.Ignored); len(wanted) > 0 {
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

// reportRun prints at a terminal what the proxy has done, if this run has started it, and else which one was used.
func reportRun(proxy *agent.Proxy) {
	if !isTerminal(os.Stderr) {
		return
	}
	text := "used the epitome on " + proxy.Listen
	if proxy.Started {
		t, err := proxy.Totals()
		if err != nil {
			return // the command's end is not to be spoilt
		}
		text = tally(t)
	}
	if proxy.Log != "" {
		text += "; log: " + proxy.Log
	}
	fmt.Fprintln(os.Stderr, "epitome: "+text)
}

// tally is one line about sums.
func tally(t console.Totals) string {
	switch {
	case t.Exchanges == 0:
		return "no request came: " + unreached
	case t.TokensBefore == 0:
		return fmt.Sprintf("%d requests, none of them a conversation", t.Exchanges)
	case t.TokensAfter >= t.TokensBefore:
		return fmt.Sprintf("%d requests, %s tokens; nothing was to be shortened", t.Exchanges,
			figure.Tokens(int64(t.TokensBefore)))
	}
	became := "became"
	if t.Observed {
		became = "would have become"
	}
	return fmt.Sprintf("%d requests, %s tokens %s %s (%.0f %% less); the largest request had %s, with epitome %s",
		t.Exchanges, figure.Tokens(int64(t.TokensBefore)), became, figure.Tokens(int64(t.TokensAfter)),
		100*float64(t.TokensBefore-t.TokensAfter)/float64(t.TokensBefore),
		figure.Tokens(int64(t.LargestBefore)), figure.Tokens(int64(t.LargestAfter)))
}
