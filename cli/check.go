package cli

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/event/journal"
)

// starterFile is a configuration with the keys that most people need, at their defaults. USERFILE is for its own path.
//
//go:embed starter.toml
var starterFile string

func (a *app) checkCommand() *cobra.Command {
	var running, defaults, starter, schema bool
	c := &cobra.Command{Use: "check", SuggestFor: []string{"config", "validate", "doctor"},
		Short: "Check the configuration, or whether an epitome runs",
		RunE: func(*cobra.Command, []string) error {
			text := ""
			switch {
			case defaults:
				text = a.defaults
			case schema:
				text = string(config.Schema(a.defaults))
			case starter:
				text = strings.Replace(starterFile, "USERFILE", config.UserFile(), 1)
			case running:
				card, err := a.get("/-/ready", new(json.RawMessage))
				if err == nil {
					fmt.Printf("The epitome on %s takes requests.\n", card.Listen)
				}
				return err
			default:
				return a.checkConfiguration()
			}
			_, err := fmt.Print(text)
			return err
		}}
	c.Flags().BoolVar(&running, "running", false, "exit with status 1 unless an epitome runs and takes requests")
	c.Flags().BoolVar(&starter, "starter", false, "print, instead, a file to begin with: the keys that most people need")
	c.Flags().BoolVar(&schema, "schema", false, "print, instead, the JSON schema of configuration files, for editors")
	c.Flags().BoolVar(&defaults, "defaults", false, "print, instead, a configuration file that explains every key")
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
	card, err := daemon.Read(folder)
	if err != nil {
		fmt.Println("No epitome runs with this data folder.")
		return nil
	}
	state, err := card.State()
	if err != nil {
		return err
	}
	fmt.Printf("An epitome runs with this data folder on %s; it sends to %s (%s). kill -HUP has it "+
		"read its configuration again.\n", card.Listen, state.Upstream, state.Upstreams[state.Upstream])
	for i, c := range state.Newest {
		isTold := slices.ContainsFunc(state.Newest[:i], func(o journal.Conversation) bool { return o.Model == c.Model })
		if isTold {
			continue
		}
		holds := state.Windows[c.ID]
		source := strings.Replace(string(holds.Source), "learned", "learned from a refusal", 1)
		if !holds.Until.IsZero() {
			source += ", until " + holds.Until.Local().Format("Jan 2 15:04")
		}
		fmt.Printf("%s holds %s tokens (%s).\n", plain(c.Model), console.Tokens(int64(holds.Tokens)), source)
	}
	return nil
}
