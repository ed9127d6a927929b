package policy

import (
	"math"

	"epitome/rewrite/conversation"
	"epitome/tokenize"
)

// Unit is what tokens are counted in. The zero Unit is that of published figures, characters / 3.6. It may be used from
// several goroutines.
type Unit struct {
	models   tokenize.Models
	counters *tokenize.Counters // nil: characters / 3.6
	memo     *tokenize.Memo
}

// memoEntries bounds how many counts are remembered. A replay plays a conversation through many policies, in several
// windows: each text is counted for the first of them.
const memoEntries = 1 << 18

// Served returns the unit in which requests are served: tokens of the model that a request names.
func Served() Unit {
	return Unit{tokenize.NewModels(), new(tokenize.Counters), tokenize.NewMemo(memoEntries)}
}

// IsServed reports whether the unit is tokens of models.
func (u Unit) IsServed() bool { return u.counters != nil }

// Counters returns the counters of a unit that is served; they need not be loaded a second time.
func (u Unit) Counters() *tokenize.Counters { return u.counters }

func (u Unit) String() string {
	if u.IsServed() {
		return "tokens of the models that they name"
	}
	return "3.6 characters each"
}

// Meter counts what is sent to one model.
type Meter struct {
	served bool
	scale  conversation.Scale
}

// Meter returns the unit's counting for a model.
func (u Unit) Meter(model string) (Meter, error) {
	if !u.IsServed() {
		return Meter{}, nil
	}
	m := u.models.Of(model)
	counter, err := u.counters.For(m.Vocabulary)
	if err != nil {
		return Meter{}, err
	}
	return Meter{true, conversation.Scale{Model: m, Counter: counter, Memo: u.memo, Ratio: m.Ratio}}, nil
}

// inModelTokens rounds, as a sum over many messages is not to be short by half a token for each.
func (m Meter) inModelTokens(n int) int { return int(math.Round(float64(n) * m.scale.Ratio)) }

// Fixed returns the tokens of what stands beside a request's messages: tools, and instructions that are none of them.
func (m Meter) Fixed(r *conversation.Request) int {
	if !m.served {
		n := declared(r.Tools.Of(r.Body))
		if !r.System.Empty() {
			n += TokensOf(Size(r.TextOf(&conversation.Item{Parts: Prompts(r)}))) + MessageTokens
		}
		return n
	}
	return m.inModelTokens(r.Count(m.scale).Total())
}

// Prompts returns the texts of a system prompt that stands apart from the messages, as parts of a message.
func Prompts(r *conversation.Request) (parts []conversation.Part) {
	for _, text := range r.Prompts {
		parts = append(parts, conversation.Part{Kind: conversation.TextPart, Value: text})
	}
	return parts
}

// Text returns the tokens of a text by itself.
func (m Meter) Text(text string) int {
	if !m.served {
		return TokensOf(Size(text))
	}
	return m.inModelTokens(m.scale.Memo.Count(m.scale.Counter, []byte(text)))
}

// Message returns the tokens of a message that has nothing but a text, such as a user's.
func (m Meter) Message(text string) int {
	if !m.served {
		return m.Text(text) + MessageTokens
	}
	return m.inModelTokens(tokenize.PerMessage + 1 + m.scale.Memo.Count(m.scale.Counter, []byte(text)))
}

// Result returns the tokens of a tool's result with the text as its content.
func (m Meter) Result(text string) int {
	if !m.served {
		return m.Message(text)
	}
	n := tokenize.PerMessage + 1 + tokenize.PerResult + m.scale.Memo.Count(m.scale.Counter, []byte(text))
	return m.inModelTokens(n)
}
