package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"epitome/daemon"
)

func (a *app) conversationCommand() *cobra.Command {
	var restore, forget bool
	c := &cobra.Command{Use: "conversation ID [--restore | --forget]",
		Short: "Show a conversation, undo its shortening, or forget it",
		Long: "Show a conversation, as 'epitome status' shows the newest one. Or undo its shortening from its next\n" +
			"request on, as far as the window allows, or remove all that epitome keeps of it: decisions, artifacts\n" +
			"that no other conversation names, newest request, events. ID is the conversation's ID; for --restore its\n" +
			"first characters are enough. The pages show it, and so does the header x-epitome-conversation.",
		Args: func(c *cobra.Command, args []string) error {
			if restore && forget {
				return errors.New("write either --restore or --forget")
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if !restore && !forget {
				return a.status("conversation="+url.QueryEscape(args[0]), false)
			}
			return a.changeConversation(args[0], forget)
		}}
	c.Flags().BoolVar(&restore, "restore", false, "send in full again all that epitome shortened")
	c.Flags().BoolVar(&forget, "forget", false, "remove all that epitome keeps of it, for good")
	return c
}

// changeConversation has a running epitome forget a conversation, or else restore it, and prints how that went.
func (a *app) changeConversation(id string, forget bool) error {
	card, err := a.running()
	if err != nil {
		return err
	}
	verb := "restore"
	if forget {
		verb = "forget"
	}
	var done struct {
		Conversation, Remains string
		Edits, Artifacts      int
	}
	err = card.Post("/-/api/conversations/"+id+"/"+verb, nil, &done)
	if errors.Is(err, daemon.ErrNotFound) {
		err = fmt.Errorf("the epitome on %s has no conversation with this ID; 'epitome open' shows all; --forget needs "+
			"all 16 characters", card.Listen)
	}
	if err != nil {
		return fmt.Errorf("cannot %s conversation %s: %w", verb, id, err)
	}
	if forget {
		fmt.Printf("Conversation %s is forgotten. Artifacts that were deleted: %d.\n%s\n", done.Conversation,
			done.Artifacts, done.Remains)
		return nil
	}
	fmt.Printf("Conversation %s is sent whole from its next request on, as far as the window allows.\n"+
		"Shortened parts that are whole again: %d.\n", done.Conversation, done.Edits)
	return nil
}

func (a *app) handoffCommand() *cobra.Command {
	return &cobra.Command{Use: "handoff [CONVERSATION]", Args: cobra.MaximumNArgs(1),
		Short: "Print what another agent needs to go on with a conversation",
		Long: "Print what another agent needs to go on with a conversation: the user's words, a summary, the newest messages.\n" +
			"CONVERSATION is the beginning of an ID; without it, the newest one is meant. It needs a running epitome.",
		RunE: func(_ *cobra.Command, args []string) error { return a.handOff(strings.Join(args, "")) }}
}

// handOff prints the handoff of the conversation whose ID has the given beginning, or of the newest one.
func (a *app) handOff(beginning string) error {
	var answer struct{ Text, Why string }
	card, err := a.running()
	if err != nil {
		return err
	}
	if err := card.Post("/-/api/handoff?conversation="+url.QueryEscape(beginning), nil, &answer); err != nil {
		return fmt.Errorf("cannot hand off: %w", err)
	}
	if answer.Why != "" {
		warn("code wrote this summary, as no model did: %s", answer.Why)
	}
	_, err = fmt.Fprintln(stdout, answer.Text)
	return err
}
