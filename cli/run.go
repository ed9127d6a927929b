package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"time"

	"epitome/instance"
	"epitome/instance/agent"
)

type runCmd struct {
	Command []string `arg:"" optional:"" passthrough:"" placeholder:"CMD" help:"The command and its arguments, best after --. A base URL in OPENAI_BASE_URL, OPENAI_API_BASE, ANTHROPIC_BASE_URL or COPILOT_PROVIDER_BASE_URL becomes the upstream."`
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
	conf, err := c.load()
	if err != nil {
		return err
	}
	want := instance.TargetsOf(conf, os.Getenv, c.Upstream != "")
	if err := instance.CheckEnviron(os.Getenv); err != nil {
		return err
	}
	if c.Upstream != "" && want[0].URL != instance.TrimSlash(conf.Upstreams[conf.Upstream].URL) {
		return fmt.Errorf("cannot follow both --upstream %s and OPENAI_BASE_URL, which is set to %s: unset one of them", c.Upstream, want[0].URL)
	}
	home, err := conf.DataFolder()
	if err != nil {
		return err
	}
	finder := instance.Finder{
		Conf: conf, Flags: instance.Flags{Config: c.Config, Mode: c.Mode, Upstream: c.Upstream},
		Home: home, Want: want, Quiet: !isTerminal(os.Stderr),
	}
	if c.Upstream == "" && c.Config == "" && !instance.IsTold(os.Getenv) {
		finder.Want = finder.Follow()
	}
	way := agent.Find(agent.Place{Command: command, Getenv: os.Getenv, Listen: conf.Listen,
		Told: c.Upstream != "" || c.Config != "" || instance.IsTold(os.Getenv), ChatGPT: conf.Upstreams["chatgpt"].URL})
	finder.Want = reach(finder.Want, way)
	found, err := finder.FindOrStart()
	if err != nil {
		return err
	}
	defer found.Release()
	defer tell(found)
	child := exec.Command(path, append(settingOf(way, found, finder), command[1:]...)...)
	child.Args[0] = command[0]
	child.Env = found.Environ(os.Environ(), finder.Want)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if found.Started && !(isTerminal(os.Stdin) && isTerminal(os.Stdout)) { // else the agent may draw on the screen
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go func() {
			select {
			case <-ctx.Done():
			case <-time.After(silence):
				if t, err := found.Totals(); err == nil && t.Exchanges == 0 && t.InFlight == 0 {
					fmt.Fprintf(os.Stderr, "epitome: no request has come in %v: %s\n", silence, unreached)
				}
			}
		}()
	}
	return passSignals(child)
}

// silence is how long an agent may take to its first request before that is told.
const silence = 30 * time.Second

// reach adds to what a command would talk to what its agent does besides.
func reach(want []instance.Target, way agent.Way) []instance.Target {
	if way.URL != "" {
		want = append(want, instance.TargetAt(way.URL, way.Upstream))
	}
	n := 0
	if way.Messages {
		n = 1
	}
	want[n] = want[n].With(way.Vars...)
	return want
}

// settingOf are the arguments that the agent needs besides its own, and says so. It says, too, what the user has to do
// where none helps.
func settingOf(way agent.Way, found *instance.Running, finder instance.Finder) []string {
	target, tools := finder.Want[0], ""
	if way.URL != "" {
		target = finder.Want[len(finder.Want)-1]
	}
	if finder.Conf.Offload.TellsTool() {
		tools = found.Tools()
	}
	args, said := way.Arguments(found.Base(target), target.URL, tools)
	for _, line := range said {
		fmt.Fprintln(os.Stderr, "epitome: "+line)
	}
	return args
}

// passSignals runs the command to its end and hands on the signals that come for it.
func passSignals(child *exec.Cmd) error {
	signals := make(chan os.Signal, 16)
	// what we are to ignore, the command is too
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

// tell says at the end of a run, to who sits at the terminal, what the proxy has done. One that others use has done
// it for them as well: it is only named.
func tell(r *instance.Running) {
	if !isTerminal(os.Stderr) {
		return
	}
	said := "used the epitome on " + r.Listen
	if r.Started {
		t, err := r.Totals()
		if err != nil {
			return // there is nothing to tell, and the command's end is not to be spoilt
		}
		said = tally(t)
	}
	if r.Log != "" {
		said += "; log: " + r.Log
	}
	fmt.Fprintln(os.Stderr, "epitome: "+said)
}
