package bucket

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"
)

// failure is err if it says that the service does not work, and nil if it has answered as it should.
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

// advice is what whoever runs epitome may do about a failure.
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

// Probe looks in the background whether the bucket can be read and written: a start is to tell at once what would
// otherwise show with the first conversation that grows. One failure is enough.
func Probe(b *Bucket) {
	b.work.Go(func() {
		if judge(b, &b.health, look(b, &b.health), 1); !b.Away() {
			judge(b, &b.writes, look(b, &b.writes), 1)
		}
	})
}

// probeKey is the object that is put to see whether objects can be put.
const probeKey = "probe"

// look asks the service for what shows the one health or the other.
func look(b *Bucket, h *health) error {
	// a head would not tell a bucket that is gone
	ask := request{method: http.MethodGet, key: b.o.Address.Prefix + secretKey, most: secretSize}
	if h == &b.writes {
		ask = request{method: http.MethodPut, key: b.o.Address.Prefix + probeKey, body: []byte("epitome\n")}
	}
	ctx, cancel := context.WithTimeout(b.life, b.o.Timeout)
	defer cancel()
	_, _, err := b.service.send(ctx, ask)
	return err
}

// judge takes how a request ended. Where that was one failure too many, the service is watched until it works again.
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

// watch asks the service once a second until it works again.
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
