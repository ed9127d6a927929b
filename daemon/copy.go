package daemon

import (
	"bytes"
	"cmp"
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
	"epitome/unit"
)

// End is one of the two places between which facts and artifacts are copied: a data folder that no epitome holds, or
// what several epitomes share.
type End struct {
	storage *storage
	keep    time.Duration
	passing string // a folder that goes with it; empty: there is none
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
	if err != nil {
		return nil, err
	}
	made, err := offerSecret(conf, folder, secret)
	if err != nil {
		return nil, err
	}
	to, err := openEnd(conf, folder, log)
	if err == nil {
		err = sameSecret(to, secret, conf)
	}
	if err == nil {
		return to, nil
	}
	if made != "" { // it would keep the right one out
		_ = os.Remove(made)
	}
	return nil, err
}

// sameSecret wants a place to have the secret of the other one. It closes one that has not.
func sameSecret(to *End, secret []byte, conf config.Config) error {
	theirs, err := offload.SecretOf(to.storage.shelf)
	if err == nil && bytes.Equal(secret, theirs) {
		return nil
	}
	to.Close()
	if err != nil {
		return err
	}
	do := "copy to a folder that is new"
	if conf.Offload.Bucket != "" {
		do = "write the secret of the one into the file that offload.secret_file of the other names"
	}
	return fmt.Errorf("cannot copy: the two places have different secrets, so nothing that is copied would be found; %s", do)
}

