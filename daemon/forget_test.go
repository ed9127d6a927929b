package daemon

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/config"
	"epitome/event/journal"
	"epitome/internal/fakeapi"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/store"
)

// traces returns where the data folder, the memory, the store and the server have the name of a conversation. In the
// files of the embedded store old records lie until it compacts them.
func (p *program) traces(folder, id string, server *fakeapi.Redis) (all []string) {
	p.t.Helper()
	p.service.KeepRequests(time.Now())
	p.book.Settle()
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if e.IsDir() && e.Name() == StoreFolder {
			return filepath.SkipDir
		}
		content, _ := os.ReadFile(path)
		if strings.Contains(path+string(content), id) {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	isOf := func(l rewrite.Last) bool { return l.Conversation == id }
	if slices.ContainsFunc(slices.Collect(p.service.Live.Newest(time.Now())), isOf) {
		all = append(all, "memory")
	}
	if server == nil {
		return all
	}
	keys, err := server.Client.Keys(p.t.Context(), "*").Result()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, key := range keys {
		if value, _ := server.Client.Get(p.t.Context(), key).Result(); strings.Contains(value, id) {
			all = append(all, key)
		}
	}
	return all
}

// A conversation that is forgotten is gone from memory, disk, Redis and bucket, with the answers of models that were
// stored for it. What others have in common with it stays, and it begins anew.
func TestForgottenConversationIsGone(t *testing.T) {
	for where, isShared := range map[string]bool{"on disk": false, "in Redis and a bucket": true} {
		t.Run(where, func(t *testing.T) {
			var server *fakeapi.Redis
			folder := ""
			a, p, provider := chatter(t, func(c *config.Config) {
				if folder = c.Data; isShared {
					server = fakeapi.StartRedis(t)
					c.Store.URL = server.URL() + "?read_timeout=3s&write_timeout=3s&dial_timeout=3s"
					c.Offload.Bucket, _ = s3(t)
					c.Offload.URL = "http://epitome.team:7070"
				}
			})
			one := string(fakeapi.Conversation(2))
			other := strings.Replace(string(fakeapi.Conversation(1)), "Look at", "Count", 1)
			resp, _ := p.chat(one)
			id, sent := resp.Header.Get("X-Epitome-Conversation"), provider.last()
			p.chat(other)
			sentOther := provider.last()
			names := slices.Compact(regexp.MustCompile(`\b[a-z2-7]{26}\b`).FindAllString(sent, -1))
			if len(names) != 2 || !strings.Contains(sentOther, names[0]) {
				t.Fatalf("%q, and the other conversation: %s", names, sentOther)
			}
			p.awaitEvents(2)
			before := p.traces(folder, id, server)
			story, err := p.book.Conversation(id)
			if err != nil || len(before) < 2 {
				t.Fatalf("%v, it is in %q", err, before)
			}
			if n, _, err := p.service.Forget(id); n != 1 || err != nil {
				t.Errorf("%d artifacts, %v", n, err)
			}
			if left := p.traces(folder, id, server); len(left) > 0 {
				t.Errorf("it is still in %q", left)
			}
			_, found, err := p.service.Deps.Ledger.At(story.Exchanges[0].Decision)
			_, err1 := p.service.Shelf.Get(names[0])
			_, err2 := p.service.Shelf.Get(names[1])
			if found || err != nil || err1 != nil || err2 == nil {
				t.Errorf("its decision is there: %v, %v; artifacts: %v, %v", found, err, err1, err2)
			}
			if _, _, err := p.service.Forget(id); !errors.Is(err, journal.ErrUnknown) {
				t.Errorf("forgotten again: %v", err)
			}
			if p.chat(other); provider.last() != sentOther {
				t.Errorf("another conversation is sent as %s", provider.last())
			}
			if p.chat(one); provider.last() != sent || len(p.traces(folder, id, server)) == 0 {
				t.Errorf("it begins anew as %s", provider.last())
			}

			provider.untilCompacted()
			talk := p.book.Conversations()[0].ID
			var answers []string
			err = p.book.Each(func(e journal.Entry) {
				if e.Summary != nil && e.Summary.Conversation == talk {
					answers = append(answers, e.Summary.Key)
				}
			})
			there, err1 := p.service.Store.GetMany(answers)
			if err := errors.Join(err, err1); err != nil || len(bytes.Join(there, nil)) == 0 {
				t.Fatalf("no answer is stored: %v", err)
			}
			if _, _, err := p.service.Forget(talk); err != nil {
				t.Error(err)
			}
			if values, err := p.service.Store.GetMany(answers); err != nil || len(bytes.Join(values, nil)) > 0 {
				t.Errorf("the store still has %q, %v", values, err)
			}
			a.turn()
		})
	}
}

// Requests that come while their conversation is forgotten are answered, and the one after is repeated.
func TestForgettingInTheMidstOfRequests(t *testing.T) {
	t.Parallel()
	provider := fakeapi.StartProvider(t, fakeapi.Options{})
	p := run(t, t.TempDir(), provider.URL)
	resp, _ := p.chat(string(fakeapi.Conversation(1)))
	id := resp.Header.Get("X-Epitome-Conversation")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for calls := range 8 {
				if resp, _ := p.chat(string(fakeapi.Conversation(1 + calls))); resp.StatusCode != 200 {
					t.Error(resp.Status)
				}
			}
		})
	}
	for range 20 {
		if _, _, err := p.service.Forget(id); err != nil && !errors.Is(err, journal.ErrUnknown) {
			t.Error(err)
		}
	}
	all.Wait()
	p.chat(string(fakeapi.Conversation(9)))
	sent := provider.Last()
	if p.chat(string(fakeapi.Conversation(9))); provider.Last() != sent || len(sent) > len(fakeapi.Conversation(9))/2 {
		t.Errorf("%d bytes, and then %d", len(sent), len(provider.Last()))
	}
}

