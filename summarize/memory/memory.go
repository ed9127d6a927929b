// Package memory is what was learned in earlier sessions of a project: facts, preferences, decisions and pitfalls, one
// line each, which later conversations of the same credential and project are given.
//
// It promises: a memory as a model is shown it has at most MostCharacters, and only whole entries; the oldest fall out
// first. Whoever wrote an entry, it is one line that passes for nothing but data, and no word in it looks like a
// secret. Of two that learn at the same time, neither loses what the other one has learned. What has no project is
// neither read nor kept.
//
// It does not promise that an entry is true: a model wrote it, from what files, pages and tools said to it.
package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"strings"
	"time"
)

// Kind says what an entry is.
type Kind string

// The kinds. What a model calls otherwise is a Fact.
const (
	Fact       Kind = "fact"
	Preference Kind = "preference"
	Decision   Kind = "decision"
	Pitfall    Kind = "pitfall"
)

// kindOf is the kind of this name; known is false if there is none.
func kindOf(name string) (k Kind, known bool) {
	k = Kind(strings.ToLower(strings.TrimSpace(name)))
	if slices.Contains([]Kind{Fact, Preference, Decision, Pitfall}, k) {
		return k, true
	}
	return Fact, false
}

// Owner is whose a memory is.
type Owner struct {
	Scope   string `json:"scope"`   // of the credential, as decisions are scoped
	Project string `json:"project"` // as ProjectOf spells it; empty is none, which has no memory
}

// mostProject bounds the name of a project in characters.
const mostProject = 200

// ProjectOf is the name of a project as owners have it: one line of at most 200 characters. It is empty if the name
// cannot be used.
func ProjectOf(name string) string {
	name = clean(name)
	if length(name) > mostProject {
		return ""
	}
	return name
}

// Entry is one thing that was learned.
type Entry struct {
	ID   string    `json:"id"`
	Kind Kind      `json:"kind"`
	Text string    `json:"text"`
	At   time.Time `json:"at"` // when it was learned last
}

// EntryOf is an entry of somebody else's words. why says why there is none.
func EntryOf(kind Kind, text string, at time.Time) (e Entry, why string) {
	text = clean(text)
	if why = unfit(text); why != "" {
		return Entry{}, why
	}
	kind, _ = kindOf(string(kind))
	return Entry{idOf(kind, text), kind, text, at.UTC().Truncate(time.Second)}, ""
}

// idOf names an entry. Those that differ in case alone are one.
func idOf(kind Kind, text string) string {
	const bytes = 4
	sum := sha256.Sum256([]byte(string(kind) + " " + strings.ToLower(text)))
	return hex.EncodeToString(sum[:bytes])
}

// Learned is what one session says.
type Learned struct {
	Add  []Entry  // new ones; their kinds and texts count
	Drop []string // ids of those that hold no more
}

// IsEmpty reports whether there is nothing to learn.
func (l Learned) IsEmpty() bool { return len(l.Add) == 0 && len(l.Drop) == 0 }

// What one session can change at most: what it has read may want more of it than is good.
const (
	mostAdded   = 16
	mostDropped = 16
)

// Bounded is what of it counts: the first few.
func (l Learned) Bounded() Learned {
	return Learned{l.Add[:min(len(l.Add), mostAdded)], l.Drop[:min(len(l.Drop), mostDropped)]}
}

// Memory is all that is known of a project.
type Memory struct {
	Entries []Entry // the newest last
}

// Of is the memory that has these entries, whoever wrote them: each is made sound or left out, equal ones are one, and
// the oldest fall out that have no room.
func Of(entries []Entry) Memory {
	var m Memory
	for _, e := range entries {
		if e, why := EntryOf(e.Kind, e.Text, e.At); why == "" {
			m.Entries = append(m.Entries, e)
		}
	}
	sort.SliceStable(m.Entries, func(i, j int) bool { return m.Entries[i].At.Before(m.Entries[j].At) })
	newest := map[string]int{}
	for i, e := range m.Entries {
		newest[e.ID] = i
	}
	sound := m.Entries[:0]
	for i, e := range m.Entries {
		if newest[e.ID] == i {
			sound = append(sound, e)
		}
	}
	m.Entries = withinRoom(sound)
	return m
}

// withinRoom are the newest entries that have room in the text of a memory.
func withinRoom(list []Entry) []Entry {
	total := 0
	for _, e := range list {
		total += length(lineOf(e))
	}
	for len(list) > 0 && length(frame(len(list)))+total > MostCharacters {
		total -= length(lineOf(list[0]))
		list = list[1:]
	}
	return list
}

// With is the memory after a session that ended now. Of what that says, the first few count.
func (m Memory) With(l Learned, now time.Time) Memory {
	l = l.Bounded()
	all := slices.DeleteFunc(slices.Clone(Of(m.Entries).Entries), func(e Entry) bool {
		return slices.Contains(l.Drop, e.ID)
	})
	for _, e := range l.Add {
		e.At = now
		all = append(all, e)
	}
	return Of(all)
}

// Compare orders owners by scope, and then by project.
func (o Owner) Compare(other Owner) int {
	return cmp.Or(strings.Compare(o.Scope, other.Scope), strings.Compare(o.Project, other.Project))
}
