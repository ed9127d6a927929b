package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/instance"
	"epitome/offload"
)

func (a *app) artifactCommand() *cobra.Command {
	var lines, grep string
	c := &cobra.Command{Use: "artifact ID|PATH|URL", Short: "Print what epitome took out of a conversation",
		Long: "Print what epitome took out of a conversation, by its id, path or URL as the text in its place names it.\n" +
			"An id is looked for in the data folder that --data or --config names.",
		Args: atLeast(1, "the id, path or URL of an artifact"),
		RunE: func(_ *cobra.Command, args []string) error { return a.printArtifact(args[0], lines, grep) }}
	c.Flags().StringVar(&lines, "lines", "", "print only the lines `A-B`, counted from 1; A-, -B and A work too")
	c.Flags().StringVar(&grep, "grep", "", "print only lines that match a Go `regular expression`, each with its number in front")
	return c
}

// printArtifact prints an artifact, or the lines that are wanted of it. of is an id, path or URL.
func (a *app) printArtifact(of, lines, grep string) error {
	shelf := &artifacts{app: a}
	choose, err := shelf.Lines(lines, grep)
	if err != nil {
		return err
	}
	address, _, _ := strings.Cut(of, "?")
	name := strings.TrimSuffix(path.Base(filepath.ToSlash(address)), ".txt")
	if !offload.IsName(name) {
		return fmt.Errorf("cannot look for artifact %.60q: an id is 26 characters of a to z and 2 to 7", of)
	}
	var content io.ReadCloser
	switch {
	case strings.Contains(of, "://"):
		content, _, err = fetch(of, http.Get)
	case strings.ContainsAny(of, `/`+string(filepath.Separator)):
		content, err = openFile(of)
	default:
		content, _, err = shelf.Open(name)
	}
	if err == nil {
		defer func() { _ = content.Close() }()
		err = choose(content, os.Stdout)
	}
	if errors.Is(err, console.ErrNoArtifact) {
		return fmt.Errorf("cannot print artifact %s: %w; an epitome with another data folder may have it: give its --data or "+
			"--config, or the path or URL", name, err)
	}
	if err != nil {
		return fmt.Errorf("cannot print artifact %s: %w", name, err)
	}
	return nil
}

// openFile opens an artifact by its path, in whatever data folder that is.
func openFile(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(path + ".txt")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, console.ErrNoArtifact
	}
	return f, config.PathCause(err)
}

// fetch opens what an epitome serves at a URL; size is −1 if it is not known.
func fetch(url string, get func(url string) (*http.Response, error)) (content io.ReadCloser, size int64, err error) {
	resp, err := get(url)
	if err != nil {
		return nil, 0, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, resp.ContentLength, nil
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusNotFound {
		return nil, 0, console.ErrNoArtifact
	}
	var refusal struct{ Error struct{ Message string } }
	_ = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&refusal)
	return nil, 0, errors.New(cmp.Or(refusal.Error.Message, "the answer is "+resp.Status))
}

// artifacts are those of this user's epitomes, in the data folder and in those below it that "epitome run" makes. The
// configuration is read at each use: an epitome may have been started since.
type artifacts struct {
	*app
	mu sync.Mutex // held while one is opened: a store can be opened once
}

// Open returns the content under a name, which the caller closes, and its size in bytes, or −1 if it is not known.
func (s *artifacts) Open(name string) (content io.ReadCloser, size int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	conf, home, err := s.loadWithFolder()
	if err != nil {
		return nil, 0, err
	}
	failed := console.ErrNoArtifact
	for _, folder := range instance.FoldersIn(home) {
		content, size, err := openIn(conf, folder, name)
		if err == nil {
			return content, size, nil
		}
		if !errors.Is(err, console.ErrNoArtifact) {
			failed = err
		}
	}
	return nil, 0, failed
}

// openIn asks the epitome that runs with a folder, or opens the folder if none does.
func openIn(conf config.Config, folder, name string) (content io.ReadCloser, size int64, err error) {
	if cards := instance.RunningIn(folder); len(cards) > 0 {
		return fetch("/-/artifacts/"+name, func(path string) (*http.Response, error) {
			return cards[0].Do(context.Background(), http.MethodGet, path, nil)
		})
	}
	left, err := daemon.OpenLeft(conf, folder)
	if err != nil {
		return nil, 0, err
	}
	content, size, err = left.Artifacts().Open(name)
	return content, size, errors.Join(err, left.Close()) // an open file needs no store
}

// Lines returns a function that copies the lines that are wanted.
func (*artifacts) Lines(lines, grep string) (choose func(from io.Reader, to io.Writer) error, err error) {
	return daemon.Artifacts{}.Lines(lines, grep)
}

// Beginning are the names of files that begin with these letters.
func (s *artifacts) Beginning(letters string) (names []string, err error) {
	conf, home, err := s.loadWithFolder()
	if err != nil {
		return nil, err
	}
	folders := instance.FoldersIn(home)
	if conf.Store.URL != "" && conf.Offload.Folder != "" {
		folders = append(folders, conf.Offload.Folder)
	}
	for _, folder := range folders {
		some, err := offload.NamesIn(folder, letters)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
