package rewrite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// narrator is a summariser in memory. Unless it is told otherwise it answers at once, with what stands in the question.
type narrator struct {
	mu       sync.Mutex
	made     map[string]Prose
	pending  map[string]Question
	asked    []Question
	prepared []Question
	notices  []Notice

	says    string                                 // the answer, in place of one made of the question
	tells   func(Question) string                  // likewise
	fail    error                                  // in place of an answer
	wait    func(context.Context, *narrator) error // is called before an answer
	ahead   bool                                   // Prepares
	needs   int                                    // Needs
	observe func(Question)                         // sees what is asked
}

func newNarrator() *narrator {
	return &narrator{made: map[string]Prose{}, pending: map[string]Question{}, needs: 2_000}
}

func (n *narrator) Look(key string) (p Prose, found, pending bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, found = n.made[key]
	_, pending = n.pending[key]
	return p, found, pending && !found
}

func (n *narrator) Ask(ctx context.Context, q Question) (Prose, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, q)
	if n.observe != nil {
		n.observe(q)
	}
	if n.wait != nil {
		if err := n.wait(ctx, n); err != nil {
			return Prose{}, err
		}
	}
	if n.fail != nil {
		return Prose{}, n.fail
	}
	if p, ok := n.made[q.Key]; ok { // of two that ask at once, one is answered
		return p, nil
	}
	return n.answerLocked(q), nil
}

func (n *narrator) answerLocked(q Question) Prose {
	text := n.says
	switch {
	case n.tells != nil:
		text = n.tells(q)
	case text == "":
		text = fmt.Sprintf("## Goal\nWork number %d.\n## Next Steps\nGo on with part_%d.\n", len(n.made)+1, len(q.Transcript))
	}
	p := Prose{Text: text, Requests: 1, InputTokens: 1_000, CachedTokens: 900, OutputTokens: 50}
	n.made[q.Key] = p
	delete(n.pending, q.Key)
	return p
}

func (n *narrator) Prepare(q Question) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prepared = append(n.prepared, q)
	n.pending[q.Key] = q
}

// answer answers a question after all.
func (n *narrator) answer(q Question) string {
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

func (n *narrator) Needs(string, int) int { return n.needs }

func (n *narrator) tell(notice Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notices = append(n.notices, notice)
}

// kinds are those of the notices, in their order.
func (n *narrator) kinds() string {
	var list []string
	for _, notice := range n.notices {
		list = append(list, strings.TrimPrefix(notice.Kind, "compaction_"))
	}
	return strings.Join(list, " ")
}

// somebody waits for a request.
type somebody struct{ waits context.Context }

func (somebody) Credential() any { return "the client's" }

func (s somebody) Context() context.Context { return s.waits }

var errNarrator = errors.New("the upstream answered with status 500")
