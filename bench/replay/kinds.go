package replay

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"epitome/bench/replay/figures"
	"epitome/bench/sessions"
)

// kinds adds up the conversations of each kind.
func (r *replayRun) kinds(of []played) []figures.Kind {
	by := make(map[string][]played)
	var names []string
	for _, p := range of {
		if by[p.kind] == nil {
			names = append(names, p.kind)
		}
		by[p.kind] = append(by[p.kind], p)
	}
	slices.Sort(names)
	var kinds []figures.Kind
	for _, name := range names {
		k := figures.Kind{
			Kind: name, IsOne: r.By == ByConversation, Conversations: len(by[name]), Rows: r.rows(by[name]),
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
