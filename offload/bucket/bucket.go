// Package bucket keeps artifacts in a bucket of an S3 service: one object for each, with its size and SHA-256 as
// metadata.
//
// When Write returns without an error, the content is in the bucket. Read returns it exactly as it was written, or an
// error. While the service does not answer, Away is true and every call fails at once; while it only refuses writes,
// Refuses is true and reads go on. Nothing is ever deleted: a lifecycle rule of the bucket expires objects by the time
// of their last write, and Renew writes those again that are still needed.
//
// A name belongs to one content, which is not empty, so objects never change. Only the secret is written conditionally.
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

	"github.com/minio/minio-go/v7"
)

// Options are the bucket's address and how it is used.
type Options struct {
	Address Address
	// Keep is how long an object lives after its last write. The lifecycle rule of the bucket must not be shorter.
	Keep    time.Duration
	Timeout time.Duration // of a request with a small body
	Secret  []byte        // the key that names are made with; nil: it is kept in the bucket
	Log     *slog.Logger
	Now     func() time.Time
}

// Bucket is an open bucket. Its methods may be called from any goroutine.
type Bucket struct {
	o       Options
	service *service
	health  health // whether requests are answered
	writes  health // whether writes succeed: a service that is full, or that denies writing, still answers reads
	known   known
	life    context.Context // ends with Close
	end     context.CancelFunc
	work    sync.WaitGroup // goroutines in the background
	renews  chan struct{}  // one element for each renewal in the background
}

// maxRenewals is how many objects are written again at the same time, in the background.
const maxRenewals = 4

// Open returns the bucket without sending a request. An error is about the address.
func Open(o Options) (*Bucket, error) {
	service, err := newService(o.Address, o.Timeout)
	if err != nil {
		return nil, fmt.Errorf("cannot use the bucket %s: %w", o.Address, err)
	}
	b := &Bucket{o: o, service: service, known: newKnown(), renews: make(chan struct{}, maxRenewals)}
	b.life, b.end = context.WithCancel(context.Background())
	return b, nil
}

// Close ends the work in the background and waits for it.
func (b *Bucket) Close() {
	b.end()
	b.work.Wait()
}

// The errors of all calls while the service is away, and of writes while it refuses them.
var (
	errAway    = errors.New("the bucket of artifacts cannot be reached")
	errRefuses = errors.New("the bucket of artifacts takes nothing")
)

// Away reports whether the service does not answer now.
func (b *Bucket) Away() bool { return b.health.isAway() }

// Refuses reports whether the service accepts no writes now.
func (b *Bucket) Refuses() bool { return b.writes.isAway() }

// slowest is how many bytes a second the service must move; a request has Timeout in addition.
const slowest = 1 << 20

// do calls ask, which sends a request about size bytes, and notes whether the service has answered.
func (b *Bucket) do(size int64, ask func(ctx context.Context) error) error {
	if b.Away() {
		return errAway
	}
	ctx, cancel := context.WithTimeout(b.life, b.o.Timeout+time.Duration(size)*time.Second/slowest)
	defer cancel()
	err := ask(ctx)
	if refused := (*writeRefusal)(nil); !errors.As(err, &refused) { // a service that refuses a write may answer reads
		judge(b, &b.health, err, mostFailures)
	}
	return err
}

// writeRefusal is the refusal of a write.
type writeRefusal struct{ *refusal }

func (r *writeRefusal) Unwrap() error { return r.refusal }

func (b *Bucket) key(name string) string { return b.o.Address.Prefix + name + ".txt" }

// The metadata of an object that holds a content.
const (
	sumKey  = "Epitome-Sha256"
	sizeKey = "Epitome-Size"
)

// Write puts content under name.
func (b *Bucket) Write(name string, content []byte) error {
	sum, size := sha256.Sum256(content), int64(len(content))
	meta := map[string]string{sumKey: hex.EncodeToString(sum[:]), sizeKey: strconv.FormatInt(size, 10)}
	if err := b.put(b.key(name), content, meta, false); err != nil {
		return err
	}
	now := b.o.Now()
	b.known.put(name, Entry{size, sum, now.Add(b.o.Keep)}, now)
	return nil
}

