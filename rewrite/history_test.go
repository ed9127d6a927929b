package rewrite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/internal/unit"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/store"
)

// history is a conversation that processes over one storage send, with a model that is asked for summaries.
type history struct {
	*testing.T
	*talk
	process

	name    string // of the API
	storage *storage
	model   *answerer
	limits  ladder.Limits
	size    int // of the window
}

func newHistory(t *testing.T, name string, window int) *history {
	t.Helper()
	h := &history{T: t, talk: newTalk(name, 1, "scope", false), name: name, storage: newStorage(), limits: defaultLimits(),
		model: &answerer{answers: map[string]string{}}, size: window}
	h.limits.Floor = 100
	h.restart()
	return h
}

func (h *history) restart() { h.process = asking(h.storage, h.model) }

// turn adds turns with calls, and sends each.
func (h *history) turn(turns, calls int) (sent []hash, r rewrite.Report) {
	h.Helper()
	for range turns {
		h.answer(answer{text: "So."}, calls)
		sent, r, _ = h.send()
	}
	return sent, r
}

// call adds an answer with a call of a command, and its result.
func (h *history) call(said, result string) {
	h.made++
	c := bash(fmt.Sprint("make ", h.made), result)
	c.id = fmt.Sprint("call_", h.made)
	h.add(h.api.answer(answer{text: said, calls: []call{c}})...)
	h.add(h.api.results(newPen(1, 1), []call{c})...)
}

// send returns the messages that are sent, and all of the body.
func (h *history) send() (sent []hash, r rewrite.Report, text string) {
	h.Helper()
	h.reminder = "" // else the next request lacks the last message
	h.storage.now = h.storage.now.Add(time.Second)
	h.window.Store(int64(h.size))
	in := inputOf(h.name, h.talk, &h.limits)
	in.Now = h.storage.now
	out := h.Shape(in)
	b, ok := parse(h.api, out.Body)
	if !ok || out.Report.Err != nil {
		h.Fatalf("%v: %.200s", out.Report.Err, out.Body)
	}
	return b.sums(), out.Report, string(out.Body)
}

// goesOn holds that the next request repeats what was sent before, in the same conversation.
func (h *history) goesOn(before []hash, was rewrite.Report) {
	h.Helper()
	now, r, _ := h.send()
	same := 0
	for same < min(len(before), len(now)) && now[same] == before[same] {
		same++
	}
	if same < len(before) || r.Conversation != was.Conversation || r.Parent != was.Parent {
		h.Errorf("of %d messages %d are sent as before; conversation %q from %q was %q from %q", len(before), same,
			r.Conversation, r.Parent, was.Conversation, was.Parent)
	}
}

// The only cache mark of a client stays among the messages while 24 turns outgrow 32k, whichever block has it, and when
// the client moves it, all else is sent as before.
func TestLastCacheMarkStays(t *testing.T) {
	const asText, asList = `"Fix it."`, `[{"type":"text","text":"Fix it."}]`
	for end, task := range map[string]string{`"So."`: asText, `{}`: asList, `image."`: asText, picture + `"}`: asList} {
		storage := newStorage()
		p, j := start(storage), newJudge(t, storage)
		r := request{name: "messages", api: messagesAPI{}, window: 32_000, limits: defaultLimits()}
		list := `{"role":"user","content":` + task + `}`
		actions := ""
		for turn := range 24 {
			result := strings.Repeat(fmt.Sprintf("part %d is well. ", turn), 400) + "Behind it is an image."
			list += fmt.Sprintf(`,{"role":"assistant","content":[{"type":"text","text":"So."},`+
				`{"type":"tool_use","id":"t%d","name":"get","input":{}}]},{"role":"user","content":[`+
				`{"type":"tool_result","tool_use_id":"t%[1]d","content":%s},{"type":"image","source":`+
				`{"type":"base64","media_type":"image/png","data":"%s"}}]}`, turn, quoted(result), picture)
			at := strings.Index(list, end+"}") + len(end)
			if turn > 20 {
				at = strings.LastIndex(list, end+"}") + len(end)
			}
			r.body = []byte(`{"model":"claude-sonnet-4","max_tokens":100,"messages":[` +
				list[:at] + marker + list[at:] + `]}`)
			s := p.shape(r)
			j.check(r, s)
			actions += s.action
		}
		if !strings.Contains(actions, "compact") {
			t.Errorf("no turn became a summary: %v", actions)
		}
	}
}

