package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"epitome/cli/line"
	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/offload"
)

type artifactCmd struct {
	ID    string    `arg:"" help:"The artifact's id, path or URL, as the text in its place names it. An id is searched for in the data folder that --data and --config say. 'ID*' with the first 8 letters or more stands for the one id that begins so."`
	Lines lineRange `placeholder:"A-B" help:"Print only these lines, counted from 1. A-, -B and A work too."`
	Grep  string    `placeholder:"RE" help:"Print only lines that match a regular expression of Go, each with its number in front."`
}

// lineRange is which lines are meant. -20 is one, and no flag.
type lineRange string

// Decode takes the next word of the command line.
func (l *lineRange) Decode(words *line.Words) (err error) {
	word, _ := words.Peek()
	if len(word) > 1 && word[0] == '-' && '0' <= word[1] && word[1] <= '9' {
		words.Next()
	} else {
		word, err = words.Value("lines")
	}
	*l = lineRange(word)
	return err
}

// Run prints what the path or URL names. For an id it asks the epitome that runs with the same data folder, and opens
// what lies there only where none does. Proxies that "epitome run" has started have folders of their own.
func (k artifactCmd) Run(c *cli) error {
	choose, err := daemon.Artifacts{}.Lines(string(k.Lines), k.Grep)
	if err != nil {
		return err
	}
	if beginning, ok := offload.PrefixOf(k.ID); ok {
		if k.ID, err = complete(c, beginning); err != nil {
			return fmt.Errorf("cannot look for artifact %.60q: %w", beginning+"*", err)
		}
	}
	name := nameIn(k.ID)
	if !offload.IsName(name) {
		return fmt.Errorf("cannot look for artifact %.60q: an id is 26 characters of a to z and 2 to 7", k.ID)
	}
	var looked string
	switch {
	case strings.Contains(k.ID, "://"):
		looked, err = k.ID, k.printURL()
	case strings.ContainsAny(k.ID, `/`+string(filepath.Separator)):
		looked, err = k.ID, printFile(k.ID, choose)
	default:
		looked, err = k.search(c, name, choose)
	}
	if errors.Is(err, console.ErrNoArtifact) {
		return fmt.Errorf("cannot print artifact %s: %w; looked in %s", name, err, looked)
	}
	if err != nil {
		return fmt.Errorf("cannot print artifact %s: %w", name, err)
	}
	return nil
}

// search prints the artifact of this name from the data folder, or one of those below it. looked says where that is,
// and what to do if it lies elsewhere.
func (k artifactCmd) search(c *cli, name string, choose func(io.Reader, io.Writer) error) (looked string, err error) {
	conf, err := c.load()
	if err != nil {
		return "", err
	}
	home, err := conf.DataFolder()
	if err != nil {
		return "", err
	}
	looked = home + " and the folders in its run/; an epitome that runs with another --data or --config has a " +
		"folder of its own: give the same flags here, or the path or URL in place of the id"
	content, _, err := openArtifact(conf, home, name)
	if err != nil {
		return looked, err
	}
	defer func() { _ = content.Close() }()
	return looked, choose(content, os.Stdout)
}

// complete is the one id that begins so. Fewer letters than least are more likely a slip than meant.
func complete(c *cli, beginning string) (id string, err error) {
	const least = 8
	if len(beginning) < least {
		return "", fmt.Errorf("write at least %d letters of its id before the *", least)
	}
	names, err := (&ownArtifacts{cli: c}).Beginning(beginning)
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", errors.New("no id of an artifact in a folder begins so; give the whole id of one that lies in a bucket")
	case len(names) > 1:
		return "", fmt.Errorf("several ids begin so, write one of them: %s", strings.Join(names, ", "))
	}
	return names[0], nil
}

// nameIn is the id in a path or URL that ends with it.
func nameIn(text string) string {
	text, _, _ = strings.Cut(text, "?")
	return strings.TrimSuffix(path.Base(filepath.ToSlash(text)), ".txt")
}

// printFile prints an artifact by its path, in whatever data folder that is.
func printFile(path string, choose func(io.Reader, io.Writer) error) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(path + ".txt")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return console.ErrNoArtifact
	}
	if err != nil {
		return config.PathCause(err)
	}
	defer func() { _ = f.Close() }()
	return choose(f, os.Stdout)
}

// printURL prints what an epitome answers at the URL, with the lines that flags ask for in place of its own.
func (k artifactCmd) printURL() error {
	u, err := url.Parse(k.ID)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return errors.New("write a URL that begins with http://, as epitome serves it")
	}
	query := u.Query()
	for key, value := range map[string]string{"lines": string(k.Lines), "grep": k.Grep} {
		if value != "" {
			query.Set(key, value)
		}
	}
	u.RawQuery = query.Encode()
	content, _, err := artifactAt(u)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	_, err = io.Copy(os.Stdout, content)
	return err
}
