package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"epitome/cli/daemon"
	"epitome/console"
	"epitome/inject"
)

func (a *app) memoryCommand() *cobra.Command {
	var project string
	list := &cobra.Command{Use: "list", Short: "List what earlier sessions have learned", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.listMemory(project) }}
	forget := &cobra.Command{Use: "forget ID...", Short: "Forget entries by their ids, as list prints them",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, ids []string) error { return a.forgetMemory(project, ids) }}
	clear := &cobra.Command{Use: "clear", Short: "Forget all entries", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.forgetMemory(project, nil) }}
	c := verbs("memory", "List and forget what earlier sessions have learned, in a running epitome", list, forget, clear)
	c.PersistentFlags().StringVar(&project, "project", "", "only this `project`: an agent's folder, or a name given by "+
		"x-epitome-project")
	return c
}

// listMemory prints the entries of one project, or of all if it is empty.
func (a *app) listMemory(project string) error {
	isEmpty := true
	err := a.eachMemory(project, func(_ *daemon.Card, n inject.Notes) error {
		isEmpty = false
		fmt.Println(console.Plain(n.Owner.Project))
		for _, e := range n.Entries {
			fmt.Printf("  %s  %s  %s  %s\n", console.Plain(e.ID), e.At.Local().Format(time.DateOnly), console.Plain(e.Kind),
				console.Plain(e.Text))
		}
		return nil
	})
	if err == nil && isEmpty {
		fmt.Println("No session has learned anything.")
	}
	return err
}

// forgetMemory forgets the entries with these ids, or all entries if there are none, of one project or of all.
func (a *app) forgetMemory(project string, ids []string) error {
	var gone []string
	err := a.eachMemory(project, func(card *daemon.Card, n inject.Notes) (err error) {
		for _, e := range n.Entries {
			if err == nil && (len(ids) == 0 || slices.Contains(ids, e.ID)) {
				err = card.Post("/-/api/memory/forget", console.Forgetting{Owner: n.Owner, ID: e.ID}, &struct{}{})
				gone = append(gone, e.ID)
			}
		}
		return err
	})
	for _, id := range ids {
		if err == nil && !slices.Contains(gone, id) {
			err = fmt.Errorf("cannot forget %q: no entry has this id; 'epitome memory list' has all", id)
		}
	}
	if err == nil {
		fmt.Printf("Forgotten: %d. Conversations that have begun keep what they were told.\n", len(gone))
	}
	return err
}

// eachMemory calls do with what each running epitome remembers for a project, or for all projects if it is empty.
func (a *app) eachMemory(project string, do func(card *daemon.Card, n inject.Notes) error) error {
	cards, err := a.allRunning("read what sessions have learned")
	if err != nil {
		return err
	}
	for _, card := range cards {
		var listing console.Memories
		err = errors.Join(err, card.Get("/-/api/memory", &listing))
		for _, n := range listing.Memories {
			if project == "" || n.Owner.Project == inject.ProjectName(project) {
				err = errors.Join(err, do(card, n))
			}
		}
	}
	return err
}
