package daemon

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/store/storetest"
)

// morning is when sessions begin: later than any moment at which a busy machine keeps the server from answering. What
// was noted before such a gap is not trusted.
func morning() time.Time { return time.Date(2099, 11, 1, 9, 0, 0, 0, time.UTC) }

// keys are of the dialects.
func keys() (all []string) {
	for _, d := range dialects() {
		all = append(all, d.Name())
	}
	return all
}

// TestSharedReplicasSendWhatOneProcessSends plays sessions with a clock over one, two and four replicas in turn,
// and to one process that shares nothing but artifacts. These lie in a folder.
func TestSharedReplicasSendWhatOneProcessSends(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	for _, key := range keys() {
		for _, n := range []int{1, 2, 4} {
			if n == 1 && key != "chat" {
				continue
			}
			t.Run(fmt.Sprintf("%s over %d", key, n), func(t *testing.T) {
				server.Flush()
				folder := filepath.Join(t.TempDir(), strings.Repeat("d", 8*n)) // stubs are as long as it is
				one := alone(t, folder, nil)
				var some []*replica
				for range n {
					some = append(some, sharing(t, server.URL(), folder, nil))
				}
				one.sendsAs(t, newTalk(key, uint64(n)), some)
			})
		}
	}
}

// TestReplicasOverABucketSendWhatOneProcessSends is the same with artifacts in a bucket of S3.
func TestReplicasOverABucketSendWhatOneProcessSends(t *testing.T) {
	server := storetest.StartRedis(t)
	bucket, _ := s3(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("5e", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	inBucket := func(c *config.Config) {
		c.Offload.Bucket, c.Offload.Secret, c.Offload.URL = bucket, secret, "http://epitome.team:7070"
	}
	for _, key := range keys() {
		t.Run(key, func(t *testing.T) {
			server.Flush()
			one := alone(t, t.TempDir(), inBucket)
			some := []*replica{
				sharing(t, server.URL(), "", inBucket), sharing(t, server.URL(), "", inBucket),
			}
			one.sendsAs(t, newTalk(key, 2), some)
		})
	}
}

// sendsAs expects that replicas, each in its turn, send a session as r does alone.
func (r *replica) sendsAs(t *testing.T, k *talk, replicas []*replica) {
	t.Helper()
	now, decided := morning(), 0
	for i := range 40 {
		k.goOn()
		if now = now.Add(time.Minute); i%13 == 12 {
			now = now.Add(time.Hour)
		}
		want := r.sends(k.dialect, k.body(), now)
		got := replicas[i%len(replicas)].sends(k.dialect, k.body(), now)
		if got.Report.Err != nil || want.Report.Err != nil {
			t.Fatal(i, got.Report.Err, want.Report.Err)
		}
		if !bytes.Equal(want.Body, got.Body) {
			t.Fatalf("turn %d: %d bytes are sent, one process sends %d; %+v and %+v", i, len(got.Body), len(want.Body),
				got.Changes(), want.Changes())
		}
		if got.Report.Decided {
			decided++
		}
	}
	if decided < 3 {
		t.Errorf("%d decisions in all", decided)
	}
}

// TestSharedStoreLostDecidesNothing takes the store away in mid-run: what is known goes on as it was sent, what is not
// goes as it came, and when the store is back, all is decided as before.
func TestSharedStoreLostDecidesNothing(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	for what, fail := range map[string]func(*storetest.Wire){
		"frozen": (*storetest.Wire).Freeze, "cut": (*storetest.Wire).Cut, "deaf": (*storetest.Wire).Deafen,
	} {
		t.Run(what, func(t *testing.T) {
			server.Flush()
			folder := t.TempDir()
			wire := storetest.NewWire(t, server.Address)
			away := sharing(t, wire.URL(), folder, nil)
			there := sharing(t, server.URL(), folder, nil)
			k, now := newTalk("chat", 9), morning()
			var sent []byte
			for range 25 {
				k.goOn()
				now = now.Add(time.Minute)
				out := away.sends(k.dialect, k.body(), now)
				if sent = out.Body; out.Report.Err != nil {
					t.Fatal(out.Report.Err)
				}
			}
			fail(wire)
			stranger := newTalk("chat", 10)
			for i := range 6 {
				k.goOn()
				stranger.goOn()
				now = now.Add(time.Minute)
				out := away.sends(k.dialect, k.body(), now)
				if out.Report.Err == nil || out.Report.Decided || !beginsAlike(out.Body, sent) {
					t.Fatalf("turn %d without a store: %v, decided: %v", i, out.Report.Err, out.Report.Decided)
				}
				sent = out.Body
				if out := away.sends(k.dialect, stranger.body(), now); out.Changed || out.Report.Err == nil {
					t.Errorf("turn %d: what nobody knows is changed: %v", i, out.Report.Err)
				}
			}
			if told := away.storage.parts(); told["shared_store"] != "away" {
				t.Errorf("without a store it is told %q", told)
			}
			wire.Mend()
			storetest.Await(t, "the store", func() error { _, _, err := away.storage.shared.Get("x"); return err })
			if told := away.storage.parts(); told["shared_store"] != "answers" {
				t.Errorf("the store is back, and it is told %q", told)
			}
			k.goOn()
			now = now.Add(time.Minute)
			want := there.sends(k.dialect, k.body(), now)
			if got := away.sends(k.dialect, k.body(), now); got.Report.Err != nil || !bytes.Equal(got.Body, want.Body) {
				t.Errorf("the store is back: %v, the same: %v", got.Report.Err, bytes.Equal(got.Body, want.Body))
			}
		})
	}
}

// TestSharedStoreThatRefusesIsTold has a server that answers, and takes no writes any more.
func TestSharedStoreThatRefusesIsTold(t *testing.T) {
	server := storetest.StartRedis(t)
	r := sharing(t, server.URL(), t.TempDir(), nil)
	k, now := newTalk("chat", 9), morning()
	ask := func(want string) {
		t.Helper()
		for range 25 {
			k.goOn()
			now = now.Add(time.Minute)
			r.sends(k.dialect, k.body(), now)
		}
		if told := r.storage.parts(); told["shared_store"] != want {
			t.Errorf("it is told %q", told)
		}
	}
	ask("answers")
	server.Refuse()
	ask("refuses")
}

// beginsAlike reports whether the messages of a body go on with those of another one; map keys are sorted, so that the
// list ends the one or the other.
func beginsAlike(longer, shorter []byte) bool {
	list := func(b []byte) []byte {
		for _, name := range []string{`"messages":[`, `"input":[`} {
			if _, rest, ok := bytes.Cut(b, []byte(name)); ok {
				return rest[:bytes.LastIndexByte(rest, ']')]
			}
		}
		return nil
	}
	return bytes.HasPrefix(list(longer), list(shorter))
}
