package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"epitome/cli/daemon"
	"epitome/config"
	"epitome/console"
	"epitome/console/figure"
	"epitome/inject"
	"epitome/offload"
)

func (a *app) memoryCommand() *cobra.Command {
	var project string
	var asJSON bool
	list := &cobra.Command{Use: "list", Short: "List what earlier sessions have learned", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.listMemory(project, asJSON) }}
	list.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	forget := &cobra.Command{Use: "forget ID...", Short: "Forget entries by their ids, as list prints them",
		Args: atLeast(1, "ids"),
		RunE: func(_ *cobra.Command, ids []string) error { return a.forgetMemory(project, ids) }}
	clear := &cobra.Command{Use: "clear", Short: "Forget all entries", Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.clearMemory(project) }}
	c := verbs("memory", "List and forget what earlier sessions have learned", list, forget, clear)
	c.PersistentFlags().StringVar(&project, "project", "", "only this `project`: an agent's folder, or a name given by "+
		"x-epitome-project")
	return c
}

// listMemory prints the entries of one project, or of all if it is empty.
func (a *app) listMemory(project string, asJSON bool) error {
	all := []inject.Notes{}
	conf, err := a.eachMemory(project, func(n inject.Notes, _ func(id string) error) error {
		all = append(all, n)
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("cannot list memories: %w", err)
	case asJSON:
		return printJSON(console.Memories{Enabled: conf.Memory.Enabled, Memories: all})
	case len(all) == 0:
		fmt.Println("Nothing is known.")
		if !conf.Memory.Enabled {
			fmt.Println("Memories are off: enabled = true under [memory] turns them on.")
		}
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, n := range all {
		scope := ""
		if n.Owner.Scope != "" {
			scope = fmt.Sprintf(" (scope %.8s)", figure.Plain(n.Owner.Scope))
		}
		fmt.Fprintln(t, figure.Plain(n.Owner.Project)+scope)
		for _, e := range n.Entries {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", figure.Plain(e.ID), e.At.Local().Format(time.DateOnly), figure.Plain(e.Kind),
				figure.Plain(e.Text))
		}
	}
	return t.Flush()
}

// forgetMemory forgets the entries with these ids.
func (a *app) forgetMemory(project string, ids []string) error {
	var gone []string
	_, err := a.eachMemory(project, func(n inject.Notes, forget func(id string) error) error {
		for _, e := range n.Entries {
			if slices.Contains(ids, e.ID) {
				if err := forget(e.ID); err != nil {
					return err
				}
				gone = append(gone, e.ID)
			}
		}
		return nil
	})
	for _, id := range ids {
		if err == nil && !slices.Contains(gone, id) {
			err = fmt.Errorf("no entry has the id %q; 'epitome memory list' has all", id)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot forget: %w", err)
	}
	fmt.Println("Forgotten. Conversations that have begun keep what they were told.")
	return nil
}

// clearMemory forgets all entries of one project, or of all if it is empty.
func (a *app) clearMemory(project string) error {
	gone := 0
	_, err := a.eachMemory(project, func(n inject.Notes, forget func(id string) error) error {
		gone += len(n.Entries)
		return forget("")
	})
	if err != nil {
		return fmt.Errorf("cannot clear memories: %w", err)
	}
	fmt.Printf("Forgotten: %d. Conversations that have begun keep what they were told.\n", gone)
	return nil
}

// eachMemory visits the notes of a project, or of all, in each place of this user: it asks epitomes that run, and opens
// the folders of those that do not. forget forgets one of the notes' entries, or all if the id is empty.
func (a *app) eachMemory(project string,
	visit func(n inject.Notes, forget func(id string) error) error) (config.Config, error) {
	conf, home, err := a.loadWithFolder()
	if err != nil {
		return conf, err
	}
	visitAll := func(all []inject.Notes, forget func(o inject.Owner, id string) error) error {
		for _, n := range all {
			if project != "" && n.Owner.Project != inject.ProjectName(project) {
				continue
			}
			if err := visit(n, func(id string) error { return forget(n.Owner, id) }); err != nil {
				return err
			}
		}
		return nil
	}
	running := daemon.RunningIn(home)
	if len(running) == 0 && conf.Store.URL != "" {
		return conf, errors.New("the store of memories is shared, and no epitome runs with this data folder: start one first")
	}
	for _, folder := range daemon.FoldersIn(home) {
		if cards := daemon.RunningIn(folder); len(cards) > 0 {
			err = askMemory(cards[0], visitAll)
		} else {
			err = openMemory(conf, folder, visitAll)
		}
		if err != nil {
			return conf, err
		}
	}
	return conf, nil
}

// openMemory visits the notes that an epitome has left in a folder.
func openMemory(conf config.Config, folder string,
	visit func([]inject.Notes, func(inject.Owner, string) error) error) error {
	left, err := daemon.OpenLeft(conf, folder)
	if errors.Is(err, offload.ErrUnknown) { // nothing was ever kept
		return nil
	}
	if err != nil {
		return err
	}
	memory := left.Memories(conf)
	all, err := memory.List()
	if err == nil {
		err = visit(all, memory.Forget)
	}
	return errors.Join(err, left.Close())
}

// askMemory visits the notes of an epitome that runs.
func askMemory(card *daemon.Card, visit func([]inject.Notes, func(inject.Owner, string) error) error) error {
	var listing console.Memories
	answer, err := card.Get("/-/api/memory", nil)
	if err == nil {
		err = json.Unmarshal(answer, &listing)
	}
	if err != nil {
		return err
	}
	return visit(listing.Memories, func(o inject.Owner, id string) error {
		_, err := card.Post("/-/api/memory/forget", console.Forgetting{Owner: o, ID: id, All: id == ""})
		return err
	})
}
