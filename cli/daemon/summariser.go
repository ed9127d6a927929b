package daemon

import (
	"sync/atomic"

	"epitome/config"
	"epitome/event"
	"epitome/rewrite/chat"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
	"epitome/summarize"
	"epitome/tokenize"
	"epitome/window"
)

// summariser is the Summarizer as rewriting sees it: what it asks goes out through the proxy.
type summariser struct {
	*summarize.Summarizer
	conf    atomic.Pointer[config.Config]
	windows *window.Windows
}

// newSummariser makes one over what is kept, which asks models through send and reports what it does to events.
func newSummariser(
	conf config.Config, k *shapers, counters *tokenize.Counters, send summarize.Sender, events event.Sink,
) *summariser {
	s := &summariser{windows: k.windows}
	s.conf.Store(&conf)
	s.Summarizer = summarize.New(conf.Summarize, summarize.Deps{
		Store: k.storage.store, Keep: conf.Store.Keep.D(), Send: send,
		Dialects: map[string]summarize.Dialect{
			"": chat.Dialect{}, "chat": chat.Dialect{}, "messages": messages.Dialect{}, "responses": responses.Dialect{},
		},
		Overflow: window.TooLong, Count: CountIn(tokenize.O200k, counters), Usable: s.usable,
		Memory: k.notes, Tell: events.RecordSummary, Log: k.storage.log,
	})
	return s
}

// configure puts another configuration in force for what is asked from now on.
func (s *summariser) configure(conf config.Config) {
	s.conf.Store(&conf)
	s.Configure(conf.Summarize)
}

// Prepares reports whether summaries of conversations with the upstream are made ahead of need.
func (s *summariser) Prepares(upstream string) bool { return s.conf.Load().Prepares(upstream) }

// usable returns how many tokens a request to a model may have, as far as its window is known.
func (s *summariser) usable(upstream, model string) int {
	return window.Usable(s.windows.Of(upstream, model).Tokens, 0)
}

// CountIn counts tokens in a vocabulary. O200k is the one that is nearest to most models'.
func CountIn(v tokenize.Vocabulary, counters *tokenize.Counters) func(text string) int {
	return func(text string) int {
		c, err := counters.For(v)
		if err != nil {
			return len(text) / 3 // rewriting, which cannot count either, has said so
		}
		return c.CountString(text)
	}
}
