package replay

import (
	"context"
	"fmt"
	"os"

	"epitome/bench/replay/figures"
	"epitome/bench/sessions"
)

// source is a log, or what stands for one.
type source struct {
	name  string
	twice bool // it can be read a second time
	read  func(yield func(sessions.Conversation) error) (left string, err error)
}

// heard is what came of one source.
type heard struct {
	played  []played
	origins []figures.Origin
	skipped []string
	copies  int // conversations that were left out
}

// sources returns where conversations come from. skipped says what cannot be looked into.
func (r *replayRun) sources() (all []source, skipped []string) {
	if len(r.Paths) == 0 {
		for i := range r.Sessions {
			all = append(all, source{name: fmt.Sprintf("made up, %d", i+1),
				read: func(yield func(sessions.Conversation) error) (string, error) {
					return "", sessions.Make(r.Seed, i, yield)
				}})
		}
		return all, nil
	}
	files, skipped := sessions.Find(r.Paths)
	for _, file := range files {
		at, err := os.Stat(file)
		all = append(all, source{
			name: file, twice: err == nil && at.Mode().IsRegular(),
			read: func(yield func(sessions.Conversation) error) (string, error) { return sessions.Read(file, yield) },
		})
	}
	return all, skipped
}

// hear plays the conversations of one source as they are read, but for those that are copies.
func (r *replayRun) hear(ctx context.Context, s source, copies []bool) (h heard, err error) {
	if err = ctx.Err(); err != nil {
		return h, err
	}
	number := 0
	left, err := s.read(func(in sessions.Conversation) error {
		number++
		if number <= len(copies) && copies[number-1] {
			h.copies++
			return nil
		}
		c, err := r.record(in)
		if err != nil {
			h.skipped = append(h.skipped, fmt.Sprintf("cannot replay %s: %v", in.Name, err))
			return nil
		}
		p, err := r.play(ctx, c)
		if err != nil {
			return err
		}
		o := figures.Origin{Format: in.Format, Dialect: c.client.as, Logs: 1, Conversations: 1}
		if in.Times != nil {
			o.Timed = 1
		}
		h.played, h.origins = append(h.played, p), joined(h.origins, []figures.Origin{o})
		return nil
	})
	for i := range h.origins {
		h.origins[i].Logs = 1
	}
	if left != "" {
		h.skipped = append(h.skipped, left)
	}
	return h, err
}

// joined adds up by format, in the order in which formats were first seen.
func joined(all, more []figures.Origin) []figures.Origin {
	for _, o := range more {
		found := false
		for i := range all {
			if all[i].Format != o.Format || all[i].Dialect != o.Dialect {
				continue
			}
			found = true
			all[i].Logs += o.Logs
			all[i].Conversations += o.Conversations
			all[i].Timed += o.Timed
		}
		if !found {
			all = append(all, o)
		}
	}
	return all
}
