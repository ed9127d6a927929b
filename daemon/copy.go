package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"epitome/config"
	"epitome/daemon/turns"
	"epitome/offload"
	"epitome/store"
	"epitome/store/shared"
)

// End is one of the two places between which facts and artifacts are copied: a data folder that no epitome holds, or
// what several epitomes share.
type End struct {
	storage *storage
	keep    time.Duration
}

// OpenFrom opens the place that is copied from. The caller closes it.
func OpenFrom(conf config.Config, folder string, log *slog.Logger) (*End, error) {
	_, err := os.Stat(filepath.Join(folder, StoreFolder))
	if conf.Store.URL == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot copy from %s: no epitome has kept anything there; give its data folder", folder)
	}
	return openEnd(conf, folder, log)
}

// OpenTo opens the place that is copied to, and makes it if there is none. The caller closes it.
func OpenTo(from *End, conf config.Config, folder string, log *slog.Logger) (*End, error) {
	secret, err := offload.SecretOf(from.storage.shelf)
	if err == nil {
		err = offerSecret(conf, folder, secret)
	}
	if err != nil {
		return nil, err
	}
	to, err := openEnd(conf, folder, log)
	if errors.Is(err, shared.ErrUnfit) {
		err = fmt.Errorf("%w; for what is copied that is the secret of the place it comes from", err)
	}
	if err != nil {
		return nil, err
	}
	if theirs, err := offload.SecretOf(to.storage.shelf); err != nil || !bytes.Equal(secret, theirs) {
		to.Close()
		return nil, fmt.Errorf("cannot copy: the two places have different secrets, so artifacts and clients have other "+
			"names in each; give the one that is copied to the secret of the other, with offload.secret_file: %w",
			errors.Join(err, errSecrets))
	}
	return to, nil
}

var errSecrets = errors.New("nothing that is copied would be found")

// offerSecret gives a place that has no secret yet one.
func offerSecret(conf config.Config, folder string, secret []byte) error {
	switch {
	case conf.Offload.Bucket == "":
		if conf.Store.URL != "" {
			folder = conf.Offload.Folder
		}
		return offload.OfferSecret(folder, secret)
	case conf.Offload.Secret != "": // it is said which one it has
		return nil
	}
	b, err := bucketOf(conf, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.Offer(secret); err != nil {
		return config.NoBucket(err)
	}
	return nil
}

func openEnd(conf config.Config, folder string, log *slog.Logger) (*End, error) {
	s, err := openStorage(conf, folder, conf.Listen, log)
	if err != nil {
		return nil, err
	}
	e := &End{s, conf.Store.Keep.D()}
	switch {
	case s.passing:
		err = fmt.Errorf("cannot use the data folder %s; stop the epitome that holds it, and see that you may write there",
			folder)
	case s.shared != nil && !s.shared.State().Up:
		err = fmt.Errorf("cannot use store.url: %s", s.shared.State().Why)
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Close ends it.
func (e *End) Close() { e.storage.close() }

// Copied is what a copy has done. What was there already stays as it is there.
type Copied struct {
	Facts, FactsThere         int
	Artifacts, ArtifactsThere int
	Bytes                     int64    // of artifacts that were copied
	Failed                    []string // what is not there afterwards, a sentence each
}

// Copy puts all facts and artifacts of one place into another, where they live as long as what is decided now. What it
// has put it has read again. It can be ended, and begun again: what is there is not copied twice.
func Copy(ctx context.Context, from, to *End) (c Copied, err error) {
	names, err := offload.All(from.storage.shelf)
	if err != nil {
		return c, fmt.Errorf("cannot list the artifacts: %w", err)
	}
	for _, name := range names { // first, so that no fact names one that is not there
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		c.artifact(from, to, name)
	}
	err = from.walk(func(k shared.Key, fact store.Fact) bool {
		if !isOwn(k) {
			c.fact(to, k, fact)
		}
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && to.storage.shared != nil && from.storage.shared == nil {
		err = turns.Import(to.storage.shared, to.keep)
	}
	return c, err
}

// artifact copies one artifact.
func (c *Copied) artifact(from, to *End, name string) {
	if to.storage.shelf.Touch(name) {
		c.ArtifactsThere++
		return
	}
	content, err := from.storage.shelf.Get(name)
	if errors.Is(err, offload.ErrUnknown) { // it has expired, or was changed by somebody
		return
	}
	if err == nil {
		err = to.storage.shelf.Put(name, content)
	}
	if err == nil {
		var put []byte
		if put, err = to.storage.shelf.Get(name); err == nil && !bytes.Equal(put, content) {
			err = fmt.Errorf("artifact %s is not there as it was put", name)
		}
	}
	if err != nil {
		c.Failed = append(c.Failed, err.Error())
		return
	}
	c.Artifacts++
	c.Bytes += int64(len(content))
}

// fact copies one fact.
func (c *Copied) fact(to *End, k shared.Key, fact store.Fact) {
	standing, won, err := to.put(k, fact.Bytes)
	switch {
	case err != nil:
		c.Failed = append(c.Failed, err.Error())
	case !won:
		c.FactsThere++
	case !bytes.Equal(standing.Bytes, fact.Bytes):
		c.Failed = append(c.Failed, fmt.Sprintf("fact %q is not there as it was put", store.Shown(k.Name)))
	default:
		c.Facts++
	}
}

// isOwn tells whether a fact is about the place it lies in: what is known of its files, and who does what.
func isOwn(k shared.Key) bool {
	return k.Tag == "" && (k.Name == sweepKey || k.Name == "mark" || k.Name == turns.ImportKey ||
		strings.HasPrefix(k.Name, turns.LeaseKeys) || strings.HasPrefix(k.Name, offload.FactKeys))
}

// walk calls visit with each fact.
func (e *End) walk(visit func(k shared.Key, fact store.Fact) bool) error {
	if s := e.storage.shared; s != nil {
		return shared.Walk(s, visit)
	}
	return e.storage.store.Scan("", func(key string, fact store.Fact) bool { return visit(shared.Key{Name: key}, fact) })
}

// put puts a fact where there is none. A folder knows no tags.
func (e *End) put(k shared.Key, value []byte) (standing store.Fact, won bool, err error) {
	if s := e.storage.shared; s != nil {
		return s.SwapIn(k, 0, value, e.keep)
	}
	return e.storage.store.PutIfAbsent(k.Name, value, e.keep)
}
