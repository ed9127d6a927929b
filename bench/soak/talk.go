package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"epitome/bench/sessions"
	"epitome/pattern"
)

// The dialects that agents speak.
const (
	chat      = "chat"
	messages  = "messages"
	responses = "responses"
)

// pathIn is where requests of a dialect go, behind what names the attempt.
func pathIn(dialect string) string {
	switch dialect {
	case messages:
		return "/v1/messages"
	case responses:
		return "/v1/responses"
	default:
		return "/v1/chat/completions"
	}
}

// talk is the conversation of one agent, which keeps it in Chat Completions. One goroutine at a time has it.
type talk struct {
	number  int
	holder  string // the client whose it is; empty where clients have no keys
	dialect string
	model   string
	most    int // bytes of a request above which the upstream refuses it; 0: none
	seed    uint64
	dice    *rand.Rand // what is said depends on it; what goes wrong has dice of its own

	list  []json.RawMessage // messages
	texts []string          // what was said in them, whole
	open  []string          // ids of calls that wait for results
	turn  int               // of the request that comes next, from 1

	// What the checks remember.
	before []digest // items of the request that reached the upstream last
	sentBy string   // the attempt that this was
	// items of the last request before that of which something could be recorded, and of those behind it: of each
	// nobody knows whether it was recorded
	loose [][]digest
	safe  map[int]string // texts that an artifact has, by its name
}

// newTalk returns a conversation that has only begun. Equal numbers and seeds make equal conversations.
func newTalk(number int, seed uint64) *talk {
	t := &talk{number: number, turn: 1, safe: map[int]string{}, seed: seed, loose: [][]digest{nil},
		dice: rand.New(rand.NewPCG(seed, uint64(number)))}
	switch number % 3 {
	case 0:
		t.dialect, t.model = chat, "gpt-4.1"
	case 1:
		t.dialect, t.model = messages, "claude-opus-4-5"
	case 2:
		t.dialect, t.model = responses, "gpt-5.2"
	}
	t.model += "-soak"
	if number/3%3 == 2 { // a model of its own, whose window nobody knows
		t.model += strconv.Itoa(number)
		t.most = narrowBytes
	}
	t.say("system", "You keep the books of a mill. Your mark is "+t.mark()+".")
	t.say("user", t.wish())
	return t
}

// narrowBytes is what a model holds that holds less than the configuration says.
const narrowBytes = 24_000

// mark stands in every text of a turn, and in no other.
func (t *talk) mark() string { return fmt.Sprintf("soak%d_%d", t.number, t.turn) }

// marks finds marks; the number is that of the conversation.
var marks = pattern.Of(`soak([0-9]+)_[0-9]+`)

// wish is what the user says in this turn.
func (t *talk) wish() string {
	return fmt.Sprintf("Weigh the sacks of barn %s. Keep %d of them for seed, and never sell those of lot %d.", t.mark(),
		t.dice.IntN(90), t.dice.IntN(9000))
}

// ledger is a result of n lines, none of which stands anywhere else.
func (t *talk) ledger(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%02d:%02d %s line=%d miller=%d lot_%06x weighs %d grams\n", i/60%24, i%60, t.mark(), i,
			t.dice.IntN(40), t.dice.IntN(1<<24), t.dice.IntN(9000))
	}
	return b.String()
}

// say adds a message.
func (t *talk) say(role, text string) {
	t.add(map[string]any{"role": role, "content": text})
	if role != "system" { // of which nothing is ever taken out
		t.texts = append(t.texts, text)
	}
}

func (t *talk) add(message map[string]any) {
	raw, err := json.Marshal(message)
	if err != nil {
		panic("BUG: a message that is no JSON: " + err.Error())
	}
	t.list = append(t.list, raw)
}

// Sizes of results in lines, and how many turns a user's wish takes.
const (
	shortResult, longResult = 24, 190
	longEvery               = 6 // results
	wishEvery               = 5 // turns
)

// hear takes what the model has answered, and does what comes of it: calls with their results, or the user's next wish.
func (t *talk) hear(answer string) {
	if t.turn%wishEvery == 0 {
		t.say("assistant", answer)
		t.turn++
		t.say("user", t.wish())
		return
	}
	var calls []any
	for i := range 1 + t.turn%2 {
		name := [...]string{"read_file", "run_command"}[(t.turn+i)%2]
		calls = append(calls, map[string]any{"id": fmt.Sprintf("call_%d_%d_%d", t.number, t.turn, i), "type": "function",
			"function": map[string]any{"name": name, "arguments": fmt.Sprintf(`{"path":"barn/%s/%d.txt"}`, t.mark(), i)}})
		t.open = append(t.open, fmt.Sprintf("call_%d_%d_%d", t.number, t.turn, i))
	}
	t.add(map[string]any{"role": "assistant", "content": answer, "tool_calls": calls})
	t.texts = append(t.texts, answer)
	t.turn++
	for _, id := range t.open {
		lines := 4 + t.dice.IntN(shortResult)
		if t.dice.IntN(longEvery) == 0 {
			lines = longResult
		}
		text := t.ledger(lines)
		t.add(map[string]any{"role": "tool", "tool_call_id": id, "content": text})
		t.texts = append(t.texts, text)
	}
	t.open = nil
}

// body returns the request of this turn.
func (t *talk) body(stream bool) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":%q,"messages":[`, t.model)
	b.Write(bytes.Join(slices.Collect(raws(t.list)), []byte{','}))
	b.WriteString("]}")
	c := sessions.Conversation{Name: t.mark(), Body: b.Bytes()}
	var err error
	switch t.dialect {
	case messages:
		c, err = c.AsMessages()
	case responses:
		c, err = c.AsResponses()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write conversation %d: %w", t.number, err)
	}
	if !stream {
		return c.Body, nil
	}
	return append([]byte(`{"stream":true,`), c.Body[1:]...), nil
}

// raws are messages as bytes.
func raws(list []json.RawMessage) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for _, m := range list {
			if !yield(m) {
				return
			}
		}
	}
}
