package promisetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf16"

	"github.com/tidwall/gjson"
)

// dialect is one of the APIs: how its clients write requests, and what its server checks.
type dialect interface {
	// list is the member that holds the conversation, system the one that holds the system prompt; "" for none.
	list() string
	system() string
	// body writes a request.
	body(c *conversation) []byte
	// say, answer and results write messages, as they stand in the list.
	say(p *pen, role, text string) string
	answer(p *pen, a answer) []string
	results(p *pen, calls []call) []string
	// oddities are messages as they should not be; long is a JSON string.
	oddities(p *pen, long string) []string
	// pairs returns the IDs of the calls and of the results in a message.
	pairs(message gjson.Result) (calls, results []string)
	// refusal is how a strict server that has answered the requests up to this one, as its client has it, refuses a body;
	// nil if it accepts it.
	refusal(body, request []byte) error
}

var dialects = map[string]dialect{"chat": chat{}, "messages": messages{}, "responses": responses{}}

// conversation is what a request is written from.
type conversation struct {
	pen      *pen // of the messages; what stands around them is always written the same way
	model    string
	system   string
	messages []string // as they stand in a body
	reminder string   // one more message behind them, which is gone in the next request
	tools    string   // the value of the member, as it stands in a body; "" for none
}

// all returns the messages and the reminder.
func (c *conversation) all() string {
	list := strings.Join(c.messages, ",\n ")
	if c.reminder != "" {
		list += "," + c.reminder
	}
	return list
}

// answer is what the model says in one go.
type answer struct {
	thought, text string // "" for none
	calls         []call
}

type call struct {
	id, tool  string
	arguments string // JSON
	result    string
}

// pen writes JSON as the many clients do, which differ in white space, escapes and the order of keys. Without a source
// of chance it always writes the same.
type pen struct{ *rand.Rand }

// in reports true once in n times.
func (p *pen) in(n int) bool { return p.Rand != nil && p.IntN(n) == 0 }

// one returns one of several texts, mostly the first.
func (p *pen) one(texts ...string) string {
	if p.in(3) {
		return texts[p.IntN(len(texts))]
	}
	return texts[0]
}

func (p *pen) space() string { return p.one("", " ", "\n\t") }

// quote writes a JSON string.
func (p *pen) quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(p.in(3))
	_ = e.Encode(text) // of a string never fails
	quoted := strings.TrimSuffix(b.String(), "\n")
	switch {
	case p.in(8):
		return ascii(quoted)
	case p.in(8):
		return strings.NewReplacer("/", `\/`, "é", `\u00E9`).Replace(quoted)
	}
	return quoted
}

// ascii escapes all that is not ASCII, as Python does.
func ascii(quoted string) string {
	var b strings.Builder
	for _, r := range quoted {
		if r < 0x7f {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// object writes an object whose members stand in this order or the other one.
func (p *pen) object(members ...string) string {
	if p.in(4) {
		members[0], members[1] = members[1], members[0]
	}
	if p.in(8) {
		members = append(members, `"x_unknown":[1.50e3, {"b":"ü\u00fc"}]`)
	}
	return "{" + strings.Join(members, ","+p.space()) + "}"
}

// halves cuts a text in two, of which none is blank.
func halves(text string) (a, b string, ok bool) {
	n := len(text) / 2
	a, b = strings.ToValidUTF8(text[:n], ""), strings.ToValidUTF8(text[n:], "")
	return a, b, strings.TrimSpace(a) != "" && strings.TrimSpace(b) != ""
}

const picture = "iVBORw0KGgo="

// marker is how a client of Messages marks what is to be cached.
const marker = `,"cache_control":{"type":"ephemeral"}`
