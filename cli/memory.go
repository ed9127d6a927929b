package cli

import (
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
	verb := func(use, short string, args cobra.PositionalArgs,
		run func(*daemon.Card, []inject.Notes, []string) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(_ *cobra.Command, args []string) error {
			card, notes, err := a.memory(project)
			if err != nil {
				return err
			}
			return run(card, notes, args)
		}}
	}
	c := verbs("memory", "List and forget what earlier sessions have learned, in a running epitome",
		verb("list", "List what earlier sessions have learned", cobra.NoArgs, listMemory),
		verb("forget ID...", "Forget entries by their ids, as list prints them", cobra.MinimumNArgs(1), forgetMemory),
		verb("clear", "Forget all entries", cobra.NoArgs, forgetMemory))
	c.PersistentFlags().StringVar(&project, "project", "", "only this `project`: an agent's folder, or a name given by "+
		"x-epitome-project")
	return c
}

// memory returns what the sessions of a running epitome have learned in a project, or in all if the project is empty.
func (a *app) memory(project string) (*daemon.Card, []inject.Notes, error) {
	card, err := a.running("read what sessions have learned")
	if err != nil {
		return nil, nil, err
	}
	var all console.Memories
	err = card.Get("/-/api/memory", &all)
	isOther := func(n inject.Notes) bool { return project != "" && n.Owner.Project != inject.ProjectName(project) }
	return card, slices.DeleteFunc(all.Memories, isOther), err
}

func listMemory(_ *daemon.Card, all []inject.Notes, _ []string) error {
	if len(all) == 0 {
		fmt.Println("No session has learned anything.")
	}
	for _, n := range all {
		fmt.Println(console.Plain(n.Owner.Project))
		for _, e := range n.Entries {
			fmt.Printf("  %s  %s  %s  %s\n", console.Plain(e.ID), e.At.Local().Format(time.DateOnly), console.Plain(e.Kind),
				console.Plain(e.Text))
		}
	}
	return nil
}

// forgetMemory forgets the entries with these ids, or all entries if there are none.
func forgetMemory(card *daemon.Card, all []inject.Notes, ids []string) error {
	gone := 0
	for _, n := range all {
		for _, e := range n.Entries {
			if len(ids) > 0 && !slices.Contains(ids, e.ID) {
				continue
			}
			if err := card.Post("/-/api/memory/forget", console.Forgetting{Owner: n.Owner, ID: e.ID}, &struct{}{}); err != nil {
				return err
			}
			gone++
		}
	}
	if gone < len(ids) {
		return fmt.Errorf("cannot forget all of %q: no entry has this id; 'epitome memory list' has all", ids)
	}
	fmt.Printf("Forgotten: %d. Conversations that have begun keep what they were told.\n", gone)
	return nil
}
