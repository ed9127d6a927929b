package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/internal/fakeapi"
)

// items are what agents send in each API: the user's words, an answer with calls, a result, and an answer in words.
var items = map[string]struct{ user, calls, call, result, said string }{
	"chat": {`{"role":"user","content":%q}`, `{"role":"assistant","content":null,"tool_calls":[%s]}`,
		`{"id":%q,"type":"function","function":{"name":"bash","arguments":"{}"}}`,
		`{"role":"tool","tool_call_id":%q,"content":"out of %[1]s"}`, `{"role":"assistant","content":%q}`},
	"messages": {`{"role":"user","content":[{"type":"text","text":%q}]}`, `{"role":"assistant","content":[%s]}`,
		`{"type":"tool_use","id":%q,"name":"bash","input":{}}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"out of %[1]s"}]}`,
		`{"role":"assistant","content":[{"type":"text","text":%q}]}`},
	"responses": {`{"role":"user","content":%q}`, `%s`,
		`{"type":"function_call","call_id":%q,"name":"bash","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":%q,"output":"out of %[1]s"}`, `{"role":"assistant","content":%q}`},
}

// talk writes a conversation of an API: "u" is the user's words, "s" an answer in words, "c1" a call, with "+" between
// calls at once, and "r1" a result.
func talk(api, words string) (list []string) {
	of := items[api]
	for n, word := range strings.Fields(words) {
		switch id := word[1:]; word[0] {
		case 'u':
			list = append(list, fmt.Sprintf(of.user, fmt.Sprint("words ", n)))
		case 's':
			list = append(list, fmt.Sprintf(of.said, fmt.Sprint("said ", n)))
		case 'r':
			list = append(list, fmt.Sprintf(of.result, "call_"+id))
		default:
			var calls []string
			for call := range strings.SplitSeq(word, "+") {
				calls = append(calls, fmt.Sprintf(of.call, "call_"+call[1:]))
			}
			list = append(list, fmt.Sprintf(of.calls, strings.Join(calls, ",")))
		}
	}
	return list
}

// A call without a result, or a result without a call, is refused once, which the client does not see, and later requests
// of the conversation are mended before they are sent, after a restart too. What the provider takes goes as it came.
func TestBrokenPairsAreMendedOnceRefused(t *testing.T) {
	t.Parallel()
	none, out := "no result was recorded", "a result left out"
	for _, c := range []struct{ words, has, lacks string }{
		{"u c1 u", none, ""},
		{"u c1 r1 s u r2 u", out, "out of call_2"},
		{"u s r2", out, "out of call_2"},
		{"r2 s u", out, "out of call_2"},
		{"u c1+c2+c3 r2 u", none, ""},
		{"u c1+c2 r1", none, ""},
		{"u c1+c2 r9 r1 u", none, "out of call_9"},
		{"u c1 r9 u", none, "out of call_9"},
		{"u c1 u s u r1 u", "out of call_1", none},
	} {
		for api, model := range modelIn {
			t.Run(api+" "+c.words, func(t *testing.T) {
				t.Parallel()
				if api == "responses" && strings.HasPrefix(c.words, "u c1 u s") {
					return // its results may stand anywhere
				}
				a, p, provider := strict(t, api, model, fakeapi.Options{})
				a.items, a.stream = talk(api, c.words), len(c.words)%2 == 0
				for turn, want := range []int{2, 1, 1} {
					before := len(provider.Exchanges())
					if turn == 2 {
						restart(t, a, p)
					}
					resp, text := a.post("", a.body())
					all := provider.Exchanges()
					body := string(all[len(all)-1].Body)
					if resp.StatusCode != 200 || len(all)-before != want || !strings.Contains(body, c.has) ||
						c.lacks != "" && strings.Contains(body, c.lacks) {
						t.Fatalf("turn %d: %d after %d requests: %s\n%s", turn, resp.StatusCode, len(all)-before, body, text)
					}
					a.items = append(a.items, talk(api, "s u")...)
				}
			})
		}
	}
}

// A broken pair that was mended stays so while old turns around it are cleared and become summaries.
func TestMendedPairsStaySoWhateverBecomesOfThem(t *testing.T) {
	t.Parallel()
	for api, model := range modelIn {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			a, p, provider := strict(t, api, model, fakeapi.Options{}, windowOf(16_000))
			a.tells = strings.Repeat("I looked at this part of the shop and found that it is as it should be. ", 15)
			a.work(8)
			a.items = append(a.items, talk(api, "u c91+c92+c93 r92 u s u r94 u")...)
			a.work(8)
			restart(t, a, p)
			a.work(20)
			if n := len(provider.Refusals()); n != 1 || a.acted["rescue"] != 1 || a.acted["compact"] == 0 {
				t.Errorf("refused %v, epitome did %v", provider.Refusals(), a.acted)
			}
		})
	}
}

// One retry is made. If the provider refuses that too, the client gets the first refusal as it came; and so it does where
// the request has no broken pair, or the refusal speaks of something else.
func TestRefusalOfAMendedRequestIsTheFirst(t *testing.T) {
	t.Parallel()
	for api, model := range modelIn {
		for words, want := range map[string]int{"u c1 u": 2, "u c1 r1 u": 1} {
			o := fakeapi.Options{Refuse: func(fakeapi.Exchange) *fakeapi.Refusal {
				return &fakeapi.Refusal{Status: 400, Type: "invalid_request_error", Message: "This tool is not known."}
			}}
			a, _, provider := strict(t, api, model, o)
			a.items = talk(api, words)
			resp, text := a.post("", a.body())
			all := provider.Exchanges()
			if first := all[0].Refusal.Message; resp.StatusCode != 400 || len(all) != want ||
				gjson.Get(text, "error.message").Str != first {
				t.Errorf("%s %s: %d after %d requests, %s, not %s", api, words, resp.StatusCode, len(all), text, first)
			}
		}
	}
}

// What the provider takes goes as it came, and the words of a refusal alone change nothing.
func TestBrokenPairsThatAreTakenGoAsTheyCame(t *testing.T) {
	t.Parallel()
	for api, model := range modelIn {
		var got string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = string(body)
			_, _ = io.WriteString(w, "{}")
		}))
		t.Cleanup(server.Close)
		a := working(run(t, t.TempDir(), server.URL), api, model)
		for _, words := range []string{"u c1 u", "u c1 r2 u", "r1 u", "u c1+c2 r2 u"} {
			a.items = talk(api, words)
			sent := a.body()
			if resp, _ := a.post("", sent); resp.StatusCode != 200 || got != sent {
				t.Errorf("%s %s: %d, sent %s", api, words, resp.StatusCode, got)
			}
		}
	}
}
