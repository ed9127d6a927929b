package replay

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"epitome/bench/sessions"
)

// Kind is the figures of the sessions of one kind: that which their files' names begin with, as in KIND-NAME.json,
// or else what their tools are for; or of one conversation, under its name.
type Kind struct {
	Kind          string `json:"kind"`
	conversation  bool   // the figures are of one conversation, and Kind is its name
	Conversations int    `json:"conversations"`
	Requests      int    `json:"requests"`
	Rows          []Row  `json:"rows"`
}

// title stands over the tables; it has a place for the window.
func (k Kind) title() string {
	if k.conversation {
		return fmt.Sprintf("Conversation %s, requests: %d, window of %%d tokens", escapedPercent(k.Kind), k.Requests)
	}
	return fmt.Sprintf("Kind %s, conversations: %d, requests: %d, window of %%d tokens", escapedPercent(k.Kind),
		k.Conversations, k.Requests)
}

// escapedPercent quotes a name for a text with places: file names may have the sign of one.
func escapedPercent(name string) string { return strings.ReplaceAll(strconv.Quote(name), "%", "%%") }

// kinds adds up the conversations of each kind.
func (r *replayRun) kinds(of []played) []Kind {
	by := make(map[string][]played)
	var names []string
	for _, p := range of {
		if by[p.kind] == nil {
			names = append(names, p.kind)
		}
		by[p.kind] = append(by[p.kind], p)
	}
	slices.Sort(names)
	var kinds []Kind
	for _, name := range names {
		k := Kind{
			Kind: name, conversation: r.By == ByConversation, Conversations: len(by[name]), Rows: r.rows(by[name]),
		}
		for _, p := range by[name] {
			k.Requests += p.tallies[0][0].requests
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// leastKind is how many letters before a dash name a kind; fewer are a number or a mark.
const leastKind = 2

func kindOf(c *recording) string {
	prefix, _, dash := strings.Cut(filepath.Base(c.name), "-")
	other := func(r rune) bool { return !unicode.IsLetter(r) }
	if dash && len(prefix) >= leastKind && !strings.ContainsFunc(prefix, other) {
		return prefix
	}
	return sessions.Trade(c.request.Items)
}
