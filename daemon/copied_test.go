package daemon

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/daemon/turns"
	"epitome/rewrite"
	"epitome/rewrite/plan"
	"epitome/store"
	"epitome/store/shared"
	"epitome/store/shared/sharedtest"
)

// spoken is a conversation of thirty turns through an epitome at a place, and what was sent last.
func spoken(t *testing.T, from place) (k *talk, now time.Time, sent []byte) {
	t.Helper()
	r := from.run(t)
	defer r.close()
	k, now = newTalk(keys()[0], 31), morning()
	for range 30 {
		k.goOn()
		now = now.Add(time.Minute)
		out := r.sends(k.dialect, k.body(), now)
		if out.Report.Err != nil {
			t.Fatal(out.Report.Err)
		}
		sent = out.Body
	}
	return k, now, sent
}

// bothEnds opens two places until the test ends.
func bothEnds(t *testing.T, from, to place) (a, b *End) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	a, err := OpenFrom(from.conf, from.folder, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	if b, err = OpenTo(a, to.conf, to.folder, log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return a, b
}

// TestSharedCopyIsDecidedAnewOnDemand: what was copied can be replaced, by a rescue and by hand, as if it had been
// decided there.
func TestSharedCopyIsDecidedAnewOnDemand(t *testing.T) {
	t.Parallel()
	server := sharedtest.Start(t)
	for what, ask := range map[string]func(*rewrite.Input){
		"rescue":  func(in *rewrite.Input) { in.Rescue = &plan.Rescue{Sent: 30_000, Most: 6000} },
		"by hand": func(in *rewrite.Input) { in.Compact = true },
	} {
		t.Run(what, func(t *testing.T) {
			server.Flush()
			from, to := placeIn(t, "", nil), placeIn(t, server.URL(), nil)
			k, now, sent := spoken(t, from)
			copied(t, from, to)
			r := to.run(t)
			in := rewrite.Input{Dialect: k.dialect, Body: k.body(), Upstream: "openai", Limits: &r.conf.Rewrite,
				Style: r.conf.Style(), Now: now.Add(time.Second)}
			ask(&in)
			out := r.live.Shape(in)
			if out.Report.Err != nil || len(out.Body) >= len(sent) {
				t.Fatalf("%d bytes, before %d: %v", len(out.Body), len(sent), out.Report.Err)
			}
			if out.Settle != nil && !out.Settle() {
				t.Fatal("it is not recorded")
			}
			r.close()
			again := to.run(t).sends(k.dialect, k.body(), now.Add(2*time.Second))
			if again.Report.Err != nil || !bytes.Equal(again.Body, out.Body) {
				t.Errorf("it is sent again in %d bytes, want %d: %v", len(again.Body), len(out.Body), again.Report.Err)
			}
		})
	}
}

// TestSharedCopyOutlivesItsMark: what is used is put where it belongs, so that nothing has to be looked for elsewhere
// when all that nobody used has gone.
func TestSharedCopyOutlivesItsMark(t *testing.T) {
	t.Parallel()
	server := sharedtest.Start(t)
	from, to := placeIn(t, "", nil), placeIn(t, server.URL(), nil)
	k, now, _ := spoken(t, from)
	copied(t, from, to)
	r := to.run(t)
	var sent []byte
	for range 3 {
		k.goOn()
		now = now.Add(time.Minute)
		sent = r.sends(k.dialect, k.body(), now).Body
	}
	r.close() // which does all that it put off
	s := to.run(t)
	keys, err := shared.Keys(s.storage.shared)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if k.Tag == "" && k.Name != shared.MarkKey {
			if err := s.storage.shared.Delete(k.Name); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.close()
	got := to.run(t).sends(k.dialect, k.body(), now.Add(time.Second))
	if got.Report.Err != nil || !bytes.Equal(got.Body, sent) {
		t.Errorf("%d bytes are sent, before %d: %v", len(got.Body), len(sent), got.Report.Err)
	}
}

// TestSharedCopyOfACopy goes from one team to another, and back into a folder, where the newer of two forms counts.
func TestSharedCopyOfACopy(t *testing.T) {
	t.Parallel()
	one, two := sharedtest.Start(t), sharedtest.Start(t)
	from, a, b, last := placeIn(t, "", nil), placeIn(t, one.URL(), nil), placeIn(t, two.URL(), nil), placeIn(t, "", nil)
	k, now, sent := spoken(t, from)
	copied(t, from, a)
	copied(t, a, b)
	r := b.run(t)
	if got := r.sends(k.dialect, k.body(), now.Add(time.Second)); !bytes.Equal(got.Body, sent) {
		t.Errorf("the other team sends %d bytes, before %d", len(got.Body), len(sent))
	}
	out := r.live.Shape(rewrite.Input{Dialect: k.dialect, Body: k.body(), Upstream: "openai", Limits: &r.conf.Rewrite,
		Style: r.conf.Style(), Now: now.Add(2 * time.Second), Compact: true})
	if out.Report.Err != nil || out.Settle != nil && !out.Settle() {
		t.Fatal(out.Report.Err)
	}
	r.close()
	copied(t, b, last)
	if got := last.run(t).sends(k.dialect, k.body(), now.Add(3*time.Second)); !bytes.Equal(got.Body, out.Body) {
		t.Errorf("the folder sends %d bytes, before %d", len(got.Body), len(out.Body))
	}
}

// TestSharedCopyWithTagsLeavesNoMark: nobody has to look for what lacks a tag where nothing does.
func TestSharedCopyWithTagsLeavesNoMark(t *testing.T) {
	t.Parallel()
	a, b := placeIn(t, sharedtest.Start(t).URL(), nil), placeIn(t, sharedtest.Start(t).URL(), nil)
	spoken(t, a)
	if done := copied(t, a, b); done.Facts == 0 {
		t.Fatalf("copied %+v", done)
	}
	r := b.run(t)
	if _, found := r.storage.shared.Get(turns.ImportKey); found {
		t.Error("each question asks for twice the keys")
	}
}

// TestCopyToABucketThatIsAwayFails: nobody knows what is there, so no fact may name it.
func TestCopyToABucketThatIsAwayFails(t *testing.T) {
	server := sharedtest.Start(t)
	at, fails := s3(t)
	from, to := placeIn(t, "", nil), placeIn(t, server.URL(), func(c *config.Config) {
		c.Offload.Folder, c.Offload.Bucket, c.Offload.Address, c.Offload.URL = "", at, "url", "http://team.example/"
	})
	spoken(t, from)
	f, b := bothEnds(t, from, to)
	fails.Store(true)
	done, err := Copy(t.Context(), f, b)
	if err != nil || done.Failed == 0 || done.Facts > 0 || done.ArtifactsThere > 0 || len(done.Why) > mostTold {
		t.Errorf("%+v, %v", done, err)
	}
	fails.Store(false)
	sharedtest.Await(t, "the bucket", func() error {
		done, err = Copy(t.Context(), f, b)
		if err == nil && done.Failed > 0 {
			err = os.ErrDeadlineExceeded
		}
		return err
	})
	if done.Facts == 0 || done.Artifacts == 0 {
		t.Errorf("then %+v", done)
	}
}

// TestRefusedCopyLeavesNoSecret: it would keep the right one out.
func TestRefusedCopyLeavesNoSecret(t *testing.T) {
	server := sharedtest.Start(t)
	team := placeIn(t, server.URL(), nil)
	team.run(t).close()
	from, to := placeIn(t, "", nil), placeIn(t, server.URL(), nil) // another folder beside the same store
	from.run(t).close()
	log := slog.New(slog.DiscardHandler)
	f, err := OpenFrom(from.conf, from.folder, log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err = OpenTo(f, to.conf, to.folder, log); err == nil || !strings.Contains(err.Error(), "another secret") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(to.conf.Offload.Folder, "secret")); err == nil {
		t.Error("a refused copy leaves its secret")
	}
}

// TestCopyWaitsForAStoreThatIsAwayForAMoment: it goes on, and nothing is left out.
func TestCopyWaitsForAStoreThatIsAwayForAMoment(t *testing.T) {
	t.Parallel()
	server := sharedtest.Start(t)
	wire := sharedtest.NewWire(t, server.Address)
	from, to := placeIn(t, "", nil), placeIn(t, wire.URL(), nil)
	spoken(t, from)
	f, b := bothEnds(t, from, to)
	n := 0
	_ = f.walk(t.Context(), func(shared.Key, store.Fact, error) bool { n++; return true })
	wire.Cut()
	go func() {
		time.Sleep(300 * time.Millisecond)
		wire.Mend()
	}()
	done, err := Copy(t.Context(), f, b)
	if err != nil || done.Failed > 0 || done.Facts == 0 || done.Facts > n {
		t.Errorf("%+v of %d, %v", done, n, err)
	}
	if _, found := b.storage.shared.Get(turns.ImportKey); !found {
		t.Error("nobody would look for it")
	}
}
