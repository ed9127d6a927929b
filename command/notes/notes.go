// Package notes is 'epitome memory': what earlier sessions have learned is listed and forgotten, wherever epitomes of
// this user keep it.
//
// It promises that an epitome which runs is asked, and a folder is opened only where none does; that nothing is
// forgotten but what is named; and that no text of an entry can do anything to a terminal.
package notes

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"epitome/config"
	"epitome/console/chart"
	"epitome/console/inert"
	"epitome/console/learned"
	"epitome/summarize/memory"
)

// Command are its commands.
type Command struct {
	List   listCmd   `cmd:"" help:"List what earlier sessions have learned, of all projects or of one."`
	Forget forgetCmd `cmd:"" help:"Forget entries."`
	Clear  clearCmd  `cmd:"" help:"Forget all entries, of all projects or of one."`
}

// Load reads the configuration that the command line says.
type Load = func() (config.Config, error)

// which says of which project.
type which struct {
	Project string `placeholder:"NAME" help:"Only this project: the folder in which an agent works, or the name that x-epitome-project gives."`
}

// has reports whether a memory is meant.
func (w which) has(k memory.Kept) bool {
	return w.Project == "" || k.Owner.Project == memory.ProjectOf(w.Project)
}

type listCmd struct {
	which
	JSON bool `help:"Print the list as JSON."`
}

type forgetCmd struct {
	which
	IDs []string `arg:"" name:"id" help:"The entries' ids, as list prints them."`
}

type clearCmd struct{ which }

// Run lists the entries.
func (k listCmd) Run(load Load) error {
	conf, err := load()
	if err != nil {
		return err
	}
	all := learned.Listing{Memories: []memory.Kept{}}
	in := force{conf: conf.Memory.Enabled}
	err = each(conf, func(p place) error {
		in.note(p)
		found, err := p.List()
		for _, m := range found {
			if k.has(m) {
				all.Memories = append(all.Memories, m)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot list memories: %w", err)
	}
	if on := in.is(); k.JSON {
		all.Enabled = &on
		return inert.Print(os.Stdout, all)
	}
	if len(all.Memories) == 0 {
		_, err = fmt.Println(k.nothing() + " " + in.words() + " " + config.Whence(conf))
		return err
	}
	if !in.is() {
		fmt.Fprintln(os.Stderr, "epitome: no conversation is told these. "+in.words())
	}
	return k.print(all.Memories)
}

// nothing says that nothing is known.
func (k listCmd) nothing() string {
	if k.Project == "" {
		return "Nothing is known of any project."
	}
	return fmt.Sprintf("Nothing is known of %s. 'epitome memory list' has the projects of which something is.", shown(k.Project))
}

func (k listCmd) print(all []memory.Kept) error {
	for i, m := range all {
		if i > 0 {
			fmt.Println()
		}
		fmt.Println(shown(m.Owner.Project) + scopeWords(m.Owner.Scope))
		t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		for _, e := range m.Entries {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", shown(e.ID), e.At.Local().Format(time.DateOnly), shown(string(e.Kind)), shown(e.Text))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// scopeWords says whose a memory is, where not all is everybody's.
func scopeWords(scope string) string {
	if scope == "" {
		return ""
	}
	const letters = 8 // as many as tell one from another
	return " (scope " + shown(scope[:min(len(scope), letters)]) + ")"
}

// mostShown bounds what is shown of one text, in characters.
const mostShown = 1000

// shown is a text as a terminal may show it.
func shown(text string) string { return chart.Plain(chart.Shortened(text, mostShown)) }

// Run forgets the entries.
func (k forgetCmd) Run(load Load) error {
	conf, err := load()
	if err != nil {
		return err
	}
	for _, id := range k.IDs {
		n, err := forget(conf, func(m memory.Kept) (entries int, asks learned.Forgetting) {
			if k.has(m) && slices.ContainsFunc(m.Entries, func(e memory.Entry) bool { return e.ID == id }) {
				entries = 1
			}
			return entries, learned.Forgetting{Owner: m.Owner, ID: id}
		})
		if err == nil && n == 0 {
			err = errors.New("no entry has this id; 'epitome memory list' has all")
		}
		if err != nil {
			return fmt.Errorf("cannot forget %s: %w", shown(id), err)
		}
	}
	_, err = fmt.Println("Forgotten. Conversations that have begun keep what they were told, as long as decisions are kept.")
	return err
}

// Run forgets all.
func (k clearCmd) Run(load Load) error {
	conf, err := load()
	if err != nil {
		return err
	}
	n, err := forget(conf, func(m memory.Kept) (entries int, asks learned.Forgetting) {
		if k.has(m) {
			entries = len(m.Entries)
		}
		return entries, learned.Forgetting{Owner: m.Owner, All: true}
	})
	if err != nil {
		return fmt.Errorf("cannot clear memories: %w", err)
	}
	said := fmt.Sprintf("Forgotten are %d entries.", n)
	if n == 1 {
		said = "Forgotten is 1 entry."
	}
	_, err = fmt.Println(said + " Conversations that have begun keep what they were told, as long as decisions are kept.")
	return err
}

// forget asks each place to forget what choose says of its memories: how many entries, if any, and what to ask. It
// returns how many entries that were.
func forget(conf config.Config, choose func(memory.Kept) (entries int, asks learned.Forgetting)) (n int, err error) {
	return n, each(conf, func(p place) error {
		all, err := p.List()
		if err != nil {
			return err
		}
		for _, m := range all {
			entries, asks := choose(m)
			if entries == 0 {
				continue
			}
			if err := p.Forget(asks.Owner, asks.ID); err != nil {
				return err
			}
			n += entries
		}
		return nil
	})
}