// Promise 6: messages that one note stands for, as results of a tool stay between them, are named by the next note as
// well, once the user lets go of those results.
func TestMessagesOfOneNoteStayNamed(t *testing.T) {
	storage := newStorage()
	p, j := start(storage), newJudge(t, storage)
	j.filters = true
	r := request{name: "chat", api: chatAPI{}, window: 100_000, limits: defaultLimits()}
	r.limits.ToolLimits = []ladder.Limit{{Tool: "grep", Keep: true}}
	list := `{"role":"user","content":"Fix it."}`
	for turn, tools := range []string{"bash", "grep grep grep", "bash", "grep", "bash", "bash", "bash"} {
		calls, results := "", ""
		for n, tool := range strings.Fields(tools) {
			calls += fmt.Sprintf(`,{"id":"c%d.%d","type":"function","function":{"name":%q,"arguments":"{}"}}`, turn, n, tool)
			results += fmt.Sprintf(`,{"role":"tool","tool_call_id":"c%d.%d","content":%s}`, turn, n,
				quoted(strings.Repeat(fmt.Sprintf("part %d.%d is well. ", turn, n), 60)))
		}
		list += `,{"role":"assistant","content":null,"tool_calls":[` + calls[1:] + "]}" + results
		switch turn {
		case 5: // three of the turns go
			r.limits.Messages = 10
		case 6: // one that stayed goes
			r.limits.ToolLimits = nil
		}
		r.body = []byte(`{"model":"gpt-5","messages":[` + list + `]}`)
		j.check(r, p.shape(r))
	}
}

// Promise 5: a process that has not seen a conversation sends it as before, also behind an answer with very many calls
// or behind many turns.
func TestManyResultsAtOnceHideNoDecision(t *testing.T) {
	for name := range apis {
		for _, more := range []struct{ turns, calls int }{{1, 1}, {1, 60}, {1, 61}, {1, 100}, {60, 3}} {
			t.Run(fmt.Sprint(name, more), func(t *testing.T) {
				t.Parallel()
				h := newHistory(t, name, 1_000_000)
				h.limits.Offload, h.limits.Lookups, h.limits.OffloadReads = 100, 100, 100
				before, was := h.turn(20, 3)
				whole, _ := parse(h.api, h.body())
				if slices.Equal(before, whole.sums()) {
					t.Fatal("nothing is shortened")
				}
				for range more.turns {
					h.answer(answer{text: "All at once."}, more.calls)
				}
				h.limits.Offload, h.limits.Lookups, h.limits.OffloadReads = 1000, 1000, 1000 // else all is decided alike again
				h.restart()
				h.goesOn(before, was)
			})
		}
	}
}

// Promises 5 and 6, for all who have the store: a request decides nothing while it is not known what was decided, but what
// this process has sent stays; one whose client leaves records no summary that lacks the model's words; artifacts that are
// lost are put back on a full shelf; and what has expired is decided anew.
func TestDecisionsOutliveTrouble(t *testing.T) {
	for name := range apis {
		h := newHistory(t, name, 6_000)
		before, was := h.turn(20, 1)
		failing := &counting{Store: h.storage.Store, fails: true}
		h.storage.Store = failing
		h.window.Store(1_000_000)
		h.answer(answer{text: "So."}, 1)
		out := h.Shape(inputOf(name, h.talk, &h.limits))
		b, _ := parse(h.api, out.Body)
		if out.Report.Err == nil || out.Report.Decided || !slices.Equal(b.sums()[:len(before)], before) {
			t.Errorf("%s, known: %v, decided: %v", name, out.Report.Err, out.Report.Decided)
		}
		h.restart()
		h.window.Store(1_000_000)
		out = h.Shape(inputOf(name, h.talk, &h.limits))
		if out.Report.Err == nil || out.Changed {
			t.Errorf("%s, unknown: %v, changed: %v", name, out.Report.Err, out.Changed)
		}
		h.restart()
		h.turn(1, 1)
		failing.fails, h.size = false, 1_000_000
		h.restart()
		h.goesOn(before, was)

		h = newHistory(t, name, 60_000)
		h.turn(20, 1)
		in := inputOf(name, h.talk, &h.limits)
		in.Compact = true
		in.Client, h.model.leave = context.WithCancel(t.Context())
		h.Shape(in)
		if _, r, _ := h.send(); r.Action == "compact" {
			t.Errorf("%s: the client left, and then a summary by code is sent", name)
		}

		h = newHistory(t, name, 1_000_000)
		h.process = start(h.storage)
		h.limits.Offload, h.limits.Lookups, h.limits.OffloadReads = 100, 100, 100
		before, was = h.turn(20, 1)
		h.storage.lose()
		h.storage.full, h.storage.now = true, h.storage.now.Add(time.Hour)
		h.user()
		h.goesOn(before, was)
		if len(h.storage.artifacts) == 0 {
			t.Errorf("%s: no artifact is back", name)
		}

		h.storage.Store, h.storage.full = store.NewMemory(1<<20), false
		h.storage.now = h.storage.now.Add(2 * keep)
		if _, r, _ := h.send(); r.Offloaded == 0 {
			t.Errorf("%s: edits that have expired are sent again", name)
		}
	}
}

