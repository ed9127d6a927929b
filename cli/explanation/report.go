// Package explanation is what the command explain tells of a request, and how it is written for people and programs.
//
// It promises that both are told the same. It works out nothing: what would be done to a request is for others to know.
package explanation

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"epitome/console/inert"
	"epitome/event"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/window"
)

// Report is what explain tells of a request. Tokens are the model's.
type Report struct {
	Dialect      string           `json:"dialect"` // in which it was read
	Assumed      bool             `json:"assumed"` // nothing in the request shows the dialect
	Model        string           `json:"model"`
	Upstream     string           `json:"upstream"`
	Mode         string           `json:"mode"`
	Preset       string           `json:"preset"`
	Bytes        int              `json:"bytes"`
	Messages     int              `json:"messages"`
	Groups       int              `json:"groups"`
	Rounds       int              `json:"user_messages"`
	Counted      string           `json:"counted"` // by which vocabulary, and times what
	Window       int              `json:"window"`
	WindowFrom   string           `json:"window_from"`
	MaxOutput    int              `json:"max_output"` // tokens that the request asks for; 0 if it does not say
	Usable       int              `json:"usable"`
	Limits       ladder.Effective `json:"limits"`
	Rent         float64          `json:"rent"`
	Summaries    string           `json:"summaries"` // who makes them, in a sentence
	Note         string           `json:"note"`      // what is to be read first; empty if there is nothing of the kind
	Known        string           `json:"known"`     // what of the conversation was known before
	Before       Size             `json:"before"`
	After        Size             `json:"after"`
	TokensBefore int              `json:"tokens_before"`
	TokensAfter  int              `json:"tokens_after"`
	Action       string           `json:"action"`
	Broke        bool             `json:"broke"`    // messages that had been sent would be sent in another form
	Repeated     int              `json:"repeated"` // messages in a form that was decided before
	Changes      []Change         `json:"changes"`
	Reason       string           `json:"reason"`           // why nothing new would be done, or nothing else
	Added        int              `json:"added,omitempty"`  // tokens beside what the client has sent
	Memory       int              `json:"memory,omitempty"` // those of them that earlier sessions have learned
	Contexts     []string         `json:"contexts,omitempty"`
	NotAdded     string           `json:"not_added,omitempty"` // why there is none, though it is asked for
	Failed       string           `json:"failed"`              // what went wrong inside epitome
	Turns        []Turn           `json:"turns,omitempty"`

	Title string `json:"-"` // of the dialect
	Body  []byte `json:"-"` // as it would be sent
}

// Size is how many tokens a request is, by what they are spent on.
type Size struct {
	System    int `json:"system"`
	Tools     int `json:"tools"`
	User      int `json:"user"`
	Assistant int `json:"assistant"`
	Results   int `json:"results"`
	Summary   int `json:"summary"`
	Images    int `json:"images"`
	Other     int `json:"other"`
}

// Change is one message that would not be sent whole, or several in a row that a summary stands for.
type Change struct {
	Message  int    `json:"message"`        // its index in the request
	Last     int    `json:"last,omitempty"` // of several messages, the index of the last one
	Tool     string `json:"tool"`
	Argument string `json:"argument"`
	Rung     string `json:"rung"`
	Why      string `json:"why"`
	Before   int    `json:"before"` // as it came; 0 if not kept: of several messages, decided by an older epitome
	After    int    `json:"after"`
	Artifact string `json:"artifact"`
	Thinking string `json:"thinking"` // artifact with the message as it came, if its thinking is not sent

	freed int // tokens that this decision took out: what an earlier one had taken out is not in it
}

// Turn is one request of the conversation before the last.
type Turn struct {
	Messages     int      `json:"messages"`
	TokensBefore int      `json:"tokens_before"`
	TokensAfter  int      `json:"tokens_after"`
	Broke        bool     `json:"broke"`
	Changes      []Change `json:"changes"`
	Reason       string   `json:"reason"`
}

// decidedBefore is in the place of a reason: decisions do not hold theirs.
const decidedBefore = "decided before"

// NewChange is a change as it is shown.
func NewChange(c rewrite.Change) Change {
	e := Change{Message: c.Message, Tool: c.Tool, Argument: c.Argument, Rung: string(c.Step), Why: decidedBefore,
		Before: c.Before, After: c.After, freed: c.Before - c.After}
	if c.Last > c.Message {
		e.Last = c.Last
	}
	if len(c.Artifacts) > 0 {
		e.Artifact = c.Artifacts[0]
		if c.Why == event.CodeThinking {
			e.Thinking = c.Artifacts[0]
		}
	}
	if c.New {
		e.Why = strings.ReplaceAll(string(c.Why), "_", " ")
	}
	return e
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error { return inert.Print(w, r) }

// page writes text and tables, and keeps the first error.
type page struct {
	w   io.Writer
	err error
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// table writes rows whose cells are separated by tabs.
func (p *page) table(rows []string) {
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, row) // the error comes with Flush
	}
	if err := t.Flush(); p.err == nil {
		p.err = err
	}
}

