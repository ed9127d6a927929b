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

// listMemory prints the entries of one project, or of all.
func (a *app) listMemory(project string) error {
	_, all, err := a.memory(project)
	if err == nil && len(all) == 0 {
		fmt.Println("No session has learned anything.")
	}
	for _, n := range all {
		fmt.Println(console.Plain(n.Owner.Project))
		for _, e := range n.Entries {
			fmt.Printf("  %s  %s  %s  %s\n", console.Plain(e.ID), e.At.Local().Format(time.DateOnly), console.Plain(e.Kind),
				console.Plain(e.Text))
		}
	}
	return err
}

// forgetMemory forgets the entries with these ids, or all entries if there are none, of one project or of all.
func (a *app) forgetMemory(project string, ids []string) error {
	card, all, err := a.memory(project)
	if err != nil {
		return err
	}
	var gone []string
	for _, n := range all {
		for _, e := range n.Entries {
			if len(ids) > 0 && !slices.Contains(ids, e.ID) {
				continue
			}
			err := card.Post("/-/api/memory/forget", console.Forgetting{Owner: n.Owner, ID: e.ID}, &struct{}{})
			if err != nil {
				return err
			}
			gone = append(gone, e.ID)
		}
	}
	for _, id := range ids {
		if !slices.Contains(gone, id) {
			return fmt.Errorf("cannot forget %q: no entry has this id; 'epitome memory list' has all", id)
		}
	}
	fmt.Printf("Forgotten: %d. Conversations that have begun keep what they were told.\n", len(gone))
	return nil
}
