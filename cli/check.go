package cli

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"epitome/config"
	"epitome/daemon"
	"epitome/window"
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
				card, err := a.running()
				if err == nil {
					err = card.Get("/-/ready", new(json.RawMessage))
				}
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
	if err := conf.Admit(); err != nil {
		return err
	}
	data := map[string]any{"Config": conf, "To": conf.Upstreams[conf.Upstream].URL, "Folder": conf.Data}
	card, err := daemon.Read(conf.Data)
	if err == nil {
		state, err := card.State()
		if err != nil {
			return err
		}
		windows := map[string]window.Window{} // by model
		for _, c := range slices.Backward(state.Newest) {
			windows[c.Model] = state.Windows[c.ID]
		}
		data["Listen"], data["State"], data["Windows"] = card.Listen, state, windows
	}
	return show(stdout, "check", 0, data)
}