// awaitEvents waits until the book has so many events, as an answer is sent before its event is recorded.
func (p *program) awaitEvents(n int) {
	p.t.Helper()
	if !fakeapi.Eventually(func() bool { recent, _, _ := p.book.Since(0); return len(recent) >= n }) {
		p.t.Fatalf("there are no %d events", n)
	}
}

// A fork goes on byte for byte, with its artifacts, when the conversation it branched off from is forgotten, and the
// other way round.
func TestForkOutlivesForgetting(t *testing.T) {
	for _, gone := range []string{"table_5", "fork_5"} {
		provider := fakeapi.StartProvider(t, fakeapi.Options{})
		p := run(t, t.TempDir(), provider.URL)
		ids, sent, stays := map[string]string{}, map[string]string{}, ""
		say := func(who string, calls int) string {
			resp, _ := p.chat(strings.ReplaceAll(string(fakeapi.Conversation(calls)), "table_5", who))
			ids[who] = resp.Header.Get("X-Epitome-Conversation")
			return provider.Last()
		}
		for calls := 1; calls <= 7; calls++ {
			sent["table_5"] = say("table_5", calls)
		}
		for calls := 5; calls <= 7; calls++ {
			sent["fork_5"] = say("fork_5", calls)
		}
		p.awaitEvents(10)
		shared := regexp.MustCompile(`\b[a-z2-7]{26}\b`).FindString(sent["fork_5"])
		if edits, err := p.service.EditsWith(t.Context(), nil, shared); err == nil {
			t.Errorf("of an artifact that both have, %d edits of one are found", len(edits))
		}
		n, _, err := p.service.Forget(ids[gone])
		if delete(ids, gone); err != nil || n == 0 || len(ids) == 0 {
			t.Fatalf("%d artifacts, %v", n, err)
		}
		for stays = range ids {
			if now := say(stays, 7); now != sent[stays] {
				t.Errorf("without %s, %s is sent as %s", gone, stays, now)
			}
		}
		for _, name := range regexp.MustCompile(`\b[a-z2-7]{26}\b`).FindAllString(sent[stays], -1) {
			if _, err := p.service.Shelf.Get(name); err != nil {
				t.Errorf("without %s, %s: %v", name, gone, err)
			}
		}
	}
}

// failing is a store of which one write fails.
type failing struct {
	store.Store
	before int // writes that succeed
}

func (f *failing) err() error {
	if f.before--; f.before == -1 {
		return errors.New("the store fails")
	}
	return nil
}

func (f *failing) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	return f.Store.Swap(key, old, value, keep)
}

func (f *failing) Delete(keys ...string) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.Store.Delete(keys...)
}

// Whichever write of the store fails, forgetting again leaves nothing.
func TestForgettingAgainAfterAnError(t *testing.T) {
	provider := fakeapi.StartProvider(t, fakeapi.Options{})
	p := run(t, t.TempDir(), provider.URL)
	for before := 0; ; before++ {
		resp, _ := p.chat(string(fakeapi.Conversation(4)))
		id := resp.Header.Get("X-Epitome-Conversation")
		p.awaitEvents(1)
		story, _ := p.book.Conversation(id)
		sent, found, err := p.service.Deps.Ledger.At(story.Exchanges[0].Decision)
		if !found || err != nil || len(sent.Edits) == 0 {
			t.Fatalf("%+v, %v", sent, err)
		}
		whole := p.service.Deps.Ledger
		p.service.Deps.Ledger = ledger.New(&failing{p.service.Store, before}, time.Hour)
		_, _, failed := p.service.Forget(id)
		p.service.Deps.Ledger = whole
		if _, _, err := p.service.Forget(id); (failed == nil) != errors.Is(err, journal.ErrUnknown) || failed != nil && err != nil {
			t.Errorf("%v, and then %v", failed, err)
		}
		for _, e := range sent.Edits {
			if value, _ := store.Get(p.service.Store, e.Name); len(value) > 0 {
				t.Errorf("after %d writes and an error the store has %s", before, value)
			}
		}
		if failed == nil {
			break
		}
	}
}

// The documented rights for a bucket lack DeleteObject. Then all else is forgotten, and the answer says what is left.
func TestForgettingWithoutTheRightToDelete(t *testing.T) {
	at := fakeapi.StartS3(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodDelete {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	provider := fakeapi.StartProvider(t, fakeapi.Options{})
	p := run(t, t.TempDir(), provider.URL, func(c *config.Config) { c.Offload.Bucket = at })
	resp, _ := p.chat(string(fakeapi.Conversation(2)))
	id := resp.Header.Get("X-Epitome-Conversation")
	p.awaitEvents(1)
	n, said, err := p.service.Forget(id)
	state := p.parts()["bucket"]
	if n != 0 || err != nil || !strings.Contains(said, "The bucket keeps 2 artifacts") || state != store.Answers {
		t.Errorf("%d artifacts, %v: %s; the bucket %s", n, err, said, state)
	}
	p.wantLog(`"in_bucket":2`)
	if _, _, err := p.service.Forget(id); !errors.Is(err, journal.ErrUnknown) {
		t.Errorf("it is still known: %v", err)
	}
}
