package sessions

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// kinds are the kinds of made-up sessions, in their order.
var kinds = [...]struct {
	name        string
	least, most int // requests
	play        func(m *maker)
}{
	{"coding", 100, 300, coding}, {"research", 60, 140, research}, {"coding", 60, 200, coding},
	{"web", 60, 110, browsing}, {"coding", 100, 240, coding}, {"support", 60, 180, support},
}

// Make makes up the number-th session of a seed, from 0, and hands it to yield. Equal arguments give equal bytes.
func Make(seed uint64, number int, yield func(Conversation) error) error {
	kind := kinds[number%len(kinds)]
	in := &intake{name: fmt.Sprintf("made up, %d, %s", number+1, kind.name), yield: yield, room: mostKept}
	d := Dice(seed, fmt.Sprint("session ", number))
	m := &maker{
		thread: newThread(in, MadeUp), d: d, want: kind.least + d.IntN(kind.most-kind.least+1),
		now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC).Add(time.Duration(number) * 24 * time.Hour),
	}
	kind.play(m)
	m.thread.give()
	return in.err
}

// maker makes up one session. All that happens in it comes from its dice, d.
type maker struct {
	thread *thread
	d      *rand.Rand
	now    time.Time
	asked  int // requests so far
	want   int
}

// more reports whether the session goes on.
func (m *maker) more() bool { return m.asked < m.want }

// wait lets time go by.
func (m *maker) wait(least, most int) {
	m.now = m.now.Add(time.Duration(least+m.d.IntN(most-least+1)) * time.Second)
}

// system says what the session's agent is.
func (m *maker) system(text string) { m.thread.say(systemRole, text, m.now) }

// user says something. One time in six the user has been away for longer than a provider's cache lives.
func (m *maker) user(text string) {
	if m.wait(10, 150); m.d.IntN(6) == 0 {
		m.wait(400, 5400)
	}
	m.thread.say(userRole, text, m.now)
}

// tells adds an answer without a call.
func (m *maker) tells(text string) {
	m.wait(3, 20)
	m.asked++
	m.thread.answer(m.turn(), text, m.now)
}

// turn returns the name of the answer at hand.
func (m *maker) turn() string { return fmt.Sprint("answer ", m.asked) }

type arguments map[string]any

// step is a call with its result.
type step struct {
	tool   string
	with   arguments
	result string
}

// does adds an answer with calls, and their results.
func (m *maker) does(words string, steps ...step) {
	m.wait(3, 25)
	m.asked++
	m.thread.answer(m.turn(), words, m.now)
	var ids []string
	for _, s := range steps {
		raw, err := json.Marshal(s.with)
		if err != nil {
			panic("BUG: arguments that are no JSON: " + err.Error())
		}
		id := fmt.Sprintf("call_%04d%08x", m.asked, m.d.Uint32())
		ids = append(ids, id)
		m.thread.call(m.turn(), call{id: id, name: s.tool, arguments: string(raw)}, m.now)
	}
	for i, s := range steps {
		m.wait(0, 15)
		m.thread.addResult(ids[i], s.result, m.now)
	}
}
