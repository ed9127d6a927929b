package daemon

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"epitome/config"
	"epitome/console"
	"epitome/offload"
)

// Artifacts is the shelf as it is read from outside.
type Artifacts struct{ *offload.Shelf }

// OpenArtifacts opens the artifacts of a data folder, whether an epitome runs with it or not. The error is
// console.ErrNoArtifact if there are none.
func OpenArtifacts(conf config.Config, folder string) (Artifacts, error) {
	if err := config.CheckFormat(folder); err != nil {
		return Artifacts{}, err
	}
	if _, err := os.Stat(filepath.Join(shelfFolder(conf, folder), ArtifactFolder)); err != nil && conf.Offload.Bucket == "" {
		return Artifacts{}, console.ErrNoArtifact
	}
	shelf, err := openShelfLeft(conf, folder)
	return Artifacts{shelf}, err
}

// Open returns the content under a name, which the caller closes, and its size in bytes.
func (a Artifacts) Open(name string) (content io.ReadCloser, size int64, err error) {
	if content, size, err = a.Shelf.Open(name); errors.Is(err, offload.ErrUnknown) {
		err = console.ErrNoArtifact
	}
	return content, size, err
}

// Beginning returns the names that begin with these letters.
func (a Artifacts) Beginning(letters string) ([]string, error) {
	return a.Find(letters)
}

// Lines reads which lines are wanted, and returns what copies them.
func (Artifacts) Lines(lines, grep string) (choose func(from io.Reader, to io.Writer) error, err error) {
	want, err := offload.ParseRange(lines, grep)
	if err != nil {
		return nil, err
	}
	return func(from io.Reader, to io.Writer) error {
		err := offload.Select(from, to, want)
		if errors.Is(err, offload.ErrNoLines) {
			err = fmt.Errorf("%w: %w", console.ErrNoLines, err)
		}
		return err
	}, nil
}
