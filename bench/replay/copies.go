package replay

import (
	"context"

	"epitome/bench/sessions"
	"epitome/rewrite/chat"
)

// glance is what is known of one source after it was read for the first time: marks of its conversations, and none of
// their text.
type glance struct {
	ends  []sessions.Mark // of each conversation as a whole; the zero mark for what is none
	inner []sessions.Mark // of all that each of them begins with, message by message
}

// findCopies reports, for each source and in the order of its conversations, which of them are copies: the beginning of
// a longer conversation, as a resumed or forked session's log begins with the messages of the earlier one. Of equal
// ones all but the first are copies. It compares nothing that can be read only once.
func findCopies(ctx context.Context, sources []source) ([][]bool, error) {
	seen := make([]glance, len(sources))
	err := atOnce(ctx, len(sources), func(ctx context.Context, i int) (err error) {
		if sources[i].twice {
			seen[i], err = sources[i].glance(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	held := make(map[sessions.Mark]bool) // ends, and whether something longer, or the same before, holds them
	for _, g := range seen {
		for _, m := range g.ends {
			held[m] = false
		}
	}
	for _, g := range seen {
		for _, m := range g.inner {
			if _, ends := held[m]; ends {
				held[m] = true
			}
		}
	}
	copies := make([][]bool, len(sources))
	for i, g := range seen {
		for _, m := range g.ends {
			copies[i] = append(copies[i], held[m])
			held[m] = m != sessions.Mark{}
		}
	}
	return copies, nil
}

// glance reads a source to compare its conversations. It passes over what cannot be read; that is told when the source
// is played.
func (s source) glance(ctx context.Context) (g glance, err error) {
	if err = ctx.Err(); err != nil {
		return g, err
	}
	_, err = s.read(func(in sessions.Conversation) error {
		r, err := chat.Dialect{}.Read(in.Body, nil)
		if err != nil || len(r.Items) == 0 {
			g.ends = append(g.ends, sessions.Mark{})
			return ctx.Err()
		}
		marks := sessions.Marks(r)
		last := len(marks) - 1
		g.inner, g.ends = append(g.inner, marks[:last]...), append(g.ends, marks[last])
		return ctx.Err()
	})
	return g, err
}
