package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"epitome/bench/sessions"
	"epitome/dialect/conversation"
	"epitome/offload"
	"epitome/tokenize"
)

// Recall counts the answers that can still be read in conversations with questions once they are compacted. The error
// names the first file that has no such conversations.
func Recall(ctx context.Context, o Options) (*RecallReport, error) {
	files, err := sessions.Find(o.Paths)
	if err != nil {
		return nil, err
	}
	r := &RecallReport{Unseen: []string{}, TooLarge: []string{}} // not null in JSON
	for _, file := range files {
		quizzes, err := readQuizzes(file)
		if err != nil {
			return nil, err
		}
		for _, q := range quizzes {
			r.Conversations++
			for _, size := range o.Windows {
				if err := o.recall(ctx, q, size, r); err != nil {
					return nil, err
				}
			}
		}
	}
	slices.SortStableFunc(r.Rows, func(a, b *RecallRow) int {
		return cmp.Or(a.Window-b.Window, strings.Compare(a.Questions, b.Questions))
	})
	return r, nil
}

// recall plays a conversation in a window, and counts the answers in the last request.
func (o *Options) recall(ctx context.Context, whole quiz, size int, r *RecallReport) error {
	s := &session{scale: conversation.Scale{Memo: tokenize.NewMemo(1 << 18), Ratio: 1}, once: o.Once}
	address := offload.Options{Address: "url", URL: o.Config.ArtifactsAt(o.Config.Listen)}
	shape, err := ownPolicy(o.Config, address).open(s, size)
	if err != nil {
		return err
	}
	requests := whole.Grown()
	if o.Once {
		requests = func(yield func(int, []byte) bool) { yield(len(whole.Body), whole.Body) }
	}
	var sent shaped
	compactions, start := 0, 0
	before := make([]int, len(whole.questions)) // compactions until the answer came
	for end, body := range requests {
		sent, err = shape(&request{Request: &conversation.Request{Dialect: whole.Dialect, Body: body}})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if sent.isCompacted {
			compactions++
		}
		added := unescaped(whole.Body[start:end])
		for i, q := range whole.questions {
			if !o.Once && q.isAnsweredBy(added) {
				before[i] = compactions
			}
		}
		start = end
	}
	text, lines := unescaped(sent.body), []string{}
	if sent.tokens > size { // it would be refused
		text = ""
		r.TooLarge = append(r.TooLarge, fmt.Sprintf("window %d, conversation %d: too large", size, r.Conversations))
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(artifactName.FindAllString(text, -1)))) {
		content, _ := sent.artifact(name) // none with an error
		lines = append(lines, strings.Split(string(content), "\n")...)
	}
	for i, q := range whole.questions {
		isVisible := q.isAnsweredBy(text)
		isFound := !isVisible && q.isFoundIn(lines)
		if !isVisible {
			r.Unseen = append(r.Unseen, fmt.Sprintf("window %d, conversation %d: %s", size, r.Conversations, q.text))
		}
		age := []string{"0", "1", "2", "3", "4", "5+"}[min(compactions-before[i], 5)]
		for _, of := range []string{"all", "category " + cmp.Or(q.category, "none"), "age " + age} {
			row := r.row(size, of)
			row.Count++
			row.Tokens.addShare(ratio{float64(sent.tokens), 1})
			row.Compactions.addShare(ratio{float64(compactions), 1})
			row.Visible.count(isVisible)
			row.Found.count(isFound)
		}
	}
	return nil
}

// RecallReport is the result of Recall.
type RecallReport struct {
	Conversations int          `json:"conversations"`
	Rows          []*RecallRow `json:"rows"`
	Unseen        []string     `json:"unseen"`    // the questions whose answers are not visible
	TooLarge      []string     `json:"too_large"` // the last requests that do not fit their windows
}

// RecallRow has the figures of some questions in one window: of all, of a category, or of an age: how many
// compactions there were since the answer came. Shares are in percent; Tokens and Compactions are means.
type RecallRow struct {
	Window      int    `json:"window"` // tokens
	Questions   string `json:"questions"`
	Count       int    `json:"count"`
	Tokens      ratio  `json:"tokens"` // of the last request
	Compactions ratio  `json:"compactions"`
	Visible     ratio  `json:"visible"` // the last request has the answer
	Found       ratio  `json:"found"`   // it has not, but a search in its artifacts leads to the answer
}

// row returns the row of some questions in a window.
func (r *RecallReport) row(window int, questions string) *RecallRow {
	i := slices.IndexFunc(r.Rows, func(x *RecallRow) bool { return x.Window == window && x.Questions == questions })
	if i < 0 {
		i = len(r.Rows)
		r.Rows = append(r.Rows, &RecallRow{Window: window, Questions: questions})
	}
	return r.Rows[i]
}

// Print writes the report as a table.
func (r *RecallReport) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) // Flush returns the errors of all writes
	fmt.Fprintln(t, "window\tquestions\tcount\ttokens\tcompactions\tvisible %\tfound %")
	for _, x := range r.Rows {
		fmt.Fprintf(t, "%d\t%s\t%d\t%s\t%s\t%s\t%s\n", x.Window, x.Questions, x.Count, x.Tokens.text(0),
			x.Compactions.text(1), x.Visible.text(1), x.Found.text(1))
	}
	fmt.Fprintln(t, "\nThe columns: docs/benchmarks.md#recall")
	return t.Flush()
}

// Missed returns the goals that this epitome misses: each request fits its window.
func (r *RecallReport) Missed() []string { return r.TooLarge }
