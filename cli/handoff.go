package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) handoffCommand() *cobra.Command {
	var to string
	c := &cobra.Command{Use: "handoff [CONVERSATION]", Args: cobra.MaximumNArgs(1),
		Short: "Print what another agent needs to go on with a conversation",
		Long: "Print what another agent needs to go on with a conversation: the user's words, a summary, the newest messages.\n" +
			"CONVERSATION is the beginning of an ID; without it, the newest one is meant. It needs a running epitome.",
		RunE: func(_ *cobra.Command, args []string) error { return a.handOff(strings.Join(args, ""), to) }}
	c.Flags().StringVar(&to, "to", "", "start claude, codex or \"codex exec\" with this text; any other `TARGET` is a "+
		"file to write it to")
	return c
}

// handOff prints the handoff of the conversation whose ID has the given beginning, or of the newest one. It runs an agent
// with it as the first prompt, or writes it into a file, if to says so.
func (a *app) handOff(beginning, to string) error {
	var answer struct{ Text, Why string }
	card, err := a.running()
	if err != nil {
		return err
	}
	card.Patience = 2 * time.Minute // longer than a summary is waited for
	if err := card.Post("/-/api/handoff?conversation="+url.QueryEscape(beginning), nil, &answer); err != nil {
		return fmt.Errorf("cannot hand off: %w", err)
	}
	if answer.Why != "" {
		warn("code wrote this summary, as no model did: %s", answer.Why)
	}
	switch agent := strings.Fields(cmp.Or(to, " ")); {
	case to == "":
		fmt.Println(answer.Text)
		return nil
	case slices.Contains([]string{"claude", "codex"}, agent[0]):
		return a.run(append(agent, answer.Text))
	}
	return os.WriteFile(to, []byte(answer.Text+"\n"), 0o600)
}
