package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"epitome/console/figure"
	"epitome/event"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
)

// report is what explain prints of a request.
type report struct {
	event.Shaping
	Dialect    string           `json:"dialect"`
	Assumed    bool             `json:"assumed"` // nothing in the request shows the dialect
	Upstream   string           `json:"upstream"`
	Mode       string           `json:"mode"`
	Preset     string           `json:"preset"`
	Messages   int              `json:"messages"`
	Groups     int              `json:"groups"`
	WindowFrom string           `json:"window_from"`
	Limits     ladder.Effective `json:"limits"`
	Action     string           `json:"action"`
	Added      rewrite.Added    `json:"added"`
	Changes    []change         `json:"changes"`
	Turns      []turn           `json:"turns,omitempty"`
	Err        error            `json:"-"` // what failed inside epitome

	body []byte // as it would be sent
}

// change is a message, or several in a row, that would not be sent whole. Tokens are the model's.
type change struct {
	First    int    `json:"message"`
	Last     int    `json:"last"`
	Tool     string `json:"tool,omitempty"`
	Argument string `json:"argument,omitempty"`
	Step     string `json:"step"`
	Why      string `json:"why"`
	Before   int    `json:"before"`
	After    int    `json:"after"`
	Artifact string `json:"artifact,omitempty"`
}

// turn is an earlier request of the conversation, with the changes decided at it.
type turn struct {
	Messages int      `json:"messages"`
	Before   int      `json:"tokens_before"`
	After    int      `json:"tokens_after"`
	Changes  []change `json:"changes"`
	Reason   string   `json:"reason,omitempty"`
}

func newChange(c rewrite.Change) change {
	n := change{First: c.Message, Last: max(c.Message, c.Last), Tool: c.Tool, Argument: c.Argument, Step: string(c.Step),
		Why: "decided before", Before: c.Before, After: c.After}
	if c.New {
		n.Why = strings.ReplaceAll(string(c.Why), "_", " ")
	}
	if len(c.Artifacts) > 0 {
		n.Artifact = c.Artifacts[0]
	}
	return n
}

// String is the report for people.
func (r *report) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }
	line("%s, to upstream %s: %d messages, %d groups, read as %s", figure.Plain(r.Model), r.Upstream, r.Messages,
		r.Groups, r.Dialect)
	if r.Assumed {
		line("Nothing in it shows its API; --dialect names it.")
	}
	line("")
	line("tokens\tbefore\tafter")
	before, after := r.TokensBefore, r.TokensAfter
	for _, part := range []struct {
		name          string
		before, after int
	}{
		{"system", before.System, after.System}, {"tools", before.Tools, after.Tools}, {"user", before.User, after.User},
		{"assistant", before.Assistant, after.Assistant}, {"results", before.Results, after.Results},
		{"summary", before.Summary, after.Summary}, {"images", before.Images, after.Images},
		{"other", before.Other, after.Other},
		{"total", before.Total(), after.Total()},
	} {
		if part.before > 0 || part.after > 0 {
			line("%s\t%d\t%d", part.name, part.before, part.after)
		}
	}
	line("")

	limit := func(name string, tokens int) {
		line("%s\t%d\t%.0f %%", name, tokens, 100*float64(before.Total())/float64(max(tokens, 1)))
	}
	line("limit\ttokens\tfilled")
	limit("window ("+r.WindowFrom+")", r.Window)
	limit("usable", int(r.Usable))
	limit("clear", r.Limits.ClearLine)
	limit("compact", r.Limits.CompactLine)
	line("a result\t%d\t", r.Limits.Offload)
	line("a search or fetch\t%d\t", r.Limits.Lookups)
	line("a file read\t%d\t", r.Limits.Reads)
	if r.WindowFrom == "default" {
		line("Nothing is known of this model: set its window under [window] models.")
	}
	line("")
	if r.Turns != nil {
		line("%d requests came before. Changes decided at them:", len(r.Turns))
		for i, turn := range r.Turns {
			for _, c := range turn.Changes {
				line("request %d, %d messages, %d > %d tokens\t%s", i+1, turn.Messages, turn.Before, turn.After, c.row())
			}
		}
		line("")
	}
	r.writeChanges(line)
	_ = t.Flush() // a builder takes everything
	return b.String()
}

// writeChanges writes the changes of the request, or why there are none.
func (r *report) writeChanges(line func(format string, args ...any)) {
	if r.Added.Tokens > 0 {
		line("Added to the system prompt: %d tokens, context files %q, %d tokens of memory.", r.Added.Tokens, r.Added.Names,
			r.Added.Memory)
	}
	switch {
	case r.Err != nil:
		line("A part of epitome fails, so the request would go on in the form decided last: %v.", r.Err)
	case len(r.Changes) == 0:
		line("Nothing would be done: %s.", r.Reason)
		return
	case r.Broke:
		line("Some messages were sent in another form before: the provider's cache would miss once.")
	}
	line("messages\tstep\ttool\tbefore\tafter\tartifact\twhy")
	for _, c := range r.Changes {
		line("%s", c.row())
	}
	if r.Mode != "on" {
		line("The mode is %s: the request would be sent as it came.", r.Mode)
	}
}

// row is the change as cells of a table.
func (c change) row() string {
	messages := fmt.Sprint(c.First)
	if c.Last > c.First {
		messages += fmt.Sprintf("-%d", c.Last)
	}
	call := strings.Join(strings.Fields(c.Tool+" "+c.Argument), " ")
	if runes := []rune(call); len(runes) > 40 {
		call = string(runes[:39]) + "…"
	}
	return fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%s\t%s", messages, c.Step, figure.Plain(call), c.Before, c.After, c.Artifact,
		c.Why)
}
