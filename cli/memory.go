package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"epitome/config"
	"epitome/console"
	"epitome/console/figure"
	"epitome/console/inert"
	"epitome/console/learned"
	"epitome/daemon"
	"epitome/inject"
	"epitome/instance"
)

// memoryCmd lists and forgets what earlier sessions have learned, wherever epitomes of this user keep it: one that runs
// is asked, and a folder is opened only where none does.
type memoryCmd struct {
	List   memoryListCmd   `cmd:"" help:"List what earlier sessions have learned, of all projects or of one."`
	Forget memoryForgetCmd `cmd:"" help:"Forget entries."`
	Clear  memoryClearCmd  `cmd:"" help:"Forget all entries, of all projects or of one."`
}

type ofProject struct {
	Project string `placeholder:"NAME" help:"Only this project: the folder in which an agent works, or the name that x-epitome-project gives."`
}

func (w ofProject) has(k inject.Notes) bool {
	return w.Project == "" || k.Owner.Project == inject.ProjectName(w.Project)
}

type memoryListCmd struct {
	ofProject
	JSON bool `help:"Print the list as JSON."`
}

// Run lists the entries.
func (k memoryListCmd) Run(c *cli) error {
	conf, err := c.load()
	if err != nil {
		return err
	}
	all, on := learned.Listing{Memories: []inject.Notes{}}, conf.Memory.Enabled
	err = eachMemory(conf, func(p learned.Keeper) error {
		if asked, runs := p.(asked); runs {
			on = asked.On()
		}
		found, err := p.List()
		all.Memories = append(all.Memories, slices.DeleteFunc(found, func(m inject.Notes) bool { return !k.has(m) })...)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("cannot list memories: %w", err)
	case k.JSON:
		all.Enabled = &on
		return inert.Print(os.Stdout, all)
	case len(all.Memories) == 0:
		fmt.Println("Nothing is known.")
	}
	if !on {
		fmt.Fprintln(os.Stderr, "epitome: memories are off: enabled = true under [memory] turns them on")
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, m := range all.Memories {
		of := shown(m.Owner.Project)
		if m.Owner.Scope != "" {
			of += fmt.Sprintf(" (scope %.8s)", shown(m.Owner.Scope))
		}
		fmt.Fprintln(t, of)
		for _, e := range m.Entries {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", shown(e.ID), e.At.Local().Format(time.DateOnly), shown(e.Kind), shown(e.Text))
		}
	}
	return t.Flush()
}

// shown is a text as a terminal may show it.
func shown(text string) string { return figure.Plain(figure.Shorten(text, 1000)) }

type memoryForgetCmd struct {
	ofProject
	IDs []string `arg:"" name:"id" help:"The entries' ids, as list prints them."`
}

// Run forgets the entries.
func (k memoryForgetCmd) Run(c *cli) error {
	for _, id := range k.IDs {
		n, err := forget(c, func(m inject.Notes) (entries int, which string) {
			if k.has(m) && slices.ContainsFunc(m.Entries, func(e inject.Entry) bool { return e.ID == id }) {
				entries = 1
			}
			return entries, id
		})
		if err == nil && n == 0 {
			err = errors.New("no entry has this id; 'epitome memory list' has all")
		}
		if err != nil {
			return fmt.Errorf("cannot forget %s: %w", shown(id), err)
		}
	}
	fmt.Println("Forgotten. Conversations that have begun keep what they were told, as long as decisions are kept.")
	return nil
}

type memoryClearCmd struct{ ofProject }

// Run forgets all.
func (k memoryClearCmd) Run(c *cli) error {
	n, err := forget(c, func(m inject.Notes) (entries int, which string) {
		if k.has(m) {
			entries = len(m.Entries)
		}
		return entries, ""
	})
	if err != nil {
		return fmt.Errorf("cannot clear memories: %w", err)
	}
	fmt.Printf("Forgotten: %d. Conversations that have begun keep what they were told, as long as decisions are kept.\n", n)
	return nil
}

// forget has memories forget an entry, or all for none, where choose counts any; n is how many that were.
func forget(c *cli, choose func(inject.Notes) (entries int, id string)) (n int, err error) {
	conf, err := c.load()
	if err != nil {
		return 0, err
	}
	err = eachMemory(conf, func(p learned.Keeper) error {
		all, err := p.List()
		for _, m := range all {
			entries, id := choose(m)
			if entries == 0 || err != nil {
				continue
			}
			err = p.Forget(m.Owner, id)
			n += entries
		}
		return err
	})
	return n, err
}

// eachMemory does something with every place: epitomes that run, and folders of those that do not.
func eachMemory(conf config.Config, do func(learned.Keeper) error) error {
	home, err := conf.DataFolder()
	if err != nil {
		return err
	}
	running := false
	for _, folder := range instance.FoldersIn(home) {
		if cards := instance.RunningIn(folder); len(cards) > 0 {
			running, err = true, askMemory(cards[0], do)
		} else {
			err = openMemory(conf, folder, do)
		}
		if err != nil {
			return err
		}
	}
	if conf.Store.URL != "" && !running {
		return errors.New("several epitomes share the store of memories, and none of them runs with this data folder: start one first")
	}
	return nil
}

// openMemory does it with what an epitome has left in a folder.
func openMemory(conf config.Config, folder string, do func(learned.Keeper) error) error {
	left, err := daemon.OpenLeft(conf, folder)
	if errors.Is(err, console.ErrNoArtifact) { // nothing was ever kept
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(do(left.Memories(conf)), left.Close())
}

// askMemory does it with those of an epitome that runs.
func askMemory(card *instance.Card, do func(learned.Keeper) error) error {
	text, err := card.Answer(learned.ListPath, nil)
	if err != nil {
		return err
	}
	a := asked{card: card}
	if err := json.Unmarshal(text, &a.said); err != nil {
		return fmt.Errorf("cannot read the answer of the epitome on %s: %w", card.Listen, err)
	}
	return do(a)
}

// asked is a learned.Keeper of an epitome that runs.
type asked struct {
	card *instance.Card
	said learned.Listing
}

func (a asked) List() ([]inject.Notes, error) { return a.said.Memories, nil }

func (a asked) On() bool { return a.said.Enabled != nil && *a.said.Enabled }

func (a asked) Forget(o inject.Owner, id string) error {
	_, err := a.card.Post(learned.ForgetPath, learned.Forgetting{Owner: o, ID: id, All: id == ""})
	return err
}
