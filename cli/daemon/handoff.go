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
	"time"

	"github.com/klauspost/compress/gzip"

	"epitome/rewrite"
	"epitome/rewrite/activity"
	"epitome/summarize"
)

// keepRequests writes the newest requests that are not on disk yet, each to a file with the ID of its conversation as
// name, for the owner alone; a reader sees all of it. It deletes files that are older than store.keep, and the oldest
// beyond store.requests, and returns the conversations of the others, the newest first.
func (d *Daemon) keepRequests() (conversations []string) {
	d.keeping.Lock()
	defer d.keeping.Unlock()
	keep, quota := d.started.Store.Keep.D(), int64(d.started.Store.Requests)
	for _, last := range append(d.live.Newest(), d.observer.Newest()...) {
		if quota == 0 || !last.IsNew() {
			continue
		}
		var content bytes.Buffer
		pack := gzip.NewWriter(&content)
		err := errors.Join(gob.NewEncoder(pack).Encode(last), pack.Close()) // without functions, so without a credential
		file := filepath.Join(d.requests, last.Conversation)
		temp := file + ".new" // deleted like the others if this process is killed here
		err = errors.Join(err, os.MkdirAll(d.requests, 0o700), os.WriteFile(temp, content.Bytes(), 0o600))
		if now := time.Now(); err == nil { // finer than the time that the system gives a file
			err = errors.Join(os.Chtimes(temp, now, now), os.Rename(temp, file))
		}
		if err != nil {
			d.log.Warn("cannot keep the newest request of a conversation", "error", err.Error())
		}
	}
	entries, _ := os.ReadDir(d.requests) // there is no folder if nothing was ever kept
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, f := range files {
		if quota -= f.Size(); quota < 0 || time.Since(f.ModTime()) > keep {
			_ = os.Remove(filepath.Join(d.requests, f.Name())) // the next call tries again
		} else if filepath.Ext(f.Name()) == "" {
			conversations = append(conversations, f.Name())
		}
	}
	return conversations
}

// handoff returns what another agent needs to go on with the conversation whose ID has the given beginning, or with the
// newest one. why says why no model has written a summary for it.
func (d *Daemon) handoff(ctx context.Context, beginning string) (text, why string, err error) {
	ids := slices.DeleteFunc(d.keepRequests(), func(id string) bool { return !strings.HasPrefix(id, beginning) })
	switch {
	case len(ids) == 0:
		return "", "", fmt.Errorf("no request of %s is kept: none has an answer, or newer ones filled store.requests (%s)",
			cmp.Or(beginning, "any conversation"), d.started.Store.Requests)
	case len(ids) > 1 && beginning != "":
		return "", "", fmt.Errorf("several IDs begin with %s: %s", beginning, strings.Join(ids, ", "))
	}
	last := rewrite.Last{Credential: func() any { return nil }}
	content, err := os.ReadFile(filepath.Join(d.requests, ids[0]))
	unpack, err2 := gzip.NewReader(bytes.NewReader(content))
	if err = errors.Join(err, err2); err == nil {
		err = gob.NewDecoder(unpack).Decode(&last)
	}
	if err != nil {
		return "", "", fmt.Errorf("cannot read the request of conversation %s: %w", ids[0], err)
	}
	for _, l := range append(d.live.Newest(), d.observer.Newest()...) {
		if l.Conversation == last.Conversation {
			last = l // with its credential
		}
	}
	dialect, _ := DialectOf(last.Dialect, last.Body) // by which the request was read before
	conf, deps := d.config.Load(), overlay(d.deps)
	deps.Summarizer = d.summarizer
	limits, _, _ := conf.Rewrite.With("keep_tokens", "8000") // so many of the newest messages stay beside the summary
	out := rewrite.NewShaper(deps).Shape(rewrite.Input{
		Dialect: dialect, Body: last.Body, Upstream: last.Upstream, Scope: last.Scope, Project: last.Project,
		Limits: &limits, SummaryMode: conf.Summarize.Mode, Compact: true, Client: ctx, Credential: last.Credential,
	})
	r, err := dialect.Read(out.Body, nil)
	if err := errors.Join(err, out.Report.Err); err != nil {
		return "", "", err
	}
	return summarize.Handoff(r, activity.Of(r, nil)), out.Report.Compaction.Why, nil
}
