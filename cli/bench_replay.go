package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"epitome/bench/policy"
	"epitome/bench/replay"
	"epitome/bench/subject"
	"epitome/config"
	"epitome/daemon"
	"epitome/internal/unit"
)

type replayCmd struct {
	verdict
	Paths      []string `arg:"" optional:"" placeholder:"PATHS" help:"Logs of sessions, or folders of logs: Claude Code, Codex, OpenCode, pi, Chat Completions requests. Default: made-up sessions."`
	Window     []string `placeholder:"TOKENS" help:"Windows in tokens to play in, as 32k or 200000. Default: 32k,64k,128k,200k."`
	Preset     string   `placeholder:"NAME" help:"Preset to use. Default: the configured one."`
	Characters bool     `group:"develop" help:"Count characters / 3.6, in all figures and for all policies. By default tokens are those of the models that the files name, as epitome counts them when it serves."`
	Sessions   uint     `group:"develop" default:"12" placeholder:"N" help:"How many sessions to make up if no PATHS are given. Default: ${default}."`
	Seed       uint64   `group:"develop" default:"1" placeholder:"N" help:"Number that made-up sessions are made from. Equal seeds make equal sessions. Default: ${default}."`
	Summaries  string   `enum:"configured,code" default:"configured" placeholder:"HOW" help:"How epitome makes summaries. configured: as [summarize] says; a stand-in plays the model, and the bill includes it. code: without a model. Default: ${default}."`
	Bar        bool     `group:"develop" help:"Compare the figures with the project's goals, which were set on its own collection of conversations."`
	By         string   `placeholder:"WHAT" enum:",kind,conversation" default:"" help:"kind adds the figures of each kind of session: what the files' names begin with, as in KIND-NAME.json, or what the tools are for. conversation adds those of each conversation."`
	Misses     int      `group:"develop" placeholder:"N" help:"List, for each policy and window, the first N names that an answer needed and its request lacked."`
	Program    []string `group:"develop" placeholder:"FILE" help:"Also play through the epitome in this file, served once for each window, with summaries by code."`
	replayClients
	replayProvider
}

// replayClients are the flags that say how all conversations are played, whoever had them.
type replayClients struct {
	Dialect string `placeholder:"NAME" enum:",chat,messages,responses" default:"" help:"What conversations are played as: chat for Chat Completions, messages for Anthropic Messages, responses for OpenAI Responses, the last two with a strict server as the provider. Default: messages for logs of Claude Code, responses for those of Codex, chat for all others."`
	Model   string `placeholder:"NAME" help:"Model that all requests name. Default: the one that each log names."`
	Thought int    `group:"develop" placeholder:"TOKENS" help:"In Messages, begin each answer with about so many tokens of made-up thinking, where the log has none."`
}

// replayProvider are the flags that say what the provider charges.
type replayProvider struct {
	WritePrice float64       `group:"develop" placeholder:"TIMES" help:"Price of a token that is new to the provider's cache. Default: 1, and 1.25 for those that Messages mark."`
	Prices     bool          `help:"Bill by the prices of the models that requests name, built in or from [prices], and let epitome go by them. By default a cached token costs a tenth of a new one, so that figures can be compared."`
	CacheLife  unit.Duration `default:"5m" placeholder:"TIME" help:"How long the provider's cache holds a request, for the bill, where logs have times. 0s means for ever. cache_life in the configuration is what epitome assumes. Default: ${default}."`
}

// byCode is the value of --summaries by which no model is asked.
const byCode = "code"

// mostSessions is more than anybody waits for.
const mostSessions = 100_000

func (k replayCmd) Run(c *cli) error {
	conf, err := c.load()
	if err != nil {
		return err
	}
	limits := conf.Rewrite
	if k.Preset != "" {
		if err := limits.SetPreset(k.Preset); err != nil {
			return fmt.Errorf("cannot use preset %q: %w", k.Preset, err)
		}
	}
	windows, err := tokensOf(k.Window)
	if err != nil {
		return err
	}
	if k.WritePrice != 0 && !(k.WritePrice >= 0.1 && k.WritePrice <= 10) { // nor what is not a number
		return fmt.Errorf("cannot use write price %g: write how many times the price of an uncached token it is, from 0.1 to 10", k.WritePrice)
	}
	counted := policy.Served()
	if k.Characters {
		counted = policy.Unit{}
	}
	how := subject.Subject{Conf: conf, Unit: counted, Code: k.Summaries == byCode}
	how.Conf.Rewrite, how.List = limits, k.Prices
	if k.Misses < 0 {
		return fmt.Errorf("cannot list %d misses: write how many, or leave it out", k.Misses)
	}
	ctx, stop := untilSignal()
	defer stop()
	opts := replay.Options{
		Paths: k.Paths, Sessions: int(min(k.Sessions, mostSessions)), Seed: k.Seed,
		Provider: k.provider(conf), Unit: counted,
		Clients: replay.Clients(k.replayClients),
		Windows: windows, Bar: k.Bar, By: k.By,
		Misses: k.Misses, Progress: os.Stderr, Live: isTerminal(os.Stderr),
		Policies: []policy.Policy{{Name: "epitome, " + limits.Preset, Open: how.Open}},
	}
	for _, path := range k.Program {
		p, err := subject.Open(path, limits.Preset, counted)
		if err != nil {
			return err
		}
		defer p.Close()
		opts.Guests = append(opts.Guests, p.Policy())
	}
	r, err := replay.Run(ctx, opts)
	if err != nil {
		return err
	}
	if err := k.report(r); err != nil || r.Conversations > 0 {
		return err
	}
	return errors.New("cannot replay: there is no conversation; give logs of sessions, files with a chat-completions request each, or folders of such")
}

// provider is what the flags say that the provider charges.
func (k replayCmd) provider(conf config.Config) replay.Provider {
	p := replay.Provider{WritePrice: k.WritePrice, CacheLife: k.cacheLife()}
	if !k.Prices {
		return p
	}
	listed := daemon.Prices(conf)
	p.List = func(t policy.Tariff, model string) policy.Tariff {
		cached, write, output, ok := listed.Relative(model)
		if !ok {
			return t
		}
		t.Cached, t.Output = cached, output
		if k.WritePrice == 0 {
			t.Write = write
		}
		return t
	}
	return p
}

// cacheLife is what the replay takes for the flag.
func (k replayCmd) cacheLife() time.Duration {
	if k.CacheLife == 0 {
		return -1
	}
	return k.CacheLife.D()
}

// tokensOf reads windows as people write them.
func tokensOf(list []string) (windows []int, err error) {
	for _, text := range list {
		n, err := config.ParseWindow(text)
		if err != nil {
			return nil, err
		}
		windows = append(windows, n)
	}
	return windows, nil
}
