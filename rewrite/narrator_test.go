package rewrite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"epitome/event"
	"epitome/prose"
)

// narrator is a summariser in memory. Unless it is told otherwise it answers at once, with what stands in the question.
type narrator struct {
	mu        sync.Mutex
	made      map[string]prose.Prose
	pending   map[string]prose.Question
	asked     []prose.Question
	prepared  []prose.Question
	distilled []string // all that was said of results, without blanks
	notices   []event.Compaction
	warnings  []event.Warning
	told      []string // the kinds of both, in their order

	says    string                                 // the answer, in place of one made of the question
	tells   func(prose.Question) string            // likewise
	fail    error                                  // in place of an answer
	wait    func(context.Context, *narrator) error // is called before an answer
	ahead   bool                                   // Prepares
	distils bool                                   // Distils
	atOnce  bool                                   // what is prepared is there for the next look
	needs   int                                    // Needs
	observe func(prose.Question)                   // sees what is asked
}

func newNarrator() *narrator {
	return &narrator{made: map[string]prose.Prose{}, pending: map[string]prose.Question{}, needs: 2_000}
}

func (n *narrator) Look(key string) (p prose.Prose, found, pending bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, found = n.made[key]
	_, pending = n.pending[key]
	return p, found, pending && !found
}

func (n *narrator) Ask(ctx context.Context, q prose.Question) (prose.Prose, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, q)
	if n.observe != nil {
		n.observe(q)
	}
	if n.wait != nil {
		if err := n.wait(ctx, n); err != nil {
			return prose.Prose{}, err
		}
	}
	if n.fail != nil {
		return prose.Prose{}, n.fail
	}
	if p, ok := n.made[q.Key]; ok { // of two that ask at once, one is answered
		return p, nil
	}
	return n.answerLocked(q), nil
}

func (n *narrator) answerLocked(q prose.Question) prose.Prose {
	text := n.says
	switch {
	case n.tells != nil:
		text = n.tells(q)
	case text == "":
		text = fmt.Sprintf("## Goal\nWork number %d.\n## Next Steps\nGo on with part_%d.\n", len(n.made)+1, len(q.Transcript))
	}
	p := prose.Prose{Text: text, Cost: event.Cost{Requests: 1, InputTokens: 1_000, CachedTokens: 900, OutputTokens: 50}}
	n.made[q.Key] = p
	if q.Distils() {
		n.distilled = append(n.distilled, shownOf(text))
	}
	delete(n.pending, q.Key)
	return p
}

func (n *narrator) Prepare(q prose.Question) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prepared = append(n.prepared, q)
	n.pending[q.Key] = q
	if n.atOnce {
		n.answerLocked(q)
	}
}

// wrote reports whether a distillate has the line, as it is shown.
func (n *narrator) wrote(line string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	line = shownOf(line)
	for _, text := range n.distilled {
		if line != "" && strings.Contains(text, line) {
			return true
		}
	}
	return false
}

// shownOf is what somebody sees of a text, without blanks.
func shownOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, text)
}

// answer answers a question after all.
func (n *narrator) answer(q prose.Question) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.answerLocked(q).Text
}

// finish answers all that is being prepared.
func (n *narrator) finish() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, q := range n.pending {
		n.answerLocked(q)
	}
}

func (n *narrator) Prepares(string) bool { return n.ahead }

func (n *narrator) Distils() bool { return n.distils }

func (n *narrator) Needs(string, int, float64) int { return n.needs }

func (n *narrator) RecordCompaction(e event.Compaction) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notices = append(n.notices, e)
	n.told = append(n.told, strings.TrimPrefix(e.Kind, "compaction_"))
}

func (n *narrator) RecordWarning(e event.Warning) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.warnings = append(n.warnings, e)
	n.told = append(n.told, event.ContextWindowWarning)
}

// kinds are those of all that was told, in their order.
func (n *narrator) kinds() string { return strings.Join(n.told, " ") }

// somebody waits for a request.
type somebody struct{ waits context.Context }

func (somebody) Credential() any { return "the client's" }

func (s somebody) Context() context.Context { return s.waits }

func (somebody) Waits(step func()) { step() }

var errNarrator = errors.New("the upstream answered with status 500")
