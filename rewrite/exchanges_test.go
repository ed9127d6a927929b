package rewrite_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// exchange is a message of the user, if there is one, and an answer with the results of its calls.
type exchange struct {
	user, said string
	calls      []call
}

// bash returns a call of a command.
func bash(command, result string) call {
	return call{tool: "bash", arguments: `{"command":` + quoted(command) + `}`, result: result}
}

// commands returns exchanges with a command each, whose result tells its number many times.
func commands(n int) (list []exchange) {
	for i := range n {
		result := strings.Repeat(fmt.Sprintf("part %d is well. ", i), 200)
		list = append(list, exchange{calls: []call{bash("make", result)}})
	}
	return list
}

var proses uint64 // texts that prose has returned

// prose returns lines of English words, others each time.
func prose(n int) string {
	words := strings.Fields("the agent reads a file and runs tests that print what they found in packages of the " +
		"module while most lines say only how long something took or where it lies, and some of them what it was for")
	proses++
	chance := rand.New(rand.NewPCG(1, proses))
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[chance.IntN(len(words))])
		b.WriteByte(" \n"[max(0, chance.IntN(12)-10)])
	}
	return b.String()
}

// bodyOf returns the request that an API's client sends with a conversation.
func bodyOf(name string, exchanges []exchange) []byte {
	c := &talk{pen: pen{rand.New(greatest{})}, api: apis[name]}
	c.model = c.api.models()[0]
	c.add(c.api.user(c.pen, "Fix it."))
	for i, e := range exchanges {
		if e.user != "" {
			c.add(c.api.user(c.pen, e.user))
		}
		calls := append([]call(nil), e.calls...)
		for k := range calls {
			calls[k].id = fmt.Sprintf("call_%d_%d", i, k)
		}
		c.add(c.api.answer(answer{text: e.said, calls: calls})...)
		if len(calls) > 0 {
			c.add(c.api.results(c.pen, calls)...)
		}
	}
	return c.body()
}
