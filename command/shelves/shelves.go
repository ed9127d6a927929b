// Package shelves opens artifacts wherever epitomes of this user keep them: it asks the epitome that runs with a data
// folder, and opens what lies there only where none does.
//
// It promises that no running epitome is disturbed, and that the error is console.ErrNoArtifact where nobody has it.
package shelves

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/instance"
)

// downloadTime bounds the time that an artifact takes from a running epitome.
const downloadTime = 2 * time.Minute

// Open opens the artifact of this name from a data folder, or from one of those below it that "epitome run" makes. The
// caller closes it. size is −1 if it is not known.
func Open(conf config.Config, home, name string) (content io.ReadCloser, size int64, err error) {
	var failed error
	for _, folder := range instance.FoldersIn(home) {
		content, size, err := openIn(conf, folder, name)
		if err == nil {
			return content, size, nil
		}
		if !errors.Is(err, console.ErrNoArtifact) && failed == nil {
			failed = err
		}
	}
	return nil, 0, cmp.Or(failed, console.ErrNoArtifact)
}

func openIn(conf config.Config, folder, name string) (io.ReadCloser, int64, error) {
	if b, err := instance.Read(folder); err == nil {
		if _, err := b.Ask(); err == nil {
			return ask(b, name)
		}
	}
	kept, err := daemon.OpenLeft(conf, folder)
	if err != nil {
		return nil, 0, err
	}
	content, size, err := kept.Artifacts().Open(name)
	if err != nil {
		return nil, 0, errors.Join(err, kept.Close())
	}
	return withStore{content, kept}, size, nil
}

// withStore is a content whose store is closed with it.
type withStore struct {
	io.ReadCloser
	store io.Closer
}

func (w withStore) Close() error { return errors.Join(w.ReadCloser.Close(), w.store.Close()) }

// ask asks a running epitome.
func ask(b *instance.Card, name string) (io.ReadCloser, int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), downloadTime)
	resp, err := b.Get(ctx, "/-/artifacts/"+name, nil)
	if err != nil {
		cancel()
		return nil, 0, err
	}
	content, size, err := read(resp, b.Listen)
	return ending{content, cancel}, size, err
}

// At opens what an epitome serves at a URL, with a query as it is.
func At(u *url.URL) (io.ReadCloser, int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), downloadTime)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		cancel()
		return nil, 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		cancel()
		return nil, 0, err
	}
	content, size, err := read(resp, u.Host)
	return ending{content, cancel}, size, err
}

// ending is a content with what ends its request.
type ending struct {
	io.ReadCloser
	cancel func()
}

func (e ending) Close() error {
	defer e.cancel()
	return e.ReadCloser.Close()
}

// read is the content that an epitome has answered with.
func read(resp *http.Response, from string) (io.ReadCloser, int64, error) {
	if resp.StatusCode == http.StatusOK {
		return resp.Body, resp.ContentLength, nil
	}
	defer func() { _ = resp.Body.Close() }()
	none := io.NopCloser(bytes.NewReader(nil))
	var said struct{ Error struct{ Message string } }
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&said); err != nil || said.Error.Message == "" {
		return none, 0, fmt.Errorf("the epitome on %s answered %s", from, resp.Status)
	}
	for _, known := range []error{console.ErrNoArtifact, console.ErrNoLines} {
		if more, ok := strings.CutPrefix(said.Error.Message, known.Error()); ok {
			return none, 0, fmt.Errorf("%w%s", known, more)
		}
	}
	return none, 0, errors.New(said.Error.Message)
}
