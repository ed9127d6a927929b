package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"epitome/daemon"
)

func (a *app) conversationCommand() *cobra.Command {
	var restore bool
	c := &cobra.Command{Use: "conversation ID --restore", Short: "Undo the shortening of a conversation",
		Long: "Undo the shortening of a conversation from its next request on, as far as the window allows.\n" +
			"ID is the conversation's ID, or its first characters. The pages show it, and so does the response\n" +
			"header x-epitome-conversation.",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && !restore {
				return errors.New("--restore is missing")
			}
			return exactly(1)(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			card, err := a.running()
			if err != nil {
				return err
			}
			var done struct {
				Conversation string
				Edits        int
			}
			err = card.Post("/-/api/conversations/"+args[0]+"/restore", nil, &done)
			if errors.Is(err, daemon.ErrNotFound) {
				err = fmt.Errorf("the epitome on %s has no conversation whose ID begins so; 'epitome open' "+
					"shows all", card.Listen)
			}
			if err != nil {
				return fmt.Errorf("cannot restore conversation %s: %w", args[0], err)
			}
			fmt.Printf("Conversation %s is sent whole from its next request on, as far as the window allows.\n"+
				"Shortened parts that are whole again: %d.\n", done.Conversation, done.Edits)
			return nil
		}}
	c.Flags().BoolVar(&restore, "restore", false, "send in full again all that epitome shortened")
	return c
}