// Print writes the report for people.
func (r *Report) Print(w io.Writer, terminal bool) error {
	p := &page{w: w}
	switch {
	case r.Note != "" && terminal:
		p.line("\x1b[1m%s\x1b[0m\n", r.Note) // bold
	case r.Note != "":
		p.line("%s\n", r.Note)
	}
	if r.Messages == 0 {
		p.line("Nothing would be done: %s. The request would go on as it came.", r.Reason)
		return p.err
	}
	plural := "s"
	if r.Groups == 1 {
		plural = ""
	}
	p.line("%s, to upstream %s: %d messages, %d of them of the user, %d group%s; %d bytes, read as %s",
		orNone(r.Model), r.Upstream, r.Messages, r.Rounds, r.Groups, plural, r.Bytes, r.Title)
	if r.Assumed {
		p.line("Nothing in it shows for which API it is. --dialect says it, if it is another one.")
	}
	p.line("")
	r.printParts(p)
	p.line("")
	r.printLimits(p)
	r.printTurns(p)
	p.line("")
	p.line("Known before: %s.", r.Known)
	r.printChanges(p)
	return p.err
}

func orNone(model string) string {
	if model == "" {
		return "no model"
	}
	return model
}

// printParts writes what the tokens are spent on.
func (r *Report) printParts(p *page) {
	rows := []string{"tokens\tas it came\tas it would be sent"}
	b, a := r.Before, r.After
	for _, part := range []struct {
		name          string
		before, after int
	}{
		{"system", b.System, a.System}, {"tools", b.Tools, a.Tools}, {"user", b.User, a.User},
		{"assistant", b.Assistant, a.Assistant},
		{"results", b.Results, a.Results}, {"summaries", b.Summary, a.Summary},
		{"images, sound", b.Images, a.Images}, {"other", b.Other, a.Other},
		{"together", r.TokensBefore, r.TokensAfter},
	} {
		if part.before > 0 || part.after > 0 {
			rows = append(rows, fmt.Sprintf("%s\t%d\t%d", part.name, part.before, part.after))
		}
	}
	p.table(rows)
	p.line("Counted %s.", r.Counted)
	if r.Added > 0 {
		p.line("Of the system's, %d tokens are added: %s.", r.Added, r.additions())
	}
	if r.NotAdded != "" {
		p.line("Not all that is asked for is added: %s.", r.NotAdded)
	}
}

// additions says what is added.
func (r *Report) additions() string {
	var list []string
	if len(r.Contexts) > 0 {
		list = append(list, "an index of the context files of "+strings.Join(r.Contexts, ", "))
	}
	if r.Memory > 0 {
		list = append(list, fmt.Sprintf("the memory of the project, with %d tokens", r.Memory))
	}
	return strings.Join(list, ", and ")
}

// printLimits writes what the request is held against.
func (r *Report) printLimits(p *page) {
	share := func(tokens int) string {
		return fmt.Sprintf("%d\t%.0f %%", tokens, 100*float64(r.TokensBefore)/float64(max(tokens, 1)))
	}
	l := r.Limits
	p.table([]string{
		"limit\ttokens\tof it filled",
		"window (" + r.WindowFrom + ")\t" + share(r.Window),
		"usable, with room for the answer\t" + share(r.Usable),
		"line for clearing\t" + share(l.ClearLine),
		"line for compacting\t" + share(l.CompactLine),
		"to which that brings it\t" + share(l.Target),
		fmt.Sprintf("a result\t%d, keeps %d\t", l.Offload, min(l.Keep, l.Offload/2)),
		fmt.Sprintf("a search or fetch\t%d, keeps %d\t", l.Lookups, min(l.Keep, l.Lookups)/2),
		fmt.Sprintf("a file read\t%d, keeps %d\t", l.Reads, min(2*l.Keep, l.Reads/2)),
	})
	if r.WindowFrom == string(window.Default) {
		p.line("Nothing is known of this model, so the window is a guess: set window.models in the configuration.")
	}
	p.line("Preset %s. Clearing leaves the newest %d tokens of results and %d groups alone, and frees at least %d tokens at the line.",
		r.Preset, l.Protect, l.Age, l.AtLeast)
	p.line("Compacting leaves up to %d tokens of the newest groups as they are. %s", l.KeepTail, r.Summaries)
}

