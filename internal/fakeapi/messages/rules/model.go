package rules

import (
	"strings"
)

// A Model says what a server does for one model.
type Model struct {
	Window        int      // tokens of input and output together
	MaxOutput     int      // tokens; more in max_tokens is refused
	Overflow      Overflow // how an input beyond the window is told
	SumsOutput    bool     // input and max_tokens must fit together; else the answer ends where the window does
	Manual        bool     // thinking.type enabled, with a budget, is served
	Adaptive      bool     // thinking.type adaptive is served
	ThinksUnasked bool     // it thinks where the request does not say
	HidesThinking bool     // thinking.display is omitted where the request does not say
	Binds         bool     // thinking is bound to all that stands before it
	KeepsThinking bool     // thinking of earlier turns is input
	WantsThinking bool     // another maker's: while thinking is on, each message with calls has some
	Prefill       bool     // the last message may be the assistant's
	InlineSystem  bool     // the list may have system messages
	SystemUnbound bool     // thinking is not bound to system messages of the list
	Minimum       int      // tokens of the shortest prefix that is cached
}

// models are what ModelOf knows, by the beginning of a name; the first that fits counts. Source: the vendor's pages on
// thinking, prompt caching and mid-conversation system messages, as of November 2026.
var models = []struct {
	prefix string
	model  *Model
}{
	{"claude-fable-5-1", &newest}, {"claude-fable-5-2", &newest}, {"claude-mythos-5-2", &newest},
	{"claude-opus-5-5", &newest}, {"claude-sonnet-5-5", &newest}, {"claude-haiku-5-5", &newest},
	{"claude-opus-5", &unbound}, {"claude-fable-5", &unbound}, {"claude-mythos-5", &unbound}, {"claude-opus-4-8", &unbound},
	{"claude-sonnet-5", &Model{Window: 1_000_000, MaxOutput: 128_000, Adaptive: true, ThinksUnasked: true,
		HidesThinking: true, KeepsThinking: true, Minimum: 1024}},
	{"claude-opus-4-7", &Model{Window: 1_000_000, MaxOutput: 128_000, Adaptive: true, HidesThinking: true,
		KeepsThinking: true, Minimum: 4096}},
	{"claude-opus-4-6", &middle}, {"claude-sonnet-4-6", &middle},
	{"claude-opus-4-5", &Model{Window: 200_000, MaxOutput: 64_000, Manual: true, KeepsThinking: true, Prefill: true,
		Minimum: 4096}},
	{"claude-3", &Model{Window: 200_000, MaxOutput: 64_000, Manual: true, SumsOutput: true, Prefill: true, Minimum: 1024}},
	{"claude-", &Model{Window: 200_000, MaxOutput: 64_000, Manual: true, Prefill: true, Minimum: 1024}},
	{"", &Model{Window: 200_000, MaxOutput: 128_000, Manual: true, Adaptive: true, KeepsThinking: true, Prefill: true,
		InlineSystem: true, Minimum: 1024}},
}

// newest is a model that binds thinking.
var newest = Model{Window: 1_000_000, MaxOutput: 128_000, Adaptive: true, ThinksUnasked: true, HidesThinking: true,
	Binds: true, KeepsThinking: true, InlineSystem: true, Minimum: 512}

// unbound is the one before.
var unbound = Model{Window: 1_000_000, MaxOutput: 128_000, Adaptive: true, ThinksUnasked: true, HidesThinking: true,
	KeepsThinking: true, InlineSystem: true, Minimum: 512}

// middle serves both ways of thinking.
var middle = Model{Window: 200_000, MaxOutput: 64_000, Manual: true, Adaptive: true, KeepsThinking: true, Minimum: 1024}

// ModelOf returns what the API does for the model with this name; for one that it does not know, whatever is allowed
// anywhere but binding.
func ModelOf(name string) Model {
	for _, m := range models {
		if strings.HasPrefix(name, m.prefix) {
			return *m.model
		}
	}
	return Model{}
}