// offerSecret gives a place that has no secret yet one. made is the file that was made for that.
func offerSecret(conf config.Config, folder string, secret []byte) (made string, err error) {
	switch {
	case conf.Offload.Bucket == "":
		if conf.Store.URL != "" {
			folder = conf.Offload.Folder
		}
		return offload.OfferSecret(folder, secret)
	case conf.Offload.Secret != "": // it is said which one it has
		return "", nil
	}
	b, err := bucketOf(conf, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	defer b.Close()
	if err := b.Offer(secret); err != nil {
		return "", config.NoBucket(err)
	}
	return "", nil
}

// leastTimeout is how long one answer of a store is waited for at least: nobody waits for a copy.
const leastTimeout = 5 * time.Second

func openEnd(conf config.Config, folder string, log *slog.Logger) (e *End, err error) {
	e = &End{keep: conf.Store.Keep.D()}
	if conf.Store.URL != "" { // what it has on this machine is of no use, and an epitome may hold it
		conf.Store.Timeout = unit.Duration(max(conf.Store.Timeout.D(), leastTimeout))
		if e.passing, err = os.MkdirTemp("", "epitome-copy-"); err != nil {
			return nil, err
		}
		folder = e.passing
	}
	if e.storage, err = openStorage(conf, folder, conf.Listen, log); err != nil {
		_ = os.RemoveAll(e.passing)
		return nil, err
	}
	s := e.storage
	s.stop() // nothing is swept while it is copied
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
func (e *End) Close() {
	e.storage.close()
	if e.passing != "" {
		_ = os.RemoveAll(e.passing)
	}
}

// Copied is what a copy has done. What was there already stays as it is there.
type Copied struct {
	Facts, FactsThere         int
	Artifacts, ArtifactsThere int
	Bytes                     int64    // of artifacts that were copied
	Failed                    int      // facts and artifacts that are not there afterwards
	Why                       []string // of the first of them, a sentence each
}

// mostTold is how many failures are told one by one.
const mostTold = 10

func (c *Copied) fail(err error) {
	if c.Failed++; len(c.Why) < mostTold {
		c.Why = append(c.Why, err.Error())
	}
}

// Copy puts all facts and artifacts of one place into another, where they live as long as what is decided now. What it
// has put it has read again. It can be ended, and begun again: what is there is not copied twice. Facts are copied only
// if all artifacts are there, which they name.
func Copy(ctx context.Context, from, to *End) (c Copied, err error) {
	names, err := offload.All(from.storage.shelf)
	if err != nil {
		return c, fmt.Errorf("cannot list the artifacts: %w", err)
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		if err := c.artifact(from, to, name); err != nil {
			c.fail(err)
		}
	}
	if c.Failed > 0 {
		return c, nil
	}
	lacking := false // some fact has no tag that needs one
	err = from.walk(ctx, func(k shared.Key, fact store.Fact, err error) bool {
		switch {
		case isOwn(k):
			return true
		case err == nil:
			lacking = lacking || turns.LacksTag(k)
			err = c.fact(ctx, to, k, fact)
		}
		if err != nil && ctx.Err() == nil {
			c.fail(err)
		}
		return ctx.Err() == nil
	})
	err = cmp.Or(ctx.Err(), err)
	if err == nil && lacking && to.storage.shared != nil {
		err = patiently(ctx, func() error { return turns.Import(to.storage.shared, to.keep) })
	}
	return c, err
}

// artifact copies one artifact.
func (c *Copied) artifact(from, to *End, name string) error {
	there, err := offload.Has(to.storage.shelf, name)
	if err != nil {
		return err
	}
	if there && to.has(name) {
		c.ArtifactsThere++
		return nil
	}
	content, err := from.storage.shelf.Get(name)
	if errors.Is(err, offload.ErrUnknown) { // it has expired, or was changed by somebody
		return nil
	}
	if err == nil {
		err = to.storage.shelf.PutBeyond(name, content)
	}
	if err != nil {
		return err
	}
	if put, err := to.storage.shelf.Get(name); err != nil || !bytes.Equal(put, content) {
		return errors.Join(fmt.Errorf("artifact %s is not there as it was put", name), err)
	}
	c.Artifacts++
	c.Bytes += int64(len(content))
	return nil
}

// has tells whether an artifact can be read, and lets it live on. Of what others have put, only its reading shows that.
func (e *End) has(name string) bool {
	if e.storage.shelf.Touch(name) {
		return true
	}
	_, err := e.storage.shelf.Get(name)
	return err == nil && e.storage.shelf.Touch(name)
}

// fact copies one fact.
func (c *Copied) fact(ctx context.Context, to *End, k shared.Key, fact store.Fact) error {
	return patiently(ctx, func() error {
		_, won, err := to.put(k, fact.Bytes)
		if err != nil {
			return err
		}
		there, err := to.get(k)
		switch {
		case err != nil:
			return err
		case !won && there.Version != 0:
			c.FactsThere++
		case !bytes.Equal(there.Bytes, fact.Bytes):
			return fmt.Errorf("fact %q is not there as it was put", store.Shown(k.Name))
		default:
			c.Facts++
		}
		return nil
	})
}

// A store that does not answer for a moment does not end a copy.
const (
	tryFor   = 30 * time.Second
	tryEvery = 200 * time.Millisecond
)

// patiently does something again while a shared store does not answer.
func patiently(ctx context.Context, do func() error) error {
	for began := time.Now(); ; time.Sleep(tryEvery) {
		err := do()
		away := errors.Is(err, shared.ErrAway) || errors.Is(err, shared.ErrUnknown)
		if !away || ctx.Err() != nil || time.Since(began) > tryFor {
			return err
		}
	}
}

// isOwn tells whether a fact is about the place it lies in: what is known of its files, and who does what.
func isOwn(k shared.Key) bool {
	return k.Tag == "" && (k.Name == sweepKey || k.Name == shared.MarkKey || k.Name == turns.ImportKey ||
		strings.HasPrefix(k.Name, turns.LeaseKeys) || strings.HasPrefix(k.Name, offload.FactKeys))
}

// walk calls visit with each fact; with an error for one that cannot be read.
func (e *End) walk(ctx context.Context, visit func(k shared.Key, fact store.Fact, err error) bool) error {
	if e.storage.shared == nil {
		return e.storage.store.Scan("", func(key string, fact store.Fact) bool {
			return visit(shared.Key{Name: key}, fact, nil)
		})
	}
	var keys []shared.Key
	err := patiently(ctx, func() (err error) {
		keys, err = shared.Keys(e.storage.shared)
		return err
	})
	for _, k := range keys {
		fact, err := e.getPatiently(ctx, k)
		if err == nil && fact.Version == 0 { // gone meanwhile
			continue
		}
		if !visit(k, fact, err) {
			break
		}
	}
	return err
}

func (e *End) getPatiently(ctx context.Context, k shared.Key) (fact store.Fact, err error) {
	err = patiently(ctx, func() error {
		fact, err = e.get(k)
		return err
	})
	return fact, err
}

// get returns what stands under a key, the zero Fact if nothing does. A folder knows no tags.
func (e *End) get(k shared.Key) (store.Fact, error) {
	if s := e.storage.shared; s != nil {
		facts, err := s.FindAll([]shared.Key{k})
		if err != nil {
			return store.Fact{}, err
		}
		return facts[0], nil
	}
	fact, _ := e.storage.store.Get(k.Name)
	return fact, nil
}

// put puts a fact where there is none.
func (e *End) put(k shared.Key, value []byte) (standing store.Fact, won bool, err error) {
	if s := e.storage.shared; s != nil {
		return s.SwapIn(k, 0, value, e.keep)
	}
	return e.storage.store.PutIfAbsent(k.Name, value, e.keep)
}