// put writes an object (see service.put) and notes whether the service accepts writes.
func (b *Bucket) put(key string, content []byte, meta map[string]string, isNew bool) error {
	if b.Refuses() {
		return errRefuses
	}
	err := b.do(int64(len(content)), func(ctx context.Context) error {
		err := b.service.put(ctx, key, content, meta, isNew)
		if refused := (*refusal)(nil); errors.As(err, &refused) {
			return &writeRefusal{refused}
		}
		return err
	})
	if refused := (*writeRefusal)(nil); errors.As(err, &refused) && b.writes.isNearlyAway() {
		judge(b, &b.health, look(b, &b.health), 1) // a read shows whether only writes are refused
	}
	if !b.Away() {
		judge(b, &b.writes, err, mostFailures)
	}
	return err
}

// Entry describes a content.
type Entry struct {
	Size  int64 // bytes
	Sum   [sha256.Size]byte
	Until time.Time // when it may expire
}

// Look returns the entry of the content under name, from memory if it was seen lately. If there is none, the error is
// fs.ErrNotExist.
func (b *Bucket) Look(name string) (e Entry, err error) {
	if e, found := b.known.get(name, b.o.Now()); found && e.Until.IsZero() {
		return Entry{}, fs.ErrNotExist
	} else if found {
		return e, nil
	}
	err = b.do(0, func(ctx context.Context) error {
		info, err := b.service.stat(ctx, b.key(name))
		if err == nil {
			e, err = b.entryOf(info)
		}
		return err
	})
	if err = absent(err); err == nil || errors.Is(err, fs.ErrNotExist) {
		b.known.put(name, e, b.o.Now())
	}
	return e, err
}

// errForged is the error for an object that Write has not written.
var errForged = fmt.Errorf("the object was not written by epitome: %w", fs.ErrNotExist)

// entryOf reads the metadata of an object.
func (b *Bucket) entryOf(info minio.ObjectInfo) (Entry, error) {
	size, err := strconv.ParseInt(info.UserMetadata[sizeKey], 10, 64)
	sum, unread := hex.DecodeString(info.UserMetadata[sumKey])
	if err != nil || unread != nil || len(sum) != sha256.Size || info.Size != size || info.LastModified.IsZero() {
		return Entry{}, errForged
	}
	return Entry{size, [sha256.Size]byte(sum), info.LastModified.Add(b.o.Keep)}, nil
}

// absent returns fs.ErrNotExist if err says that there is no such object, else err.
func absent(err error) error {
	if refused := (*refusal)(nil); errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return fs.ErrNotExist
	}
	return err
}

// Read returns the content under name. If there is none, or another program has changed it, the error is
// fs.ErrNotExist.
func (b *Bucket) Read(name string) ([]byte, error) {
	there, err := b.Look(name)
	if err != nil {
		return nil, err
	}
	var content []byte
	err = b.do(there.Size, func(ctx context.Context) error {
		content, err = b.service.get(ctx, b.key(name), there.Size+1) // one more shows that it is longer
		return err
	})
	if err == nil && sha256.Sum256(content) != there.Sum {
		err = errForged
	}
	if err != nil {
		b.known.forget(name)
		return nil, absent(err)
	}
	return content, nil
}

// Renew writes the content under name again, so that its life begins anew: at once if half of its life is over, else
// in the background, and not at all if maxRenewals are on their way.
func (b *Bucket) Renew(name string) error {
	there, err := b.Look(name)
	if err != nil {
		return err
	}
	if there.Until.Sub(b.o.Now()) < b.o.Keep/2 {
		return b.rewrite(name)
	}
	b.renewLater(name)
	return nil
}

func (b *Bucket) rewrite(name string) error {
	content, err := b.Read(name)
	if err != nil {
		return err
	}
	return b.Write(name, content)
}

// renewLater calls rewrite in the background.
func (b *Bucket) renewLater(name string) {
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
			b.o.Log.Warn("cannot prolong the life of an artifact", "error", err.Error())
		}
	})
}

const (
	secretKey  = "secret" // the object with the key that names are made with
	secretSize = 32       // bytes
)

// Secret returns the key that names are made with. If the bucket has none, it makes one. Several processes that do so
// at once get the same key.
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
	return b.readSecret() // another process may have been faster
}

func (b *Bucket) readSecret() (secret []byte, err error) {
	err = b.do(0, func(ctx context.Context) error {
		secret, err = b.service.get(ctx, b.o.Address.Prefix+secretKey, secretSize+1)
		return err
	})
	if err == nil && len(secret) != secretSize {
		err = fmt.Errorf("the object %s%s has no %d bytes: delete it, and a new secret is made", b.o.Address, secretKey, secretSize)
	}
	return secret, absent(err)
}

// putSecret writes the secret, unless the bucket has one.
func (b *Bucket) putSecret(secret []byte) error {
	return failure(b.put(b.o.Address.Prefix+secretKey, secret, nil, true))
}
