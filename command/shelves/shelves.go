// Package shelves opens artifacts wherever epitomes of this user keep them: it asks the epitome that runs with a data
// folder, and opens what lies there only where none does.
//
// It promises that no running epitome is disturbed, and that the error is console.ErrNoArtifact where nobody has it.
package shelves

import (
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
	if err = errors.Join(err, kept.Close()); err != nil { // an opened content needs no store
		return nil, 0, err
	}
	return content, size, nil
}

// ask asks a running epitome.
func ask(b *instance.Card, name string) (io.ReadCloser, int64, error) {
	return fetch(b.Listen, func(ctx context.Context) (*http.Response, error) {
		return b.Get(ctx, "/-/artifacts/"+name)
	})
}

// At opens what an epitome serves at a URL, with a query as it is.
func At(u *url.URL) (io.ReadCloser, int64, error) {
	return fetch(u.Host, func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, err
		}
		return http.DefaultClient.Do(req)
	})
}

// fetch is what an epitome answers, for as long as a download may take.
func fetch(from string, get func(context.Context) (*http.Response, error)) (io.ReadCloser, int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), downloadTime)
	resp, err := get(ctx)
	if err == nil {
		err = refusal(resp, from)
	}
	if err != nil {
		cancel()
		return nil, 0, err
	}
	return ending{resp.Body, cancel}, resp.ContentLength, nil
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

// refusal is what an epitome says in place of a content; nil if it gives one.
func refusal(resp *http.Response, from string) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
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
