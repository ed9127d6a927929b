package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"epitome/console"
	"epitome/inject"
)

func (a *app) contextCommand() *cobra.Command {
	verb := func(use, short string, args cobra.PositionalArgs,
		run func(kept inject.Files, args []string) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(_ *cobra.Command, args []string) error {
			_, folder, err := a.loadWithFolder()
			if err != nil {
				return err
			}
			return run(inject.FilesIn(folder), args)
		}}
	}
	return verbs("context", "Keep files that new conversations are told about",
		verb("add NAME FILE...", "Keep text files under a name; a file replaces one of the same name",
			cobra.MinimumNArgs(2), addContext),
		verb("list", "List the files of all names", cobra.NoArgs, listContext),
		verb("remove NAME [FILE...]", "Forget files, or all files of a name", cobra.MinimumNArgs(1), removeContext))
}

// addContext keeps files under a name: args are the name and the files' paths.
func addContext(kept inject.Files, args []string) error {
	name, paths := args[0], args[1:]
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err == nil {
			err = kept.Add(name, filepath.Base(path), content)
		}
		if err != nil {
			return fmt.Errorf("cannot keep %s: %w", path, err)
		}
	}
	fmt.Printf("Kept %d file(s) under %s. A new conversation gets their index with the header x-epitome-context: %s, "+
		"or with names = [%q] under [context] in the configuration.\n", len(paths), name, name, name)
	return nil
}

// listContext lists the files under all names.
func listContext(kept inject.Files, _ []string) error {
	names, err := kept.Names()
	if err == nil && len(names) == 0 {
		fmt.Println("Nothing is kept. 'epitome context add NAME FILE' keeps a file.")
		return nil
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tFILE\tBYTES")
	for _, name := range names {
		files, failed := kept.List(name)
		err = errors.Join(err, failed)
		for _, f := range files {
			fmt.Fprintf(t, "%s\t%s\t%d\n", name, console.Plain(f.Name), f.Bytes)
		}
	}
	return errors.Join(err, t.Flush())
}

// removeContext forgets files: args are a name and the files' names, or a name alone for all its files.
func removeContext(kept inject.Files, args []string) error {
	if err := kept.Remove(args[0], args[1:]...); err != nil {
		return fmt.Errorf("cannot remove %s: %w; 'epitome context list' has what is kept", args[0], err)
	}
	fmt.Println("Removed. Conversations that have begun keep the index that they were sent.")
	return nil
}
