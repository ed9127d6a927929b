package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// world is a process of its own with what it keeps. All worlds made of one rapid test have the same limits.
func (p *play) world() *play {
	w := &play{T: p.T, bench: newBench(p.window), calm: true}
	w.limits = p.limits
	return w
}

// Promise 7: what two scopes ask is answered as if the other one did not exist, and nothing of one is named to the
// other.
func TestScopesShareNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		both := newPlay(t, true, true)
		seed := both.seed()
		alone := []*play{both.world(), both.world()}
		var parts []*speaker
		for i := range alone { // the very same conversation in both
			scope := fmt.Sprint("scope ", i)
			parts = append(parts, &speaker{talk: newTalk(seed, true), scope: scope, last: map[string]spoken{}})
		}
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			for i, r := range parts {
				r.grow()
				stranger := &speaker{talk: r.talk, scope: r.scope, last: map[string]spoken{}}
				together, apart := both.ask(r), alone[i].ask(stranger)
				if string(together.Body) != string(apart.Body) {
					t.Fatalf("another scope's requests change what is sent: %s", firstDifference(string(together.Body), string(apart.Body)))
				}
				for _, name := range artifactsIn(string(together.Body)) {
					if strings.Contains(strings.Join(parts[1-i].seen, " "), name) {
						t.Fatalf("artifact %s is named to both scopes", name)
					}
				}
			}
		}
		for key := range alone[0].notes.facts {
			if _, ok := alone[1].notes.facts[key]; ok {
				t.Fatalf("both scopes use the key %q", key)
			}
		}
	})
}

// Promise 7: two conversations that begin alike are each sent as if the other had never gone on otherwise.
func TestForksShareOnlyTheirBeginning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		both := newPlay(t, true, false)
		alone := []*play{both.world(), both.world()}
		trunk := &speaker{talk: newTalk(both.seed(), false), scope: "s", last: map[string]spoken{}}
		for range rapid.IntRange(1, 3).Draw(t, "trunk") {
			trunk.grow()
			for _, p := range []*play{both, alone[0], alone[1]} {
				p.ask(&speaker{talk: trunk.talk, scope: trunk.scope, last: map[string]spoken{}})
			}
		}
		var parts []*speaker
		for i := range alone {
			r := &speaker{talk: trunk.fork(len(trunk.items), both.seed()), scope: "s", last: map[string]spoken{}}
			r.add("user", fmt.Sprintf(`"Way %d."`, i))
			parts = append(parts, r)
		}
		names := map[string]int{}
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			for i, r := range parts {
				r.grow()
				together, apart := both.ask(r), alone[i].ask(&speaker{talk: r.talk, scope: "s", last: map[string]spoken{}})
				if string(together.Body) != string(apart.Body) {
					t.Fatalf("another continuation changes what is sent: %s", firstDifference(string(together.Body), string(apart.Body)))
				}
				if other, ok := names[together.Report.Conversation]; ok && other != i {
					t.Fatalf("both continuations are conversation %s", together.Report.Conversation)
				}
				names[together.Report.Conversation] = i
			}
		}
	})
}
