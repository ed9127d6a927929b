package cli

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"epitome/cli/daemon"
	"epitome/config"
	"epitome/console"
	"epitome/event"
	"epitome/window"
)

// starterFile is a configuration with the keys that most people need, at their defaults.
//
//go:embed starter.toml
var starterFile string

func (a *app) checkCommand() *cobra.Command {
	var running, defaults, starter bool
	c := &cobra.Command{Use: "check", Short: "Check the configuration, or whether an epitome runs",
		RunE: func(*cobra.Command, []string) error {
			switch {
			case defaults:
				_, err := fmt.Print(a.defaults)
				return err
			case starter:
				_, err := fmt.Printf("# Save this as %s and change what you need.\n\n%s", config.UserFile(), starterFile)
				return err
			case running:
				return a.checkRunning()
			}
			return a.checkConfiguration()
		}}
	c.Flags().BoolVar(&running, "running", false, "check instead that an epitome runs and takes requests; the exit "+
		"status is 1 if not")
	c.Flags().BoolVar(&starter, "starter", false, "print instead the keys that most people need, as a file to begin with")
	c.Flags().BoolVar(&defaults, "defaults", false, "print the built-in configuration file instead, which explains "+
		"every key")
	return c
}

// checkConfiguration checks all that serve would before it listens.
func (a *app) checkConfiguration() error {
	conf, err := a.load()
	if err != nil {
		return err
	}
	folder, err := conf.Admit()
	if err != nil {
		return err
	}
	fmt.Printf("The configuration is sound: listen on %s, send to %s (%s), keep data in %s, mode %s.\n",
		conf.Listen, conf.Upstream, conf.Upstreams[conf.Upstream].URL, folder, conf.Mode)
	newest := event.Conversation{Upstream: "anthropic", Model: "claude-sonnet-4-5", Window: int(conf.Window.Default)}
	if card, err := daemon.Read(folder); err != nil {
		fmt.Println("No epitome runs with it.")
	} else if newest, err = printRunning(card, newest); err != nil {
		return err
	}
	fmt.Println(summaryCost(conf, newest))
	return nil
}

// printRunning prints with which settings an epitome runs, and how much its models hold. It returns its newest
// conversation, or else the given one.
func printRunning(card *daemon.Card, other event.Conversation) (event.Conversation, error) {
	var list event.Page[event.Conversation]
	state, err := card.State()
	if err == nil {
		err = card.Get("/-/api/conversations", &list)
	}
	if err != nil {
		return other, err
	}
	fmt.Printf("An epitome runs with it on %s, and sends to %s (%s). ", card.Listen, state.Upstream,
		state.Upstreams[state.Upstream])
	if len(state.Waiting) > 0 {
		fmt.Printf("Its file has changed: kill -HUP puts %s in force.\n", strings.Join(state.Waiting, ", "))
	} else {
		fmt.Println("What its file says is in force.")
	}
	known := map[string]bool{}
	for _, c := range list.Items {
		if window := fmt.Sprintf("%s holds %s tokens.", plain(c.Model), console.Tokens(int64(c.Window))); !known[window] {
			known[window] = true
			fmt.Println(window)
		}
	}
	return append(list.Items, other)[0], nil
}

// summaryCost says what one summary of a conversation costs with its own model, which has most of it cached, and with
// the configured model, which reads it anew.
func summaryCost(conf config.Config, c event.Conversation) string {
	if !conf.Summarize.Mode.Asks() {
		return fmt.Sprintf("A summary costs nothing: summarize.mode %s asks no model.", conf.Summarize.Mode)
	}
	const answer = 1500 // tokens of a usual summary
	tokens, biller := int(conf.Rewrite.CompactAt*float64(window.Usable(c.Window, 0))), event.NewBiller(daemon.Prices(conf))
	cost := func(upstream, model string, cached int) string {
		charge := biller.Charge(&event.Summary{Upstream: upstream, Model: model, Time: time.Now(),
			Cost: event.Cost{InputTokens: tokens, CachedTokens: cached, OutputTokens: answer, Requests: 1}})
		if charge.Price == "" {
			return "an unknown amount with " + plain(model)
		}
		return console.Dollars(charge.Nano) + " with " + plain(model)
	}
	text := fmt.Sprintf("A summary of %s tokens costs about %s", console.Tokens(int64(tokens)),
		cost(c.Upstream, c.Model, tokens))
	if s := conf.Summarize; s.Model != "" {
		text += ", and " + cost(cmp.Or(s.Upstream, c.Upstream), s.Model, 0) + ", which is configured"
	}
	return text + "."
}

// checkRunning asks a running epitome whether it takes requests.
func (a *app) checkRunning() error {
	card, err := a.running("ask epitome whether it takes requests")
	if err == nil {
		err = card.Get("/-/ready", new(json.RawMessage))
	}
	if err == nil {
		fmt.Printf("The epitome on %s takes requests.\n", card.Listen)
	}
	return err
}
