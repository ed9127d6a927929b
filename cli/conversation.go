package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
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
			return exactlyOne(c, args)
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

// handOff prints the handoff of the conversation whose ID has the given beginning, or of the newest one. It runs an
// agent with it as the first prompt, or writes it into a file, if to says so.
func (a *app) handOff(beginning, to string) error {
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
	agent := strings.Fields(to)
	switch {
	case len(agent) == 0:
		_, err := fmt.Fprintln(stdout, answer.Text)
		return err
	case slices.Contains([]string{"claude", "codex"}, agent[0]):
		return a.runWith(agent, answer.Text)
	}
	return os.WriteFile(to, []byte(answer.Text+"\n"), 0o600)
}

// runWith runs an agent with a text as its first prompt. The text is too long for an argument, and every user of the
// machine can read those. An agent that does not read it from standard input is told to read a file, which is deleted
// when the agent has ended; if this process is killed, a running epitome deletes it as it does kept requests.
func (a *app) runWith(agent []string, text string) error {
	if readsInput(agent) {
		return a.run(agent, strings.NewReader(text))
	}
	_, home, err := a.loadWithFolder()
	if err != nil {
		return err
	}
	file := filepath.Join(home, daemon.RequestFolder, "handoff-"+rand.Text()+".md")
	defer func() { _ = os.Remove(file) }()
	err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600))
	if err != nil {
		return fmt.Errorf("cannot hand off: %w", err)
	}
	return a.run(append(agent, "Read "+file+" and go on with the task that it describes."), os.Stdin)
}
