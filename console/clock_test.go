package console

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"epitome/dialect"
	requests "epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/fakeapi"
)

// After a pause a provider either reads from its cache as many tokens as the clock says, or bills them again, to the
// token.
func TestClockForetellsTheNextBill(t *testing.T) {
	f := func(path, model, asks string, body func(calls int) []byte, pause, life time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			upstream, p := fakeapi.NewProvider(fakeapi.Options{Adopts: true}), listening("127.0.0.1:7070")
			p.Book = newBook()
			defer p.Book.Close()
			ask := func(calls int) event.Exchange {
				change := strings.NewReplacer(`"ephemeral"`, `"ephemeral"`+asks, `"model":"m"`, `"model":"`+model+`"`)
				if path != "/v1/messages" {
					change = strings.NewReplacer(`"model":"m"`, `"model":"`+model+`"`+asks)
				}
				sent := change.Replace(string(body(calls)))
				r, answer := httptest.NewRequest("POST", path, strings.NewReader(sent)), httptest.NewRecorder()
				r.Header.Set("anthropic-version", "2023-06-01")
				upstream.ServeHTTP(answer, r)
				d, _ := dialect.Of("", []byte(sent))
				request, _ := requests.Read(d, []byte(sent), nil)
				e := conversed()
				e.Start, e.Dialect, e.Model, e.Broke, e.CacheLife = time.Now(), d.API().Name, model, false, request.CacheLife()
				e.Usage, _ = d.Usage(answer.Body.Bytes())
				p.Book.RecordExchange(new(e))
				s, _ := p.Book.Conversation("c1")
				return s.Exchanges[len(s.Exchanges)-1]
			}
			ask(2)
			ask(3)
			s, _ := p.Book.Status("c1", "")
			asked := time.Now()
			time.Sleep(pause)
			e := ask(4)
			got, want := [3]int{e.Usage.Read, e.Rebilled, int(e.Bill.Rebilled)}, [3]int{s.Clock.Tokens}
			if pause > life {
				want = [3]int{0, s.Clock.Tokens, int(s.Clock.Nano)}
			}
			if got != want || s.Clock.Tokens < 10_000 || s.Clock.Until.Sub(asked) != life {
				t.Errorf("%s after %s: got %v, want %v, and the cache holds it until %s", path, pause, got, want, s.Clock.Until)
			}
		})
	}
	for _, pause := range []time.Duration{290 * time.Second, 310 * time.Second, 31 * time.Minute, 61 * time.Minute} {
		f("/v1/chat/completions", "gpt-5", "", fakeapi.Conversation, pause, 5*time.Minute)
		f("/v1/responses", "gpt-5", "", fakeapi.ResponsesConversation, pause, 5*time.Minute)
		f("/v1/responses", "gpt-5", `,"prompt_cache_retention":"24h"`, fakeapi.ResponsesConversation, pause, 24*time.Hour)
		f("/v1/responses", "gpt-5.6", "", fakeapi.ResponsesConversation, pause, 30*time.Minute)
		f("/v1/responses", "gpt-5.6", `,"prompt_cache_retention":"24h"`, fakeapi.ResponsesConversation, pause, 30*time.Minute)
		f("/v1/messages", "claude-sonnet-4-5", "", fakeapi.MessagesConversation, pause, 5*time.Minute)
		f("/v1/messages", "claude-sonnet-4-5", `,"ttl":"1h"`, fakeapi.MessagesConversation, pause, time.Hour)
	}
}
