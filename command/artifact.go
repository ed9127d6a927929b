package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/instance"
	"epitome/offload"
)

type artifactCmd struct {
	ID    string    `arg:"" help:"The artifact's id, path or URL, as the text in its place names it. An id is searched for in the data folder that --data and --config say."`
	Lines lineRange `placeholder:"A-B" help:"Print only these lines, counted from 1. A-, -B and A work too."`
	Grep  string    `placeholder:"RE" help:"Print only lines that match a regular expression of Go, each with its number in front."`
}

// lineRange is which lines are meant. -20 is one, and no flag.
type lineRange string

// Decode takes the next word of the command line.
func (l *lineRange) Decode(ctx *kong.DecodeContext) error {
	word, ok := ctx.Scan.Peek().Value.(string)
	if ok && len(word) > 1 && word[0] == '-' && '0' <= word[1] && word[1] <= '9' {
		ctx.Scan.Pop()
		*l = lineRange(word)
		return nil
	}
	return ctx.Scan.PopValueInto("lines", (*string)(l))
}

// Run prints what the path or URL names. For an id it asks the epitome that runs with the same data folder, and opens
// what lies there only where none does. Proxies that "epitome run" has started have folders of their own.
func (k artifactCmd) Run(c *cli) error {
	choose, err := daemon.Artifacts{}.Lines(string(k.Lines), k.Grep)
	if err != nil {
		return err
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
	var failed error
	for _, folder := range instance.FoldersIn(home) {
		err := k.printFrom(conf, folder, name, choose)
		if err == nil || errors.Is(err, console.ErrNoLines) {
			return looked, err
		}
		if !errors.Is(err, console.ErrNoArtifact) && failed == nil {
			failed = err
		}
	}
	return looked, cmp.Or(failed, console.ErrNoArtifact)
}

// nameIn is the id in a path or URL that ends with it.
func nameIn(text string) string {
	text, _, _ = strings.Cut(text, "?")
	return strings.TrimSuffix(strings.TrimSuffix(path.Base(filepath.ToSlash(text)), ".txt"), offload.SealedExtension)
}

// printFile prints an artifact by its path, in whatever data folder that is.
func printFile(path string, choose func(io.Reader, io.Writer) error) error {
	if strings.HasSuffix(path, offload.SealedExtension) {
		return errors.New("its file is sealed; give its id alone, with the key")
	}
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
	ctx, cancel := context.WithTimeout(context.Background(), downloadTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return printAnswer(resp, u.Host)
}

// printFrom prints an artifact of the epitome with this data folder. Whatever the error is, nothing was printed if it
// is ErrNoArtifact.
func (k artifactCmd) printFrom(conf config.Config, folder, name string, choose func(io.Reader, io.Writer) error) error {
	if b, err := instance.Read(folder); err == nil {
		if _, err := b.Ask(); err == nil {
			return printArtifact(b, name, url.Values{"lines": {string(k.Lines)}, "grep": {k.Grep}})
		}
	}
	kept, err := daemon.OpenLeft(conf, folder)
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }()
	content, _, err := kept.Artifacts().Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	return choose(content, os.Stdout)
}

// downloadTime bounds the time that an artifact takes from a running epitome.
const downloadTime = 2 * time.Minute

func printArtifact(b *instance.Card, name string, query url.Values) error {
	ctx, cancel := context.WithTimeout(context.Background(), downloadTime)
	defer cancel()
	resp, err := b.Get(ctx, "/-/artifacts/"+name, query)
	if err != nil {
		return err
	}
	return printAnswer(resp, b.Listen)
}

// printAnswer prints the artifact that an epitome has answered with, and closes the answer.
func printAnswer(resp *http.Response, from string) error {
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusOK {
		_, err := io.Copy(os.Stdout, resp.Body)
		return err
	}
	var said struct{ Error struct{ Message string } }
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&said); err != nil || said.Error.Message == "" {
		return fmt.Errorf("the epitome on %s answered %s", from, resp.Status)
	}
	for _, known := range []error{console.ErrNoArtifact, console.ErrNoLines} {
		if more, ok := strings.CutPrefix(said.Error.Message, known.Error()); ok {
			return fmt.Errorf("%w%s", known, more)
		}
	}
	return errors.New(said.Error.Message)
}
