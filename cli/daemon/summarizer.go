package daemon

import (
	"epitome/config"
	"epitome/event"
	"epitome/rewrite/chat"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
	"epitome/summarize"
	"epitome/tokenize"
	"epitome/window"
)

// newSummarizer returns a summarizer over the storage of k. It asks models through send and reports what it does to
// events.
func (k *shapers) newSummarizer(
	conf config.Config, counters *tokenize.Counters, send summarize.Sender, events event.Sink,
) *summarize.Summarizer {
	return summarize.New(conf.Summarize, summarize.Deps{
		Store: k.storage.store, Keep: conf.Store.Keep.D(), Send: send,
		Dialects: map[string]summarize.Dialect{
			"": chat.Dialect{}, "chat": chat.Dialect{}, "messages": messages.Dialect{}, "responses": responses.Dialect{},
		},
		Overflow: window.TooLong, Count: CountIn(tokenize.O200k, counters),
		Usable: func(upstream, model string) int {
			return window.Usable(k.windows.Of(upstream, model).Tokens, 0)
		},
		Prepares: func(upstream string) bool { return k.conf.Load().Prepares(upstream) },
		Memory:   k.notes, Tell: events.RecordSummary, Log: k.storage.log,
	})
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