// printTurns writes the turns at which something was done, and how many there were.
func (r *Report) printTurns(p *page) {
	if r.Turns == nil {
		return
	}
	rows := []string{"request\tmessages\ttokens\tsent\tmessage\trung\ttool\tcame\tsent\twhy"}
	for i, t := range r.Turns {
		for k, c := range t.Changes {
			head := "\t\t\t"
			if k == 0 {
				head = fmt.Sprintf("%d\t%d\t%d\t%d", i+1, t.Messages, t.TokensBefore, t.TokensAfter)
			}
			rows = append(rows, head+fmt.Sprintf("\t%s\t%s\t%s\t%s\t%d\t%s", c.where(), c.Rung, c.what(), c.was(), c.After, c.Why))
		}
	}
	p.line("")
	p.line("%d requests came before this one. What was decided at them:", len(r.Turns))
	if len(rows) == 1 {
		p.line("nothing.")
		return
	}
	p.table(rows)
	r.printSpans(p)
	line := r.Limits.ClearLine
	if slices.ContainsFunc(r.Turns, func(t Turn) bool { return belowLine(t.TokensAfter, t.Changes, line) }) {
		r.printRent(p)
	}
}

// printSpans says how to read a row that is about several messages, if one is.
func (r *Report) printSpans(p *page) {
	list := r.Changes
	for _, t := range r.Turns {
		list = append(list[:len(list):len(list)], t.Changes...)
	}
	if slices.ContainsFunc(list, func(c Change) bool { return c.Last > 0 }) {
		p.line("A row such as 2-9 is about all these messages together: one summary stands for them.")
	}
}

// belowLine reports whether results were cleared in a request that was below the line, which is so many tokens now.
func belowLine(now int, changes []Change, line int) bool {
	cleared := false
	for _, c := range changes {
		if c.Rung == string(ledger.StepClear) && c.Why != decidedBefore {
			cleared, now = cleared || c.Thinking == "" || c.Thinking != c.Artifact, now+c.freed
		}
	}
	return cleared && now < line
}

func (r *Report) printRent(p *page) {
	p.line("Below the line, old results are cleared once what they cost in the provider's cache comes to %v times what clearing costs.", r.Rent)
}

// longestArgument is how many characters of an argument stand in a table.
const longestArgument = 40

// where says which messages a change is about: the first and the last, if there are several.
func (c Change) where() string {
	if c.Last == 0 {
		return strconv.Itoa(c.Message)
	}
	return fmt.Sprintf("%d-%d", c.Message, c.Last)
}

// was says how many tokens came.
func (c Change) was() string {
	if c.Last > 0 && c.Before == 0 {
		return "not kept"
	}
	return strconv.Itoa(c.Before)
}

// what says which call a change is about, and whether it takes out what was thought.
func (c Change) what() string {
	argument := []rune(strings.Join(strings.Fields(c.Argument), " "))
	if len(argument) > longestArgument {
		argument = append(argument[:longestArgument-1], '…')
	}
	what := c.Tool + " " + string(argument)
	if c.Thinking != "" {
		what += " (thinking)"
	}
	return strings.TrimSpace(what)
}

// artifacts names what was taken out.
func (c Change) artifacts() string {
	if c.Thinking == "" || c.Thinking == c.Artifact {
		return c.Artifact
	}
	return c.Artifact + ", " + c.Thinking
}

// printChanges writes what would be done to this request, or why nothing is.
func (r *Report) printChanges(p *page) {
	switch {
	case r.Failed != "":
		p.line("Something fails inside epitome, so the request would go on in the form decided last: %s.", r.Failed)
	case len(r.Changes) == 0 && r.Added > 0:
		p.line("Nothing else would be done: %s.", r.Reason)
		return
	case len(r.Changes) == 0:
		p.line("Nothing would be done: %s.", r.Reason)
		return
	case r.Reason != "" && !slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Why != decidedBefore }):
		p.line("Nothing new would be done: %s. These would be sent as decided before:", r.Reason)
	default:
		p.line("%s", r.heading())
	}
	rows := []string{"message\ttool\trung\tcame\tsent\tartifact\twhy"}
	for _, c := range r.Changes {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%s\t%s", c.where(), c.what(), c.Rung, c.was(), c.After, c.artifacts(), c.Why))
	}
	p.table(rows)
	if r.Turns == nil {
		r.printSpans(p)
	}
	if r.Repeated > 0 && r.Turns == nil {
		p.line("What was decided before stands, whatever is configured now. --turns shows what would be decided anew: it begins with nothing known.")
	}
	if belowLine(r.TokensAfter, r.Changes, r.Limits.ClearLine) {
		r.printRent(p)
	}
	if r.Mode != "on" {
		p.line("The mode is %s: the request would be sent as it came.", r.Mode)
	}
}

// heading stands above what would be done, and says why nothing else would.
func (r *Report) heading() string {
	s := "These would not be sent whole:"
	if r.Broke {
		s = "These would not be sent whole. Some were sent in another form before, so the provider's cache would miss once:"
	}
	if r.Reason != "" {
		s = strings.ToUpper(r.Reason[:1]) + r.Reason[1:] + ". " + s
	}
	return s
}
