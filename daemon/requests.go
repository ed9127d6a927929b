package daemon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"epitome/console"
	"epitome/dialect"
	"epitome/dialect/activity"
	"epitome/rewrite"
	"epitome/summarize"
)

// requests are the newest requests, on disk in one folder for all runs of a user: of each conversation a file with its
// ID as name, for the owner alone.
type requests struct {
	shaper *rewrite.Shaper // has them in memory
	log    *slog.Logger
	folder string
	keep   time.Duration
	quota  int64 // bytes of all files; 0: nothing is written

	mu        sync.Mutex // guards the folder, and what follows
	unwritten error      // why a request was not written the last time; nil if all were
}

// restsAfter is how long a conversation has no new request before its newest one is kept, so that an agent's fast turns
// are not all compressed.
const restsAfter = 10 * time.Second

// save writes the newest requests that are not on disk yet, of conversations that rest since a time. One that cannot be
// written is tried again by the next call.
func (r *requests) save(since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var failed error
	isWritten := false
	for last := range r.shaper.Newest(since) {
		if r.quota == 0 || last.Kept(true) {
			continue
		}
		isWritten = true
		if err := r.write(last); err != nil {
			last.Kept(false)
			failed = err
		}
	}
	if failed != nil && r.unwritten == nil {
		r.log.Warn("cannot keep the newest request of a conversation", "error", failed.Error())
	}
	r.unwritten = failed
	if isWritten {
		r.tidy()
	}
}

// write writes a request, without its functions and so without a credential. A reader sees all of it.
func (r *requests) write(last rewrite.Last) error {
	var content bytes.Buffer
	pack := gzip.NewWriter(&content)
	if err := errors.Join(gob.NewEncoder(pack).Encode(last), pack.Close(), os.MkdirAll(r.folder, 0o700)); err != nil {
		return err
	}
	file := filepath.Join(r.folder, last.Conversation)
	temp := file + ".new" // tidy deletes it in time if this process is killed here
	if err := os.WriteFile(temp, content.Bytes(), 0o600); err != nil {
		return err
	}
	now := time.Now() // finer than the time that the system gives a file
	return errors.Join(os.Chtimes(temp, now, now), os.Rename(temp, file))
}

// list writes what is not on disk yet, and returns the conversations whose newest requests are kept, the newest first.
func (r *requests) list() []string {
	r.save(time.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tidy()
}

// tidy deletes files that are older than they are kept, and the oldest beyond the quota. It returns the conversations
// of the others, the newest first. The caller holds the lock.
func (r *requests) tidy() (conversations []string) {
	entries, _ := os.ReadDir(r.folder) // there is no folder if nothing was ever kept
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var size int64 // of a file and all newer ones
	for _, f := range files {
		size += f.Size()
		if size > r.quota || time.Since(f.ModTime()) > r.keep {
			_ = os.Remove(filepath.Join(r.folder, f.Name())) // the next call tries again
		} else if filepath.Ext(f.Name()) == "" {
			conversations = append(conversations, f.Name())
		}
	}
	return conversations
}

// read returns the newest request of a conversation, with its credential if it is still in memory.
func (r *requests) read(conversation string) (last rewrite.Last, err error) {
	for l := range r.shaper.Newest(time.Now()) {
		if l.Conversation == conversation {
			last = l
			last.Body = bytes.Clone(l.Body)
		}
	}
	if last.Body != nil {
		return last, nil
	}
	file, err := os.Open(filepath.Join(r.folder, conversation))
	if err != nil {
		return last, err
	}
	defer file.Close()
	unpack, err := gzip.NewReader(file)
	if err != nil {
		return last, err
	}
	last.Credential = func() any { return nil }
	return last, gob.NewDecoder(unpack).Decode(&last)
}

// forget removes the newest requests of a conversation.
func (r *requests) forget(conversation string) error {
	r.mu.Lock() // so that none is being written
	defer r.mu.Unlock()
	r.shaper.Drop(conversation)
	return os.RemoveAll(filepath.Join(r.folder, conversation)) // which may not be there
}

// handoff returns what another agent needs to go on with the conversation whose ID has the given beginning, or with the
// newest one. why says why no model has written a summary for it.
func (d *Daemon) handoff(ctx context.Context, beginning string) (text, why string, err error) {
	kept := d.requests.list()
	ids := slices.DeleteFunc(kept, func(id string) bool { return !strings.HasPrefix(id, beginning) })
	if len(ids) == 0 {
		return "", "", console.BadRequest(fmt.Sprintf("no request of %s is kept: none has an answer, or newer ones "+
			"filled store.requests (%s)", cmp.Or(beginning, "any conversation"), d.started.Store.Requests))
	}
	if len(ids) > 1 && beginning != "" {
		return "", "", console.BadRequest(fmt.Sprintf("several IDs begin with %s: %s", beginning, strings.Join(ids, ", ")))
	}
	last, err := d.requests.read(ids[0])
	if err != nil {
		return "", "", fmt.Errorf("cannot read the request of conversation %s: %w", ids[0], err)
	}
	api, _ := dialect.Of(last.Dialect, last.Body) // by which the request was read before
	conf := d.config.Load()
	deps := overlay(d.deps)
	deps.Summarizer = d.summarizer
	summary := conf.Summarize
	summary.Distill = false                                  // its results are not asked for again
	limits, _, _ := conf.Rewrite.With("keep_tokens", "8000") // so many of the newest messages stay beside the summary
	out := rewrite.NewShaper(deps).Shape(rewrite.Input{
		Dialect: api, Body: last.Body, Upstream: last.Upstream, Scope: last.Scope, Project: last.Project,
		Limits: &limits, Summary: summary, Compact: true, Client: ctx, Credential: last.Credential,
	})
	r, err := api.Read(out.Body, nil)
	if err := errors.Join(err, out.Report.Err); err != nil {
		return "", "", err
	}
	return summarize.Handoff(r, activity.Of(r, nil)), out.Report.Compaction.Why, nil
}
