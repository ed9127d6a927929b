package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"epitome/config"
	"epitome/inject"
)

// contextCmd keeps, lists and forgets files that people give to conversations.
type contextCmd struct {
	Add    contextAddCmd    `cmd:"" help:"Keep files under a name. A file of the same name takes the other one's place."`
	List   contextListCmd   `cmd:"" help:"List the files that are kept, of all names or of one."`
	Remove contextRemoveCmd `cmd:"" help:"Forget files, or all of a name."`
}

type contextAddCmd struct {
	Name  string   `arg:"" help:"The name under which conversations ask for the files together: a-z, 0-9, dot, dash and underscore."`
	Files []string `arg:"" help:"Text files in UTF-8. At most 10 MB each, and 200 under one name."`
}

type contextListCmd struct {
	Name string `arg:"" optional:"" help:"Only the files under this name."`
}

type contextRemoveCmd struct {
	Name  string   `arg:"" help:"The name."`
	Files []string `arg:"" optional:"" help:"The files' own names, as list prints them. Without, all of them."`
}

// keptBy opens what is kept, to be read and written.
func keptBy(c *cli) (inject.Files, error) {
	conf, err := c.load()
	if err != nil {
		return inject.Files{}, err
	}
	folder, err := conf.DataFolder()
	if err != nil {
		return inject.Files{}, err
	}
	return inject.FilesIn(folder), config.CheckFormat(folder)
}

// Run keeps the files.
func (k contextAddCmd) Run(c *cli) error {
	if err := inject.CheckContext(k.Name); err != nil {
		return err
	}
	files := make([]inject.NewFile, 0, len(k.Files))
	for _, path := range k.Files {
		content, err := readFile(path)
		if err != nil {
			return fmt.Errorf("cannot keep %s: %w", path, config.PathCause(err))
		}
		for _, other := range files {
			if other.Name == filepath.Base(path) {
				return fmt.Errorf("cannot keep two files called %q under one name: rename one", other.Name)
			}
		}
		files = append(files, inject.NewFile{Name: filepath.Base(path), Text: content})
	}
	kept, err := keptBy(c)
	if err != nil {
		return err
	}
	if err := kept.Add(k.Name, files); err != nil {
		return err
	}
	word := "files"
	if len(files) == 1 {
		word = "file"
	}
	_, err = fmt.Printf("Kept %d %s under %s. Conversations that begin from now on are told of them where they ask for it: by the "+
		"header x-epitome-context: %s, or by names = [%q] under [context] in the configuration.\n", len(files), word, k.Name, k.Name, k.Name)
	return err
}

// readFile reads a file of no more than a document may have.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder; name its files")
	case info.Size() > inject.MaxContextBytes:
		return nil, fmt.Errorf("it has more than %d bytes; cut it into several", inject.MaxContextBytes)
	}
	return os.ReadFile(path)
}

// Run lists the files.
func (k contextListCmd) Run(c *cli) error {
	kept, err := keptBy(c)
	if err != nil {
		return err
	}
	names := []string{k.Name}
	if k.Name == "" {
		if names, err = kept.Names(); err != nil {
			return fmt.Errorf("cannot list what is kept: %w", config.PathCause(err))
		}
		if len(names) == 0 {
			_, err = fmt.Println("Nothing is kept. 'epitome context add NAME FILE' keeps a file.")
			return err
		}
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tFILE\tBYTES") // the error comes with Flush
	for _, name := range names {
		files, err := kept.List(name)
		if err != nil {
			return fmt.Errorf("cannot list the files of %s: %w", name, config.PathCause(err))
		}
		for _, f := range files {
			fmt.Fprintf(t, "%s\t%s\t%d\n", name, quoted(f.Name), f.Bytes)
		}
	}
	return t.Flush()
}

// quoted is a file's name as a terminal may show it.
func quoted(title string) string {
	if q := fmt.Sprintf("%q", title); q != `"`+title+`"` {
		return q
	}
	return title
}

// Run forgets the files.
func (k contextRemoveCmd) Run(c *cli) error {
	kept, err := keptBy(c)
	if err != nil {
		return err
	}
	if err := kept.Remove(k.Name, k.Files...); err != nil {
		return fmt.Errorf("cannot remove %s: %w; 'epitome context list' has what is kept", k.Name, config.PathCause(err))
	}
	_, err = fmt.Println("Removed. Conversations that have begun keep what they were told of, as long as artifacts are kept.")
	return err
}
