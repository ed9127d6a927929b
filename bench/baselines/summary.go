package baselines

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"epitome/bench/policy"
	"epitome/rewrite/conversation"
)

// A model's summary in the baselines that ask for one. What it would say is not known, so it says nothing that an
// answer could need: only its size and its price count.
const (
	summaryTokens = 1561 // of the message: 1500 that the model writes, and an introduction
	summaryOutput = 1500 // what the model writes
)

// What keepUsers keeps, in tokens, and its line as a share of the window.
const (
	usersKept = 20_000
	usersAt   = 0.9
)

// keepUsers leaves of a full conversation the head, the newest of the user's messages, and a summary of all.
func keepUsers(t *thread) {
	if float64(t.total) <= usersAt*float64(t.in.Window) {
		return
	}
	left := usersKept
	kept := make(map[int]bool)
	for i := len(t.all) - 1; i >= t.head && left > 0; i-- {
		e := t.all[i]
		if e.role != conversation.User {
			continue
		}
		if e.first > left {
			break
		}
		kept[i] = true
		left -= e.first
	}
	t.summarise(len(t.all), func(i int) bool { return kept[i] })
}

// The lines of protectNewest, in tokens.
const (
	protectKeeps   = 40_000 // results outside the newest turn that stay
	protectFrees   = 20_000 // what clearing has to be worth
	protectReserve = 20_000 // below the window, where it asks for a summary
	protectTail    = 8_000  // what stays behind the summary
)

// protectNewest clears results when the user begins a turn: those before the last turn and beyond the newest 40 000
// tokens of such, if it is worth it. A conversation that is full all the same gets a summary.
func protectNewest(t *thread) {
	if last := t.lastTurn(); last > 0 {
		t.clearBeyond(last)
	}
	if t.total > t.in.Window-protectReserve {
		t.summarise(max(t.head, t.tail(protectTail)), none)
	}
}

// lastTurn returns where the turn before the one that now begins began; 0: none begins, or it is the first behind the
// head.
func (t *thread) lastTurn() int {
	end := len(t.all) - 1
	if end < t.head || t.all[end].role != conversation.User {
		return 0
	}
	for i := end - 1; i >= t.head; i-- {
		if t.all[i].role == conversation.User && t.all[i].now > 0 {
			return i
		}
	}
	return 0
}

func (t *thread) clearBeyond(turn int) {
	have, frees := 0, 0
	var old []int
	stub := t.meter.Result(cleared)
	for n := len(t.results) - 1; n >= 0; n-- {
		i := t.results[n]
		if i >= turn || t.all[i].now == 0 {
			continue
		}
		if t.all[i].now <= stub {
			break
		}
		if have += t.all[i].now; have > protectKeeps {
			old = append(old, i)
			frees += t.all[i].now
		}
	}
	if frees <= protectFrees {
		return
	}
	for _, i := range old {
		t.replace(i, cleared)
	}
}

// summarise puts one summary in the place of what lies between the head and cut, but for what stays.
func (t *thread) summarise(cut int, stays func(i int) bool) {
	t.asked = append(t.asked, t.summaryAsked(cut))
	t.fold(cut, stays, summaryText(t.meter, t.summary.rounds+1))
}

// fold puts a user's message with the text in the place of what lies between the head and cut, but for what stays, and
// of the message that it put there before.
func (t *thread) fold(cut int, stays func(i int) bool, text string) {
	t.drop(t.head, cut, stays)
	t.changed = t.changed || t.head < t.sent || t.summary.message != nil
	t.total -= t.summary.tokens
	t.summary.tokens = t.meter.Message(text)
	t.total += t.summary.tokens
	t.summary.rounds++
	t.summary.message = bytes.Join([][]byte{[]byte(`{"role":"user","content":`), quote(text), []byte(`}`)}, nil)
}

// summaryAsked returns the request for the summary: the conversation up to cut, of which the provider holds what the
// request before had, and what the model writes.
func (t *thread) summaryAsked(cut int) policy.Asking {
	seen := min(cut, t.sent)
	held, fresh := t.fixed, 0
	held += t.summary.tokens
	for _, e := range t.all[:seen] {
		held += e.was
	}
	for _, e := range t.all[seen:cut] {
		fresh += e.first
	}
	return policy.Asking{Held: held, New: fresh, Output: summaryOutput}
}

// summaryText returns the text of a message of the size of a summary. No two rounds of it are equal, as none of a
// model's would be.
func summaryText(m policy.Meter, round int) string {
	const phrase = "And so on. "
	begin := fmt.Sprintf("Summary, round %d. ", round)
	all := begin + strings.Repeat(phrase, summaryTokens) // of which each takes a token at the least
	return all[:sort.Search(len(all), func(n int) bool { return m.Message(all[:n]) >= summaryTokens })]
}
