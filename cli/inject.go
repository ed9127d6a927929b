package cli

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"epitome/console"
	"epitome/daemon"
	"epitome/inject"
)

func (a *app) memoryCommand() *cobra.Command {
	var project string
	open := func(*cobra.Command) (memory, error) { return a.memory(project) }
	c := verbs("memory", "List or delete the notes that epitome takes of a session and gives to the next one",
		verb("list", "List the notes of earlier sessions", cobra.NoArgs, open, memory.list),
		verb("forget ID...", "Forget notes by their ids, as list prints them", cobra.MinimumNArgs(1), open, memory.forget),
		verb("clear", "Forget all notes", cobra.NoArgs, open, memory.forget))
	c.PersistentFlags().StringVar(&project, "project", "", "only this `project`: a folder, or a name of your own")
	return c
}

// memory has the notes of a running epitome.
type memory struct {
	card  *daemon.Card
	notes []inject.Notes
}

// memory returns what the sessions of a running epitome have learned in a project, or in all if the project is empty.
func (a *app) memory(project string) (memory, error) {
	var all console.Memories
	card, err := a.get("/-/api/memory", &all)
	isOther := func(n inject.Notes) bool { return project != "" && n.Owner.Project != inject.ProjectName(project) }
	return memory{card, slices.DeleteFunc(all.Memories, isOther)}, err
}

func (m memory) list([]string) error {
	return show(stdout, "notes", 0, m.notes)
}

// forget forgets the notes with these ids, or all notes if there are none.
func (m memory) forget(ids []string) error {
	gone, unknown := 0, slices.Clone(ids)
	for _, n := range m.notes {
		for _, e := range n.Entries {
			if len(ids) > 0 && !slices.Contains(ids, e.ID) {
				continue
			}
			question := console.Forgetting{Owner: n.Owner, ID: e.ID}
			if err := m.card.Post("/-/api/memory/forget", question, &struct{}{}); err != nil {
				return err
			}
			gone++
			unknown = slices.DeleteFunc(unknown, func(id string) bool { return id == e.ID })
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("cannot forget %s: no note has this id; 'epitome memory list' shows all",
			strings.Join(unknown, ", "))
	}
	fmt.Printf("Forgotten: %d. Conversations that have begun keep what they were told.\n", gone)
	return nil
}

func (a *app) contextCommand() *cobra.Command {
	open := func(*cobra.Command) (inject.Files, error) {
		conf, err := a.load()
		return inject.FilesIn(conf.Data), err
	}
	return verbs("context", "Keep files, and tell new conversations where they are",
		verb("add NAME FILE|FOLDER...", "Add text files and documents to the set NAME, in the place of those there by their names",
			cobra.MinimumNArgs(2), open, addContext),
		verb("list", "List the files of all sets", cobra.NoArgs, open, listContext),
		verb("remove NAME [FILE...]", "Remove files of a set, or the whole set", cobra.MinimumNArgs(1), open, removeContext))
}

// addContext keeps files under a name, or none of them: args are the name and the paths of files and folders. A file of
// a folder that cannot be kept is left out, with a warning.
func addContext(kept inject.Files, args []string) error {
	name, paths := args[0], args[1:]
	files := map[string]string{}
	for _, path := range paths {
		if err := inject.Find(path, files); err != nil {
			return fmt.Errorf("cannot keep %s: %w", path, err)
		}
	}
	texts := map[string][]byte{}
	var left []string
	for _, file := range slices.Sorted(maps.Keys(files)) {
		content, err := os.ReadFile(files[file])
		if err == nil {
			content, err = inject.Text(file, content)
		}
		switch {
		case err == nil:
			texts[file] = content
		case slices.Contains(paths, files[file]):
			return fmt.Errorf("cannot keep %s: %w", files[file], err)
		default:
			left = append(left, fmt.Sprintf("%s (%v)", file, err))
		}
	}
	why := plain(strings.Join(left, ", "))
	if len(texts) == 0 {
		return fmt.Errorf("cannot keep %s: no file in it can be kept: %s", paths[0], cmp.Or(why, "there is none"))
	}
	if err := kept.Add(name, texts); err != nil {
		return fmt.Errorf("cannot keep them: %w", err)
	}
	if len(left) > 0 {
		warn("left out %s: %s", english.Plural(len(left), "file", ""), why)
	}
	fmt.Printf("Kept %s under %s. A new conversation gets their index with the header x-epitome-context: %s, "+
		"or with names = [%q] under [context] in the configuration.\n", english.Plural(len(texts), "file", ""),
		name, name, name)
	return nil
}

func listContext(kept inject.Files, _ []string) error {
	return show(stdout, "contexts", 0, kept)
}

// removeContext forgets files: args are a name and the files' names, or a name alone for all its files.
func removeContext(kept inject.Files, args []string) error {
	if err := kept.Remove(args[0], args[1:]...); err != nil {
		return fmt.Errorf("cannot remove %s: %w; 'epitome context list' has what is kept", args[0], err)
	}
	fmt.Println("Removed. Conversations that have begun keep the index that they were sent.")
	return nil
}
