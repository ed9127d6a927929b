package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/instance"
	"epitome/offload"
)

// downloadTime bounds the time that an artifact takes from a running epitome.
const downloadTime = 2 * time.Minute

// openArtifact opens the artifact of this name from a data folder, or from one of those below it that "epitome run" makes. The
// caller closes it. size is −1 if it is not known.
func openArtifact(conf config.Config, home, name string) (content io.ReadCloser, size int64, err error) {
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
	if running := instance.RunningIn(folder); len(running) > 0 {
		return askArtifact(running[0], name)
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

// askArtifact asks a running epitome.
func askArtifact(b *instance.Card, name string) (io.ReadCloser, int64, error) {
	return fetch(b.Listen, func(ctx context.Context) (*http.Response, error) {
		return b.Get(ctx, "/-/artifacts/"+name)
	})
}

// artifactAt opens what an epitome serves at a URL, with a query as it is.
func artifactAt(u *url.URL) (io.ReadCloser, int64, error) {
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

// ownArtifacts are the artifacts of this user's epitomes, as tools read them.
type ownArtifacts struct {
	cli *cli // the configuration is read each time: an epitome may have been started meanwhile

	mu sync.Mutex // held while one is opened: of a folder that nobody serves, one has the store
}

// Open returns the content under a name, which the caller closes, and its size in bytes.
func (o *ownArtifacts) Open(name string) (io.ReadCloser, int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	conf, home, err := o.place()
	if err != nil {
		return nil, 0, err
	}
	return openArtifact(conf, home, name)
}

// Lines reads which lines are wanted.
func (*ownArtifacts) Lines(lines, grep string) (choose func(from io.Reader, to io.Writer) error, err error) {
	return daemon.Artifacts{}.Lines(lines, grep)
}

// Beginning are the names that begin with these letters.
func (o *ownArtifacts) Beginning(letters string) ([]string, error) {
	conf, home, err := o.place()
	if err != nil {
		return nil, err
	}
	return artifactsBeginning(conf, home, letters)
}

// place is the configuration, and the data folder that it says.
func (o *ownArtifacts) place() (conf config.Config, home string, err error) {
	if conf, err = o.cli.load(); err != nil {
		return conf, "", err
	}
	home, err = conf.DataFolder()
	return conf, home, err
}

// artifactsBeginning are the names of artifacts that begin with these letters and lie as files in a data folder, in one of those
// below it that "epitome run" makes, or in the one that several epitomes share. Those in a bucket are not among them.
func artifactsBeginning(conf config.Config, home, letters string) (names []string, err error) {
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
