package account_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"epitome/scripted/responses/account"
	"epitome/scripted/responses/rules"
)

// counter has no opaque string with anything in it.
var counter = account.Counter{Text: account.CountText, Opaque: func(string) int { return 7 }}

// read reads a body that has to be sound.
func read(t *testing.T, body string) *rules.Request {
	t.Helper()
	q, refused := rules.Read(http.Header{}, []byte(body), rules.Answer, rules.ModelOf)
	if refused != nil {
		t.Fatal(refused)
	}
	return q
}

func TestTokensAreCounted(t *testing.T) {
	f := func(want int, body string) {
		t.Helper()
		if got := account.Sum(account.Prompt(read(t, body), counter)); got != want {
			t.Errorf("%s has %d tokens, want %d", body, got, want)
		}
	}
	f(6, `{"model":"m","input":"abcdefgh"}`)
	f(6, `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"abcdefgh"}]}]}`)
	f(11, `{"model":"m","instructions":"abcd","input":"abcdefgh"}`)
	f(6+120+1+1+1, `{"model":"m","tools":[{"type":"function","name":"a","description":"b","parameters":{}}],"input":"abcdefgh"}`)
	f(4+1100, `{"model":"m","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:x"}]}]}`)
	f(4+1+4+1+1+4+2, `{"model":"m","input":[{"role":"user","content":"abcd"},
		{"type":"function_call","call_id":"c","name":"ls","arguments":"{}"},
		{"type":"function_call_output","call_id":"c","output":"abcdefgh"}]}`)
	const thought = `{"type":"reasoning","summary":[{"type":"summary_text","text":"long"}],"encrypted_content":"x"},{"role":"assistant","content":"abcd"}`
	f(5+7+5, `{"model":"m","input":[{"role":"user","content":"abcd"},`+thought+`]}`)
	f(5+5+5, `{"model":"m","input":[{"role":"user","content":"abcd"},`+thought+`,{"role":"user","content":"abcd"}]}`)
	f(5+7, `{"model":"m","input":[{"role":"user","content":"abcd"},{"type":"compaction","encrypted_content":"x"}]}`)
}

// talk is a list of the user's messages with so many tokens each.
func talk(settings string, tokens ...int) string {
	var all []string
	for n, each := range tokens {
		all = append(all, fmt.Sprintf(`{"role":"user","content":[{"type":"input_text","text":"%d%s"%s}]}`, n, strings.Repeat("x", 4*(each-4)-1), ""))
	}
	return `{"model":"gpt-5",` + settings + `"input":[` + strings.Join(all, ",") + `]}`
}

func TestPrefixesAreReadInSteps(t *testing.T) {
	c := account.NewCache()
	f := func(body, want string) {
		t.Helper()
		q := read(t, body)
		u := c.Account(q, account.Prompt(q, counter))
		if got := fmt.Sprintf("%d of %d, written %d", u.Cached, u.Input, u.Written); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(talk("", 1000), "0 of 1000, written 0")
	f(talk("", 1000, 30), "0 of 1030, written 0")
	f(talk("", 1000, 30, 500), "1024 of 1530, written 0")
	f(talk("", 1000, 30, 500), "1408 of 1530, written 0")
	f(talk("", 1000, 31, 500), "0 of 1531, written 0")
	f(talk(`"prompt_cache_key":"k",`, 1000, 30, 500), "0 of 1530, written 0")
	c.Advance(9 * time.Minute)
	f(talk("", 1000, 30, 500), "1408 of 1530, written 0")
	c.Advance(9 * time.Minute)
	other := c.Clone()
	f(talk("", 1000, 30, 500), "1408 of 1530, written 0")
	c.Advance(11 * time.Minute)
	f(talk("", 1000, 30, 500), "0 of 1530, written 0")
	c = other
	f(talk(`"prompt_cache_retention":"24h",`, 1000, 30, 500), "1408 of 1530, written 0")
	c.Advance(23 * time.Hour)
	f(talk("", 1000, 30, 500), "1408 of 1530, written 0")
}

func TestBreakpointsAreWrittenAndRead(t *testing.T) {
	c := account.NewCache()
	f := func(body, want string) {
		t.Helper()
		q := read(t, strings.Replace(body, "gpt-5", "gpt-5.6", 1))
		u := c.Account(q, account.Prompt(q, counter))
		if got := fmt.Sprintf("%d of %d, written %d", u.Cached, u.Input, u.Written); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(talk("", 1000), "0 of 1000, written 0")
	f(talk("", 1000, 100), "0 of 1100, written 1100")
	f(talk("", 1000, 100, 300), "1100 of 1400, written 300")
	f(talk("", 1000, 100, 300), "1400 of 1400, written 0")
	f(talk("", 1000, 100, 301), "1100 of 1401, written 301")
	f(talk("", 1000, 101, 300), "0 of 1401, written 1401")
	mark := func(body string) string { return strings.Replace(body, `"}]}`, `","prompt_cache_breakpoint":{}}]}`, 1) }
	c = account.NewCache()
	f(mark(talk("", 1100, 100)), "0 of 1200, written 1200")
	f(mark(talk("", 1100, 101)), "1100 of 1201, written 101")
	c.Advance(31 * time.Minute)
	f(mark(talk("", 1100, 101)), "0 of 1201, written 1201")
}

func TestWhatDoesNotFitIsLeftOut(t *testing.T) {
	q := read(t, talk(`"truncation":"auto","instructions":"abcd",`, 200_000, 60_000, 20_000))
	if got := account.Sum(account.Prompt(q, counter)); got != 80_005 {
		t.Errorf("%d tokens are left, want the newest two and the instructions", got)
	}
}
