package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"epitome/cli/daemon"
)

func (a *app) conversationCommand() *cobra.Command {
	var restore bool
	c := &cobra.Command{Use: "conversation ID --restore", Short: "Have a conversation sent whole again",
		Long: "Have a conversation sent whole again from its next request on, as far as the window allows. ID is the\n" +
			"beginning of an ID, as the pages and the response header x-epitome-conversation say it.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !restore {
				return errors.New("give the beginning of a conversation's ID, and --restore")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			card, err := a.running("restore a conversation")
			if err != nil {
				return err
			}
			var done struct {
				Conversation string
				Edits        int
			}
			err = card.Post("/-/api/conversations/"+args[0]+"/restore", nil, &done)
			if errors.Is(err, daemon.ErrNotFound) {
				err = fmt.Errorf("the epitome on %s knows no ID that begins so; its pages list them", card.Listen)
			}
			if err != nil {
				return fmt.Errorf("cannot restore conversation %s: %w", args[0], err)
			}
			fmt.Printf("Conversation %s is sent whole from its next request on, as far as the window allows.\n"+
				"Edits taken back: %d.\n", done.Conversation, done.Edits)
			return nil
		}}
	c.Flags().BoolVar(&restore, "restore", false, "send whole again what was cut, cleared or summarized")
	return c
}
