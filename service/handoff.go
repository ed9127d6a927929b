package service

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

	"epitome/dialect"
	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/offload"
	"epitome/rewrite"
	"epitome/summarize"
)

// KeepRequests writes the newest requests that are not on disk yet, of conversations that rest since a time: each into a
// file with the ID of its conversation as name, for the owner alone. One that cannot be written is tried again by the
// next call.
func (s *Service) KeepRequests(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	isWritten := false
	for last := range s.Live.Newest(since) {
		if s.Quota == 0 || last.Kept(true) {
			continue
		}
		isWritten = true
		if err := s.write(last); err != nil {
			last.Kept(false)
			failed = err
		}
	}
	if failed != nil && s.unwritten == nil {
		s.Log.Warn("cannot keep the newest request of a conversation", "error", failed.Error())
	}
	s.unwritten = failed
	if isWritten {
		s.tidy()
	}
}

// write writes a request, without its functions and so without a credential.
func (s *Service) write(last rewrite.Last) error {
	var content bytes.Buffer
	pack := gzip.NewWriter(&content)
	if err := errors.Join(gob.NewEncoder(pack).Encode(last), pack.Close()); err != nil {
		return err
	}
	return offload.WriteFile(filepath.Join(s.Requests, last.Conversation), content.Bytes(), func(temp, path string) error {
		now := time.Now() // finer than the time that the system gives a file
		return errors.Join(os.Chtimes(temp, now, now), os.Rename(temp, path))
	})
}

// KeptRequests writes those that are not on disk yet, and returns the conversations whose newest requests are kept, the
// newest first.
func (s *Service) KeptRequests() []string {
	s.KeepRequests(time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tidy()
}

// tidy deletes files that are older than they are kept, and the oldest beyond the quota. It returns the conversations
// of the others, the newest first. The caller holds the lock.
func (s *Service) tidy() (conversations []string) {
	entries, _ := os.ReadDir(s.Requests) // there is no folder if nothing was ever kept
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
		if size > int64(s.Quota) || time.Since(f.ModTime()) > s.Deps.Keep {
			_ = os.Remove(filepath.Join(s.Requests, f.Name())) // the next call tries again
		} else if filepath.Ext(f.Name()) == "" {
			conversations = append(conversations, f.Name())
		}
	}
	return conversations
}

// readRequest returns the newest request of a conversation, with its credential if it is still in memory.
func (s *Service) readRequest(conversation string) (last rewrite.Last, err error) {
	for l := range s.Live.Newest(time.Now()) {
		if l.Conversation == conversation {
			last = l
			last.Body = bytes.Clone(l.Body)
		}
	}
	if last.Body != nil {
		return last, nil
	}
	file, err := os.Open(filepath.Join(s.Requests, conversation))
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

// forgetRequest removes the newest requests of a conversation.
func (s *Service) forgetRequest(conversation string) error {
	s.mu.Lock() // so that none is being written
	defer s.mu.Unlock()
	s.Live.Drop(conversation)
	return os.RemoveAll(filepath.Join(s.Requests, conversation)) // which may not be there
}

// Handoff returns what another agent needs to go on with the conversation whose ID has the given beginning, or with the
// newest one. why says why no model has written a summary for it: rewrite.ErrUnasked if asks is false and one was to be
// asked.
func (s *Service) Handoff(ctx context.Context, beginning string, asks bool) (text, why string, err error) {
	kept := s.KeptRequests()
	ids := slices.DeleteFunc(kept, func(id string) bool { return !strings.HasPrefix(id, beginning) })
	if len(ids) == 0 {
		return "", "", refusal(fmt.Sprintf("no request of %s is kept: none has an answer, or newer ones "+
			"filled store.requests (%s)", cmp.Or(beginning, "any conversation"), s.Quota))
	}
	if len(ids) > 1 && beginning != "" {
		return "", "", refusal(fmt.Sprintf("several IDs begin with %s: %s", beginning, strings.Join(ids, ", ")))
	}
	last, err := s.readRequest(ids[0])
	if err != nil {
		return "", "", fmt.Errorf("cannot read the request of conversation %s: %w", ids[0], err)
	}
	api, _ := dialect.Of(last.Dialect, last.Body) // by which the request was read before
	conf := s.Config()
	deps := Overlay(s.Deps)
	deps.Summarizer = s.Deps.Summarizer
	summary := conf.Summarize
	summary.Distill = false                                  // its results are not asked for again
	limits, _, _ := conf.Rewrite.With("keep_tokens", "8000") // so many of the newest messages stay beside the summary
	in := rewrite.Input{
		Dialect: api, Body: last.Body, Upstream: last.Upstream, Scope: last.Scope, Project: last.Project,
		Limits: &limits, Summary: summary, Compact: true, Credential: last.Credential,
	}
	if asks {
		in.Client = ctx
	}
	out := rewrite.NewShaper(deps).Shape(in)
	r, err := conversation.Read(api, out.Body, nil)
	if err := errors.Join(err, out.Report.Err); err != nil {
		return "", "", err
	}
	return summarize.Handoff(r, activity.Of(r, nil)), out.Report.Compaction.Why, nil
}
