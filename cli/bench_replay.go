package cli

import (
	"os"

	"github.com/spf13/cobra"

	"epitome/bench/replay"
	"epitome/config"
)

// replayFlags are those of the command bench replay.
type replayFlags struct {
	verdict
	windows []string
	preset  string
}

func (a *app) replayCommand() *cobra.Command {
	var flags replayFlags
	c := &cobra.Command{
		Use:   "replay PATH...",
		Short: "Play recorded sessions, and measure what the ladder saves and loses",
		Long: "Play recorded sessions turn by turn, and measure what the ladder saves and loses. A PATH is a log, or\n" +
			"a folder of logs, of Claude Code, Codex, OpenCode, pi or Chat Completions requests.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error { return a.replay(paths, flags) },
	}
	flags.addFlags(c)
	f := c.Flags()
	f.StringSliceVar(&flags.windows, "window", nil, "windows in `tokens`, as 32k or 200000 (default 32k,64k,128k,200k)")
	f.StringVar(&flags.preset, "preset", "", "use this preset in place of the configured one")
	return c
}

// replay plays the sessions in paths, and prints the report.
func (a *app) replay(paths []string, flags replayFlags) error {
	conf, err := a.load()
	if err != nil {
		return err
	}
	if err := setPreset(&conf, flags.preset); err != nil {
		return err
	}
	o := replay.Options{Paths: paths, Config: conf, Progress: os.Stderr}
	for _, text := range flags.windows {
		tokens, err := config.ParseWindow(text)
		if err != nil {
			return err
		}
		o.Windows = append(o.Windows, tokens)
	}
	ctx, stop := untilSignal()
	defer stop()
	r, err := replay.Run(ctx, o)
	if err != nil {
		return err
	}
	return flags.report(r)
}
