package daemon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"epitome/dialect"
	"epitome/dialect/activity"
	"epitome/rewrite"
	"epitome/summarize"
)

// requests is the folder of the newest requests, the same for all runs of a user: of each conversation a file with its
// ID as name, for the owner alone.
type requests struct {
	folder     string
	keep       time.Duration
	quota      int64 // bytes of all files
	sync.Mutex       // guards what follows
	unlisted   int64 // bytes that were written since the folder was listed
	unwritten  error // why a request was not written the last time; nil if all were
}

// restsAfter is how long a conversation has no new request before its newest one is kept, so that an agent's fast turns
// are not all compressed.
const restsAfter = 10 * time.Second

// keepRequests writes the newest requests that are not on disk yet, of conversations that rest since a time. One that
// cannot be written is tried again by the next call.
func (d *Daemon) keepRequests(since time.Time) {
	d.requests.Lock()
	defer d.requests.Unlock()
	r := &d.requests
	var failed error
	pack := gzip.NewWriter(nil)
	for last := range d.live.Newest(since) {
		if r.quota == 0 || last.Kept(true) {
			continue
		}
		if err := r.write(last, pack); err != nil {
			last.Kept(false)
			failed = err
		}
	}
	if failed != nil && r.unwritten == nil {
		d.log.Warn("cannot keep the newest request of a conversation", "error", failed.Error())
	}
	r.unwritten = failed
	if r.unlisted > r.quota/16 {
		r.list()
	}
}

// write writes a request, without its functions and so without a credential. A reader sees all of it.
func (r *requests) write(last rewrite.Last, pack *gzip.Writer) error {
	var content bytes.Buffer
	pack.Reset(&content)
	if err := errors.Join(gob.NewEncoder(pack).Encode(last), pack.Close(), os.MkdirAll(r.folder, 0o700)); err != nil {
		return err
	}
	r.unlisted += int64(content.Len())
	file := filepath.Join(r.folder, last.Conversation)
	temp := file + ".new" // list deletes it in time if this process is killed here
	if err := os.WriteFile(temp, content.Bytes(), 0o600); err != nil {
		return err
	}
	now := time.Now() // finer than the time that the system gives a file
	return errors.Join(os.Chtimes(temp, now, now), os.Rename(temp, file))
}

// list deletes files that are older than they are kept, and the oldest beyond the quota. It returns the conversations of
// the others, the newest first. The caller holds the lock.
func (r *requests) list() (conversations []string) {
	r.unlisted = 0
	quota := r.quota
	entries, _ := os.ReadDir(r.folder) // there is no folder if nothing was ever kept
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, f := range files {
		if quota -= f.Size(); quota < 0 || time.Since(f.ModTime()) > r.keep {
			_ = os.Remove(filepath.Join(r.folder, f.Name())) // the next call tries again
		} else if filepath.Ext(f.Name()) == "" {
			conversations = append(conversations, f.Name())
		}
	}
	return conversations
}

// keptRequests returns the conversations whose newest requests are kept, the newest first.
func (d *Daemon) keptRequests() []string {
	d.keepRequests(time.Now())
	d.requests.Lock()
	defer d.requests.Unlock()
	return d.requests.list()
}

// handoff returns what another agent needs to go on with the conversation whose ID has the given beginning, or with the
// newest one. why says why no model has written a summary for it.
func (d *Daemon) handoff(ctx context.Context, beginning string) (text, why string, err error) {
	ids := slices.DeleteFunc(d.keptRequests(), func(id string) bool { return !strings.HasPrefix(id, beginning) })
	switch {
	case len(ids) == 0:
		return "", "", fmt.Errorf("no request of %s is kept: none has an answer, or newer ones filled store.requests (%s)",
			cmp.Or(beginning, "any conversation"), d.started.Store.Requests)
	case len(ids) > 1 && beginning != "":
		return "", "", fmt.Errorf("several IDs begin with %s: %s", beginning, strings.Join(ids, ", "))
	}
	last := rewrite.Last{Credential: func() any { return nil }}
	content, err := os.ReadFile(filepath.Join(d.requests.folder, ids[0]))
	unpack, err2 := gzip.NewReader(bytes.NewReader(content))
	if err = errors.Join(err, err2); err == nil {
		err = gob.NewDecoder(unpack).Decode(&last)
	}
	if err != nil {
		return "", "", fmt.Errorf("cannot read the request of conversation %s: %w", ids[0], err)
	}
	for l := range d.live.Newest(time.Now()) {
		if l.Conversation == last.Conversation {
			last = l // with its credential
			last.Body = bytes.Clone(l.Body)
		}
	}
	api, _ := dialect.Of(last.Dialect, last.Body) // by which the request was read before
	conf, deps := d.config.Load(), overlay(d.deps)
	deps.Summarizer = d.summarizer
	limits, _, _ := conf.Rewrite.With("keep_tokens", "8000") // so many of the newest messages stay beside the summary
	out := rewrite.NewShaper(deps).Shape(rewrite.Input{
		Dialect: api, Body: last.Body, Upstream: last.Upstream, Scope: last.Scope, Project: last.Project,
		Limits: &limits, SummaryMode: conf.Summarize.Mode, SummaryDetail: conf.Summarize.Detail,
		Compact: true, Client: ctx, Credential: last.Credential,
	})
	r, err := api.Read(out.Body, nil)
	if err := errors.Join(err, out.Report.Err); err != nil {
		return "", "", err
	}
	return summarize.Handoff(r, activity.Of(r, nil)), out.Report.Compaction.Why, nil
}
