// Package bucket is a place for artifacts in a bucket of an S3 service: an object for each, with its size and SHA-256
// beside the content.
//
// It promises: a content that Write has returned for is in the bucket; Read returns it as it was put or an error, and
// nothing of it before all of it was checked; while the service cannot be reached, Away says so, and what is asked for
// fails at once; while it refuses what is put, Refuses says so, and only reads ask it; and nothing is ever deleted:
// objects expire by a rule of the bucket, which counts from when an object was written last. What is still wanted is
// written again by then.
//
// It assumes that a name is given to one content, which is not empty, so that objects never change: a conditional write
// is asked for where the secret is made, and nowhere else.
package bucket

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Options say which bucket it is, and how it is used.
type Options struct {
	Address Address
	// Keep is how long an object lives after it was written last, as a shelf is to know it. The rule of the bucket must
	// leave it at least as long.
	Keep    time.Duration
	Timeout time.Duration // of one request with a small body
	Secret  []byte        // the key of names; nil: it lies in the bucket
	Log     *slog.Logger
	Now     func() time.Time
}

// Bucket is the place. Its methods may be called from any goroutine.
type Bucket struct {
	o       Options
	service *service
	health  health // of all requests
	writes  health // of those that put something: a service that is full, or gives no right to write, answers others
	known   known
	life    context.Context // ends with Close
	end     context.CancelFunc
	work    sync.WaitGroup // of what goes on beside
	renews  chan struct{}  // bounds the renewals that run at once
}

// renewals is how many contents are written again at once, in the background.
const renewals = 4

// Open returns the bucket, and asks it for nothing.
func Open(o Options) *Bucket {
	b := &Bucket{o: o, service: newService(o.Address, o.Timeout), known: newKnown()}
	b.renews = make(chan struct{}, renewals)
	b.life, b.end = context.WithCancel(context.Background())
	return b
}

// Close ends what goes on in the background.
func (b *Bucket) Close() {
	b.end()
	b.work.Wait()
}

// errAway is what everything is answered while the service cannot be reached.
var errAway = errors.New("the bucket of artifacts cannot be reached")

// errRefuses is what writes are answered while the service refuses them.
var errRefuses = errors.New("the bucket of artifacts takes nothing")

// Away reports whether the service cannot be reached now.
func (b *Bucket) Away() bool { return b.health.isAway() }

// Refuses reports whether the service takes nothing now, whatever it answers to those who read.
func (b *Bucket) Refuses() bool { return b.writes.isAway() }

// slowest is how many bytes a second a service must move, besides the time that each request has.
const slowest = 1 << 20

// do asks the service for something about size bytes, within its time.
func (b *Bucket) do(size int64, ask func(ctx context.Context) error) error {
	if b.Away() {
		return errAway
	}
	ctx, cancel := context.WithTimeout(b.life, b.o.Timeout+time.Duration(size)*time.Second/slowest)
	defer cancel()
	err := ask(ctx)
	if said := (*unwanted)(nil); !errors.As(err, &said) { // who refuses to take something may answer who reads
		judge(b, &b.health, err, mostFailures)
	}
	return err
}

// unwanted is a refusal of what was put.
type unwanted struct{ *refusal }

// Unwrap is what the service said.
func (u *unwanted) Unwrap() error { return u.refusal }

// contentEnd ends the names of objects that are contents.
const contentEnd = ".txt"

func (b *Bucket) key(name string) string { return b.o.Address.Prefix + name + contentEnd }

// What is said of a content beside it.
const (
	sumKey  = "X-Amz-Meta-Epitome-Sha256"
	sizeKey = "X-Amz-Meta-Epitome-Size"
)

// Write puts content under name.
func (b *Bucket) Write(name string, content []byte) error {
	sum, size := sha256.Sum256(content), int64(len(content))
	beside := http.Header{"Content-Type": {"text/plain; charset=utf-8"},
		sumKey: {hex.EncodeToString(sum[:])}, sizeKey: {strconv.FormatInt(size, 10)}}
	if err := b.put(b.key(name), content, beside); err != nil {
		return err
	}
	now := b.o.Now()
	b.known.put(name, Entry{size, sum, now.Add(b.o.Keep)}, now)
	return nil
}

// put puts an object.
func (b *Bucket) put(key string, content []byte, header http.Header) error {
	if b.Refuses() {
		return errRefuses
	}
	err := b.do(int64(len(content)), func(ctx context.Context) error {
		_, _, err := b.service.send(ctx, request{method: http.MethodPut, key: key, body: content, header: header})
		if said := (*refusal)(nil); errors.As(err, &said) {
			return &unwanted{said}
		}
		return err
	})
	if said := (*unwanted)(nil); errors.As(err, &said) && b.writes.isNearlyAway() { // or nothing at all works
		judge(b, &b.health, look(b, &b.health), 1)
	}
	if !b.Away() { // else that is what is wrong
		judge(b, &b.writes, err, mostFailures)
	}
	return err
}

// Entry is what is known of a content without reading it.
type Entry struct {
	Size  int64 // bytes
	Sum   [sha256.Size]byte
	Until time.Time // when it may go
}

