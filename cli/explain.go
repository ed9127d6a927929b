package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"epitome/config"
)

// explainFlags are those of the command explain.
type explainFlags struct {
	dialect, window, preset string
	turns, json, body       bool
}

func (a *app) explainCommand() *cobra.Command {
	var flags explainFlags
	c := &cobra.Command{Use: "explain FILE|ID",
		Short: "Explain what epitome would do to a request, or did to a conversation",
		Long: "Explain what epitome would do to the request in a file (- is standard input), without a running epitome, a\n" +
			"key or the network; or what a running epitome did to the conversation with an ID.",
		Args: atLeast(1, "a request file, or the ID of a conversation"),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); err != nil && conversationID.MatchString(args[0]) {
				return a.explainConversation(args[0], flags.json)
			}
			return a.explainFile(args[0], flags)
		}}
	f := c.Flags()
	f.BoolVar(&flags.turns, "turns", false, "play the request as a conversation, turn by turn, beginning with nothing "+
		"known")
	f.StringVar(&flags.window, "window", "", "assume that the model holds this many `tokens`, as 32k or 200000")
	f.StringVar(&flags.preset, "preset", "", "use this preset in place of the configured one")
	choiceVar(c, f, &flags.dialect, "dialect", "read it as chat, messages or responses (default: as its contents show)",
		"chat", "messages", "responses")
	f.BoolVar(&flags.json, "json", false, "print the report as JSON")
	f.BoolVar(&flags.body, "body", false, "print the request as it would be sent, instead of a report")
	c.MarkFlagsMutuallyExclusive("json", "body")
	return c
}

// conversationID matches the ID of a conversation.
var conversationID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// explainFile explains the request in a file, as one of a conversation that was never seen.
func (a *app) explainFile(file string, flags explainFlags) error {
	conf, home, err := a.loadWithFolder()
	if err != nil {
		return err
	}
	if err := setPreset(&conf, flags.preset); err != nil {
		return err
	}
	body, err := readRequest(file)
	if err != nil {
		return err
	}
	r, err := a.try(conf, home, body, flags)
	switch {
	case err != nil:
		return fmt.Errorf("cannot explain %s: %w", file, err)
	case r.Messages == 0:
		return fmt.Errorf("cannot explain %s: %s; give a request of Chat Completions, Messages or Responses", file, r.Reason)
	case flags.body:
		_, err = os.Stdout.Write(r.body)
		return err
	case flags.json:
		return printJSON(r)
	}
	return r.write(os.Stdout)
}

// setPreset puts the limits of a preset in the place of the configured ones. An empty name changes nothing.
func setPreset(conf *config.Config, preset string) error {
	if preset == "" {
		return nil
	}
	if err := conf.Rewrite.SetPreset(preset); err != nil {
		return fmt.Errorf("cannot use preset %q: %w", preset, err)
	}
	return nil
}

// readRequest reads JSON from a file, or from standard input for "-".
func readRequest(file string) (body []byte, err error) {
	if file == "-" {
		body, err = io.ReadAll(os.Stdin)
	} else {
		body, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the request %s: %w; give a request file, or the ID of a conversation", file,
			config.PathCause(err))
	}
	if err := json.Unmarshal(body, new(json.RawMessage)); err != nil {
		return nil, fmt.Errorf("cannot explain %s: it is not JSON: %w", file, err)
	}
	return body, nil
}