// A pause clears nothing that the provider has in its cache by then: as long as cache_life says, else the last answer, else
// the family of the model, else the request.
func TestCacheLivesAsIsKnown(t *testing.T) {
	const day, hour = 24 * time.Hour, time.Hour
	const forDay, inMemory = `,"prompt_cache_retention":"24h"`, `,"prompt_cache_retention":"in_memory"`
	for _, c := range []struct {
		name, model, setting string
		own, answered, life  time.Duration
	}{
		{"chat", "m", "", 0, 0, 5 * time.Minute},
		{"chat", "m", forDay, 0, 0, day},
		{"chat", "m", forDay, 0, hour, hour},
		{"responses", "m", `,"prompt_cache_options":{"ttl":"30m"}`, 0, 0, 30 * time.Minute},
		{"responses", "gpt-5.6-codex", forDay, 0, 0, 30 * time.Minute},
		{"responses", "gpt-5.6", "", 0, hour, hour},
		{"responses", "gpt-5.6", forDay, 8 * time.Minute, hour, 8 * time.Minute},
		{"chat", "openai/gpt-6-mini", "", 0, 0, 30 * time.Minute},
		{"chat", "gpt-5.5", inMemory, 0, 0, day},
		{"messages", "m", "", 0, 0, 5 * time.Minute},
		{"messages", "m", "", 0, hour, hour},
		{"messages", "m", `,"cache_control":{"type":"ephemeral","ttl":"1h"}`, 0, 0, hour},
	} {
		for _, late := range []time.Duration{-time.Minute, time.Minute} {
			h := newHistory(t, c.name, 400_000)
			h.talk.model = c.model
			if c.own > 0 {
				h.limits.CacheLife, h.limits.LifeFixed = unit.Duration(c.own), true
			}
			for range 40 {
				_, r, _ := h.send()
				h.Answered(r.Conversation, c.answered)
				h.call("So.", strings.Repeat("A line of the log.\n", 300))
			}
			if late < 0 { // also where the last request is not in memory
				h.restart()
				h.window.Store(int64(h.size))
			}
			in := inputOf(c.name, h.talk, &h.limits)
			in.Now = h.storage.now.Add(c.life + late)
			in.Body = slices.Concat(in.Body[:bytes.LastIndexByte(in.Body, '}')], []byte(c.setting+"}"))
			if r := h.Shape(in).Report; r.Cleared > 0 != (late > 0) || r.Err != nil {
				t.Errorf("%+v: %s late, %d results are cleared: %v", c, late, r.Cleared, r.Err)
			}
		}
	}
}