// Look returns what is known of the content under name. An absent one is fs.ErrNotExist.
func (b *Bucket) Look(name string) (e Entry, err error) {
	if e, found := b.known.get(name, b.o.Now()); found && e.Until.IsZero() {
		return Entry{}, fs.ErrNotExist
	} else if found {
		return e, nil
	}
	err = b.do(0, func(ctx context.Context) error {
		head, _, err := b.service.send(ctx, request{method: http.MethodHead, key: b.key(name)})
		if err == nil {
			e, err = b.entryOf(head)
		}
		return err
	})
	if err = absent(err); err == nil || errors.Is(err, fs.ErrNotExist) {
		b.known.put(name, e, b.o.Now())
	}
	return e, err
}

// forged is the error that says that an object is none that was put here.
func forged() error { return fmt.Errorf("what lies there was not put by epitome: %w", fs.ErrNotExist) }

// entryOf reads what stands beside a content.
func (b *Bucket) entryOf(head http.Header) (e Entry, err error) {
	size, sum := head.Get(sizeKey), []byte(nil)
	if e.Size, err = strconv.ParseInt(size, 10, 64); err == nil {
		sum, err = hex.DecodeString(head.Get(sumKey))
	}
	written, unread := http.ParseTime(head.Get("Last-Modified"))
	if err != nil || unread != nil || len(sum) != sha256.Size || head.Get("Content-Length") != size {
		return Entry{}, forged()
	}
	e.Sum, e.Until = [sha256.Size]byte(sum), written.Add(b.o.Keep)
	return e, nil
}

// absent is err, as fs.ErrNotExist if it says that there is no such object.
func absent(err error) error {
	if said := (*refusal)(nil); errors.As(err, &said) && said.status == http.StatusNotFound {
		return fs.ErrNotExist
	}
	return err
}

// Read returns the content under name, if it is what was put there.
func (b *Bucket) Read(name string) ([]byte, error) {
	there, err := b.Look(name)
	if err != nil {
		return nil, err
	}
	var content []byte
	err = b.do(there.Size, func(ctx context.Context) error {
		content, err = b.get(ctx, b.key(name), there.Size)
		return err
	})
	if err == nil && sha256.Sum256(content) != there.Sum {
		err = forged()
	}
	if err != nil {
		b.known.forget(name)
		return nil, absent(err)
	}
	return content, nil
}

// get returns an object, or as much of it as is more than size bytes.
func (b *Bucket) get(ctx context.Context, key string, size int64) ([]byte, error) {
	_, body, err := b.service.send(ctx, request{method: http.MethodGet, key: key, most: size + 1})
	return body, err
}

// Renew has the content under name written again, so that it lives on: at once, if it has lived for half of its time,
// else in the background. If there is too much to do there, a later call does it.
func (b *Bucket) Renew(name string) error {
	there, err := b.Look(name)
	if err != nil {
		return err
	}
	if there.Until.Sub(b.o.Now()) < b.o.Keep/2 {
		return b.rewrite(name)
	}
	b.renewBeside(name)
	return nil
}

// rewrite writes the content under name again.
func (b *Bucket) rewrite(name string) error {
	content, err := b.Read(name)
	if err != nil {
		return err
	}
	return b.Write(name, content)
}

func (b *Bucket) renewBeside(name string) {
	select {
	case b.renews <- struct{}{}:
	default:
		return
	}
	if b.life.Err() != nil || !b.known.begin(name) {
		<-b.renews
		return
	}
	b.work.Go(func() {
		defer func() { b.known.done(name); <-b.renews }()
		if err := b.rewrite(name); err != nil && b.life.Err() == nil {
			b.o.Log.Warn("an artifact's life could not be prolonged", "error", err.Error())
		}
	})
}

// secretKey is the object that has the key of names.
const secretKey = "secret"

const secretSize = 32 // bytes

// Secret returns the key of names. Of several epitomes that find none, one makes it, and all have the same afterwards.
func (b *Bucket) Secret() ([]byte, error) {
	if b.o.Secret != nil {
		return b.o.Secret, nil
	}
	secret, err := b.readSecret()
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	fresh := make([]byte, secretSize)
	_, _ = rand.Read(fresh) // never fails
	if err = b.putSecret(fresh); err != nil {
		return nil, err
	}
	return b.readSecret() // which may be another one's
}

func (b *Bucket) readSecret() (secret []byte, err error) {
	err = b.do(0, func(ctx context.Context) error {
		secret, err = b.get(ctx, b.o.Address.Prefix+secretKey, secretSize)
		return err
	})
	if err == nil && len(secret) != secretSize {
		err = fmt.Errorf("the object %s%s has no %d bytes: delete it, and a new secret is made", b.o.Address, secretKey, secretSize)
	}
	return secret, absent(err)
}

// putSecret puts a key of names, unless somebody else has put one.
func (b *Bucket) putSecret(secret []byte) error {
	only := http.Header{"If-None-Match": {"*"}}
	return failure(b.put(b.o.Address.Prefix+secretKey, secret, only))
}
