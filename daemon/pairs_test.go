package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
// calls at once, and "r1" its result. Results side by side are in one message of Messages.
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
			if last := len(list) - 1; api == "messages" && strings.Contains(list[last-min(1, last)], "tool_result") && last > 0 {
				list = append(list[:last-1], strings.TrimSuffix(list[last-1], "]}")+","+
					strings.TrimPrefix(list[last], `{"role":"user","content":[`))
			}
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

// A call without a result, or a result without a call, is refused once, which the client does not see. Later requests of
// the conversation are mended before they are sent, after a restart too.
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
						t.Fatalf("turn %d: %d after %d requests: %s\n%s", turn, resp.StatusCode, len(all)-before,
							body, text)
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

// Only what the provider refuses for broken pairs is mended, by one retry. If that is refused, too, the client gets the
// first refusal as it came.
func TestOnlyRefusedPairsAreMended(t *testing.T) {
	t.Parallel()
	const first, second, other = `{"error":{"message":"No such tool."}}`, `{"error":"no tool"}`, `{"error":"no model"}`
	for _, c := range []struct {
		words, want string
		answers     []string // to the requests, in order; all but "{}" with 400
	}{
		{"u c1 u", "{}", []string{"{}"}},
		{"u c1+c2 r2 u r3", "{}", []string{"{}"}},
		{"u c1 u", "{}", []string{first, "{}"}},
		{"u c1 u", first, []string{first, second}},
		{"r1 u", first, []string{first, other}},
		{"u c1 u", other, []string{other}},
		{"u c1 r1 u", first, []string{first}},
	} {
		for api, model := range modelIn {
			var got []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				answer := append(c.answers, "one too many")[len(got)]
				if got = append(got, string(body)); answer != "{}" {
					w.WriteHeader(http.StatusBadRequest)
				}
				_, _ = io.WriteString(w, answer)
			}))
			t.Cleanup(server.Close)
			a := working(run(t, t.TempDir(), server.URL), api, model)
			a.items = talk(api, c.words)
			_, text := a.post("", a.body())
			if text != c.want || len(got) != len(c.answers) || got[0] != a.body() {
				t.Errorf("%s %s: %d requests, the first %s; the client got %s", api, c.words, len(got), got[0], text)
			}
		}
	}
}
