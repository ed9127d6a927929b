package bucket

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"
)

// failure returns err if it means that the service does not work, and nil for the answers of a working one: that there
// is no such object, or that there already is one.
func failure(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var said *refusal
	switch {
	case !errors.As(err, &said):
	case said.status == http.StatusNotFound && said.code != "NoSuchBucket",
		said.status == http.StatusPreconditionFailed, said.status == http.StatusConflict:
		return nil
	}
	return err
}

// advice says what the operator can do about a failure.
func advice(err error) string {
	said := (*refusal)(nil)
	switch {
	case !errors.As(err, &said):
		return "see to the service that offload.bucket names, and to the way there"
	case said.code == "NoSuchBucket":
		return "make the bucket, or correct its name in offload.bucket"
	case said.status == http.StatusForbidden, said.status == http.StatusUnauthorized:
		return "see to the credentials and their rights, which are s3:GetObject, s3:PutObject and s3:ListBucket; " +
			"a clock that is wrong by minutes has them refused, too"
	case said.status < http.StatusInternalServerError:
		return "see to region, endpoint and path_style in offload.bucket"
	}
	return "see to the service that offload.bucket names: it may be full"
}

// Probe checks in the background whether the bucket can be read and written, so that the log shows a wrong
// configuration at the start and not with the first artifact.
func Probe(b *Bucket) {
	b.work.Go(func() {
		if judge(b, &b.health, look(b, &b.health), 1); !b.Away() {
			judge(b, &b.writes, look(b, &b.writes), 1)
		}
	})
}

// probeKey is the object that is written to see whether writes work.
const probeKey = "probe"

// look sends a small request that shows whether the service is healthy in the sense of h.
func look(b *Bucket, h *health) error {
	ctx, cancel := context.WithTimeout(b.life, b.o.Timeout)
	defer cancel()
	if h == &b.writes {
		return b.service.put(ctx, b.o.Address.Prefix+probeKey, []byte("epitome\n"), nil, false)
	}
	_, err := b.service.get(ctx, b.o.Address.Prefix+secretKey, secretSize) // stat would not tell a bucket that is gone
	return err
}

// judge updates h with the end of a request. After most failures in a row the service counts as away, which is logged,
// and watch checks it until it works again.
func judge(b *Bucket, h *health, err error, most int) {
	if b.life.Err() != nil || !h.judge(failure(err), most) {
		return
	}
	what := "cannot be reached"
	if h == &b.writes {
		what = "takes nothing"
	}
	b.o.Log.Warn("the bucket of artifacts "+what+": nothing new is taken out of conversations until their windows fill",
		"bucket", b.o.Address.String(), "error", err.Error(), "do", advice(err))
	b.work.Go(func() { watch(b, h) })
}

// watch checks the service once a second until it works again.
func watch(b *Bucket, h *health) {
	tick := time.NewTicker(h.pause())
	defer tick.Stop()
	what := "can be reached"
	if h == &b.writes {
		what = "takes artifacts"
	}
	for {
		select {
		case <-b.life.Done():
			return
		case <-tick.C:
		}
		if failure(look(b, h)) == nil {
			h.recover()
			b.o.Log.Info("the bucket of artifacts "+what+" again", "bucket", b.o.Address.String())
			return
		}
	}
}
