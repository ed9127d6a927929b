package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"epitome/daemon"
)

func (a *app) conversationCommand() *cobra.Command {
	var restore, forget bool
	c := &cobra.Command{Use: "conversation ID (--restore | --forget)",
		Short: "Undo the shortening of a conversation, or forget it",
		Long: "Undo the shortening of a conversation from its next request on, as far as the window allows, or\n" +
			"remove all that epitome keeps of it: decisions, artifacts that no other conversation names, newest\n" +
			"request, events. ID is the conversation's ID; for --restore its first characters are enough. The pages\n" +
			"show it, and so does the response header x-epitome-conversation.",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && restore == forget {
				return errors.New("write either --restore or --forget")
			}
			return exactlyOne(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			card, err := a.running()
			if err != nil {
				return err
			}
			verb := "restore"
			if forget {
				verb = "forget"
				card.Patience = 10 * time.Minute // it reads the decisions of all conversations
			}
			var done struct {
				Conversation, Remains string
				Edits, Artifacts      int
			}
			err = card.Post("/-/api/conversations/"+args[0]+"/"+verb, nil, &done)
			if errors.Is(err, daemon.ErrNotFound) {
				err = fmt.Errorf("the epitome on %s has no conversation with this ID; 'epitome open' "+
					"shows all", card.Listen)
			}
			if err != nil {
				return fmt.Errorf("cannot %s conversation %s: %w", verb, args[0], err)
			}
			if forget {
				fmt.Printf("Conversation %s is forgotten. Artifacts that were deleted: %d.\n%s\n", done.Conversation,
					done.Artifacts, done.Remains)
				return nil
			}
			fmt.Printf("Conversation %s is sent whole from its next request on, as far as the window allows.\n"+
				"Shortened parts that are whole again: %d.\n", done.Conversation, done.Edits)
			return nil
		}}
	c.Flags().BoolVar(&restore, "restore", false, "send in full again all that epitome shortened")
	c.Flags().BoolVar(&forget, "forget", false, "remove all that epitome keeps of it, for good")
	return c
}