// Promise 7: agents that differ in their prompts alone, and are answered alike, are in conversations of their own, one
// after the other or all at once. No summary that was made for one is sent for another. Their prompts may change.
func TestAgentsWithOtherPromptsAreApart(t *testing.T) {
	for name := range apis {
		for _, c := range []struct {
			agents, turns int
			order         string
		}{{2, 24, "one by one"}, {3, 24, "by chance"}, {40, 12, "in turn"}} {
			h, order, summaries := newHistory(t, name, 7_000), newPen(1, 1), 0
			agents, ids := make([]talk, c.agents), map[string]int{}
			for k := range agents {
				agents[k] = *newTalk(name, 1, "scope", false)
				agents[k].system = fmt.Sprintf("You are Agent %d.", k)
			}
			for step := range c.turns * c.agents {
				k := map[string]int{"one by one": step / c.turns, "by chance": order.IntN(c.agents),
					"in turn": step % c.agents}[c.order]
				h.talk = &agents[k]
				mayChange := c.order == "one by one" // no other agent is at the same turn
				if mayChange && step%7 == 6 {
					h.system, h.other = h.system+" Plan.", h.system
				} else if mayChange && step%7 == 2 && step%c.turns > 7 {
					h.system, h.other = h.other, h.system
				}
				_, r, text := h.send()
				if len(h.messages) == 1 {
					ids[r.Conversation] = k
				}
				told := agent.FindAllString(text, -1)
				isOther := func(name string) bool { return name != fmt.Sprint("Agent ", k) }
				if of, known := ids[r.Conversation]; !known || of != k || slices.ContainsFunc(told, isOther) {
					t.Fatalf("%s, request %d, of %d in %s of %d: %q", name, step, k, r.Conversation, of, told)
				}
				summaries += len(told) - 1
				h.answer(answer{text: prose(2_000)}, 1)
			}
			if summaries == 0 {
				t.Error("nothing is summarized")
			}
		}
	}
}

// counting is a store that counts what is read and written.
type counting struct {
	store.Store
	mu           sync.Mutex
	reads, bytes int
	fails        bool // all reads
}

func (c *counting) GetMany(keys []string) ([][]byte, error) {
	c.reads++
	if c.fails {
		return nil, errors.New("the disk fails")
	}
	return c.Store.GetMany(keys)
}

func (c *counting) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	c.mu.Lock()
	c.bytes += len(key) + len(value)
	c.mu.Unlock()
	return c.Store.Swap(key, old, value, keep)
}

// Promise 10: a request reads and writes little, however long its conversation is, however many edits it has, and
// however many others begin alike.
func TestReadsAndWritesOfTheStoreAreBounded(t *testing.T) {
	t.Parallel()
	const turns = 1_000
	h := newHistory(t, "chat", 10_000_000)
	c := &counting{Store: h.storage.Store}
	h.storage.Store = c
	cost := func() (reads, bytes int, r rewrite.Report) {
		c.reads, c.bytes = 0, 0
		_, r, _ = h.send()
		return c.reads, c.bytes, r
	}
	h.limits.Offload, h.limits.Lookups, h.limits.OffloadReads = 100, 100, 100
	edits := 0
	for turn := range turns {
		result := "ok"
		if turn%5 == 0 {
			result = fmt.Sprint(turn) + strings.Repeat("Another line of it.\n", 60)
		}
		h.call("", result)
		reads, bytes, r := cost()
		edits += r.Offloaded
		if r.Offloaded == 0 && bytes > 4<<10 && turn%199 == 0 || reads > 3 {
			t.Errorf("at turn %d, %d reads and %d bytes written", turn, reads, bytes)
		}
	}
	h.restart()
	h.user()
	if reads, _, _ := cost(); reads > 4 || edits != turns/5 {
		t.Errorf("after a restart, %d reads for %d edits", reads, edits)
	}
	h.scope = "another"
	for range turns {
		h.add(h.api.answer(answer{text: "So."})...)
		h.user()
	}
	if reads, _, _ := cost(); reads > 3 {
		t.Errorf("%d reads for an unknown conversation", reads)
	}
	h.messages = h.messages[:1]
	var second [2]int
	for i := range 10_000 {
		h.restart()
		h.messages = h.messages[:1]
		reads, bytes, _ := cost()
		h.add(h.api.answer(answer{text: fmt.Sprintf("Case %05d.", i)})...)
		h.user()
		more, written, _ := cost()
		reads, bytes = reads+more, bytes+written
		if i == 1 {
			second = [2]int{reads, bytes}
		}
		if i > 1 && (reads > second[0] || bytes > second[1]+100) {
			t.Fatalf("conversation %d: %d reads and %d bytes; the second has %v", i, reads, bytes, second)
		}
	}
}
