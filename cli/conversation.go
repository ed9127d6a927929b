package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"epitome/daemon"
	"epitome/rewrite"
)

func (a *app) conversationCommand() *cobra.Command {
	var restore, forget, compact bool
	var to, focus string
	c := &cobra.Command{Use: "conversation ID [--compact [--to TOKENS] [--focus TEXT] | --restore | --forget]",
		Short: "Show a conversation, compact it, undo its shortening, or forget it",
		Args: func(c *cobra.Command, args []string) error {
			if restore && forget || compact && (restore || forget) {
				return errors.New("write one of --compact, --restore and --forget")
			}
			if !compact && (to != "" || focus != "") {
				return errors.New("--to and --focus are for --compact: write it, too")
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			query := url.Values{"to": {to}, "focus": {focus}} // of --compact
			for verb, is := range map[string]bool{"compact": compact, "restore": restore, "forget": forget} {
				if is {
					return a.changeConversation(args[0], verb, query)
				}
			}
			return a.status("conversation="+url.QueryEscape(args[0]), false)
		}}
	c.Flags().BoolVar(&compact, "compact", false, "have its next request compacted, as x-epitome-compact: now does")
	c.Flags().StringVar(&to, "to", "", "compact to so many `TOKENS`, such as 8000 or 8k")
	c.Flags().StringVar(&focus, "focus", "", "what a model's summary is to keep above all, as `TEXT`")
	c.Flags().BoolVar(&restore, "restore", false, "send in full again all that epitome shortened")
	c.Flags().BoolVar(&forget, "forget", false, "remove all that epitome keeps of it, for good")
	return c
}

// changeConversation has a running epitome compact, restore or forget a conversation, and prints how that went.
func (a *app) changeConversation(id, verb string, query url.Values) error {
	card, err := a.reach()
	if err != nil {
		return err
	}
	done := map[string]any{}
	err = card.Post("/-/api/conversations/"+id+"/"+verb+"?"+query.Encode(), nil, &done)
	if errors.Is(err, daemon.ErrNotFound) {
		err = fmt.Errorf("the epitome on %s has no conversation with this ID; 'epitome open' shows all; --forget needs "+
			"all 16 characters", card.Listen)
	}
	if err != nil {
		return fmt.Errorf("cannot %s conversation %s: %w", verb, id, err)
	}
	return show(stdout, verb, 0, done)
}

func (a *app) handoffCommand() *cobra.Command {
	return &cobra.Command{Use: "handoff [CONVERSATION]", Args: cobra.MaximumNArgs(1),
		Short: "Print what another agent needs to go on with a conversation",
		RunE:  func(_ *cobra.Command, args []string) error { return a.handOff(strings.Join(args, "")) }}
}

// handOff prints the handoff of the conversation whose ID has the given beginning, or of the newest one.
func (a *app) handOff(beginning string) error {
	var answer struct{ Text, Why string }
	card, err := a.reach()
	if err != nil {
		return err
	}
	path := "/-/api/handoff?conversation=" + url.QueryEscape(beginning)
	err = card.Post(path+"&ask=false", nil, &answer)
	if err == nil && answer.Why == rewrite.ErrUnasked.Error() {
		warn("asking a model for a summary; its provider bills that")
		err = card.Post(path, nil, &answer)
	}
	if err != nil {
		return fmt.Errorf("cannot hand off: %w", err)
	}
	if answer.Why != "" {
		warn("code wrote this summary, as no model did: %s", answer.Why)
	}
	_, err = fmt.Fprintln(stdout, answer.Text)
	return err
}
