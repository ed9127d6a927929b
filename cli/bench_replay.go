package cli

import (
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"epitome/bench/policy"
	"epitome/bench/replay"
	"epitome/bench/subject"
	"epitome/config"
)

// replayFlags are those of the command bench replay.
type replayFlags struct {
	verdict
	windows                               []string
	preset, dialect, model, summaries, by string
	cacheLife                             time.Duration
}

func (a *app) replayCommand() *cobra.Command {
	flags := replayFlags{summaries: "configured"}
	c := &cobra.Command{Use: "replay [PATH...]",
		Short: "Play recorded sessions, and measure what the ladder saves and loses",
		Long: "Play recorded sessions turn by turn, and measure what the ladder saves and loses. A PATH is a log, or a\n" +
			"folder of logs, of Claude Code, Codex, OpenCode, pi or Chat Completions requests. Without one, sessions are\n" +
			"made up.",
		RunE: func(_ *cobra.Command, paths []string) error { return a.replay(paths, flags) }}
	flags.addFlags(c)
	f := c.Flags()
	f.StringSliceVar(&flags.windows, "window", nil, "windows in `tokens`, as 32k or 200000 (default 32k,64k,128k,200k)")
	f.StringVar(&flags.preset, "preset", "", "use this preset in place of the configured one")
	choiceVar(c, f, &flags.dialect, "dialect", "play as chat, messages or responses (default: as the log's agent speaks)",
		"chat", "messages", "responses")
	f.StringVar(&flags.model, "model", "", "have all requests name this model")
	choiceVar(c, f, &flags.summaries, "summaries", "configured has a stand-in play the model, code asks none",
		"configured", "code")
	choiceVar(c, f, &flags.by, "by", "add the figures of each kind of session, or of each conversation", "kind",
		"conversation")
	f.DurationVar(&flags.cacheLife, "cache-life", 5*time.Minute, "how long the provider's cache holds a request; 0 means "+
		"for ever")
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
	var windows []int
	for _, text := range flags.windows {
		tokens, err := config.ParseWindow(text)
		if err != nil {
			return err
		}
		windows = append(windows, tokens)
	}
	if flags.cacheLife == 0 {
		flags.cacheLife = -1 // by which Provider means for ever
	}
	provider := replay.Provider{CacheLife: flags.cacheLife}
	subject := subject.Subject{Conf: conf, Unit: policy.Served(), Code: flags.summaries == "code"}
	ctx, stop := untilSignal()
	defer stop()
	r, err := replay.Run(ctx, replay.Options{
		Paths: paths, Sessions: 12, Seed: 1, Provider: provider, Unit: policy.Served(), Windows: windows, By: flags.by,
		Clients:  replay.Clients{Dialect: flags.dialect, Model: flags.model},
		Progress: os.Stderr, Live: isTerminal(os.Stderr),
		Policies: []policy.Policy{{Name: "epitome, " + conf.Rewrite.Preset, Open: subject.Open}},
	})
	if err != nil {
		return err
	}
	if err := flags.report(r); err != nil || r.Conversations > 0 {
		return err
	}
	return errors.New("cannot replay: there is no conversation; give session logs, or files with a Chat Completions " +
		"request each")
}
