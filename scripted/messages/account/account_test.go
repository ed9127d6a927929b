package account_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"epitome/scripted/messages/account"
	"epitome/scripted/messages/rules"
)

const mark = `,"cache_control":{"type":"ephemeral"}`

// models have no least size of what is cached, and take thinking as it comes.
func models(string) rules.Model {
	m := rules.ModelOf("claude-opus-4-6")
	m.Minimum, m.InlineSystem = 0, true
	return m
}

// read reads a body that has to be sound.
func read(t *testing.T, body string) *rules.Request {
	t.Helper()
	q, refused := rules.Read(http.Header{"Anthropic-Version": {"1"}}, []byte(body), false, models)
	if refused != nil {
		t.Fatal(refused)
	}
	return q
}

// use is what a body comes to, in words.
func use(t *testing.T, c *account.Cache, body string) string {
	t.Helper()
	q := read(t, body)
	u := c.Account(q, account.Prompt(q, account.CountText))
	if u.Total() != account.Sum(account.Prompt(q, account.CountText)) {
		t.Errorf("the parts of %+v are %d, the prompt has %d", u, u.Total(), account.Sum(account.Prompt(q, account.CountText)))
	}
	return fmt.Sprintf("new %d read %d written %d long %d", u.Input, u.Read, u.Written, u.WrittenLong)
}

// talk is a list of texts in one message of the user, each of one token; those whose number is in marked have a marker.
func talk(texts int, marked ...int) string {
	var all []string
	for i := 1; i <= texts; i++ {
		text := fmt.Sprintf(`{"type":"text","text":"t%d"`, i)
		for _, m := range marked {
			if m == i {
				text += mark
			}
		}
		all = append(all, text+"}")
	}
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[` + strings.Join(all, ",") + `]}]}`
}

func TestTokensAreCounted(t *testing.T) {
	f := func(want int, before, content string) {
		t.Helper()
		body := `{"model":"m","max_tokens":9,` + before + `"messages":[{"role":"user","content":` + content + `}]}`
		if got := account.Sum(account.Prompt(read(t, body), account.CountText)); got != want {
			t.Errorf("%s%s has %d tokens, want %d", before, content, got, want)
		}
	}
	f(4+1, ``, `"abcd"`)
	f(4+2, ``, `"abcde"`)
	f(4+2, ``, `"éé."`)
	f(4+2, ``, `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`)
	f(4+1+1, `"system":"abc",`, `"a"`)
	f(4+1+346+1+1+5, `"tools":[{"name":"Bash","description":"runs","input_schema":{"type":"object"}}],`, `"a"`)
	f(4+1, `"tools":[{"name":"Bash","input_schema":{},"defer_loading":true}],`, `"a"`)
	f(4+1600+1, ``, `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},{"type":"text","text":"a"}]`)
	f(4+3000, ``, `[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QUJD"}}]`)
	f(4+2, ``, `[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"abcdefg"}}]`)
	f(4+1+4+2, ``, `"a"},{"role":"system","clear_at":"next_user_message","content":"abcde"`)
	f(4+1+4+1+4+1, ``, `"a"},{"role":"system","clear_at":"next_user_message","content":"abcde"},
		{"role":"assistant","content":"b"},{"role":"user","content":"c"`)
	f(4+1+4+1+3+4+2, ``, `"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"a": "xyz"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"abcde"}]`)
}

func TestEntriesExistOnlyWhereAMarkerStood(t *testing.T) {
	c := account.NewCache()
	f := func(body, want string) {
		t.Helper()
		if got := use(t, c, body); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(talk(10), "new 14 read 0 written 0 long 0")
	f(talk(10, 4), "new 6 read 0 written 8 long 0")
	f(talk(10, 4), "new 6 read 8 written 0 long 0")
	f(talk(10), "new 14 read 0 written 0 long 0")
	f(talk(10, 3), "new 7 read 0 written 7 long 0")
	f(talk(10, 6), "new 4 read 8 written 2 long 0")
	f(talk(12, 4, 12), "new 0 read 10 written 6 long 0")
	f(strings.Replace(talk(12, 12), `"t2"`, `"T2"`, 1), "new 0 read 0 written 16 long 0")
}

func TestEntriesAreFoundTwentyPositionsBack(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		c := account.NewCache()
		use(t, c, talk(50, 15))
		if got := use(t, c, body); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(talk(50, 34), "new 16 read 19 written 19 long 0")
	f(talk(50, 35), "new 15 read 0 written 39 long 0")
	f(talk(50, 15, 35), "new 15 read 19 written 20 long 0")
	f(talk(50, 20, 40), "new 10 read 19 written 25 long 0")
}

func TestEntriesLiveFromTheirLastUse(t *testing.T) {
	c := account.NewCache()
	f := func(pass time.Duration, body, want string) {
		t.Helper()
		c.Advance(pass)
		if got := use(t, c, body); got != want {
			t.Errorf("after %s got %s, want %s", pass, got, want)
		}
	}
	long := strings.Replace(talk(9, 5), `"ephemeral"`, `"ephemeral","ttl":"1h"`, 1)
	f(0, talk(9, 5), "new 4 read 0 written 9 long 0")
	f(4*time.Minute, talk(9, 5), "new 4 read 9 written 0 long 0")
	f(4*time.Minute, talk(9, 5), "new 4 read 9 written 0 long 0")
	f(5*time.Minute, long, "new 4 read 0 written 0 long 9")
	f(59*time.Minute, talk(9, 5, 7), "new 2 read 9 written 2 long 0")
	f(59*time.Minute, talk(9, 5), "new 4 read 9 written 0 long 0")
	f(time.Hour, talk(9, 5), "new 4 read 0 written 9 long 0")
	f(4*time.Minute, talk(9, 7), "new 2 read 9 written 2 long 0") // found two positions back, it lives on
	f(4*time.Minute, talk(9, 5), "new 4 read 9 written 0 long 0")
}

func TestSettingsEndTheEntriesBehindThem(t *testing.T) {
	const body = `{"model":"m","max_tokens":4096,"thinking":{"type":"disabled"},"tool_choice":{"type":"auto"},"speed":"normal",` +
		`"tools":[{"name":"Bash","input_schema":{}` + mark + `}],"system":[{"type":"text","text":"a"` + mark + `}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"b"` + mark + `}]}]}`
	const tools, system, whole = 346 + 2, 346 + 2 + 1, 346 + 2 + 1 + 5
	f := func(read int, old, now string) {
		t.Helper()
		c := account.NewCache()
		use(t, c, body)
		changed := strings.Replace(body, old, now, 1)
		want := fmt.Sprintf("new 0 read %d written %d long 0", read, whole-read)
		if got := use(t, c, changed); got != want {
			t.Errorf("with %s: got %s, want %s", now, got, want)
		}
	}
	f(whole, `4096`, `4000`)
	f(system, `{"type":"disabled"}`, `{"type":"enabled","budget_tokens":1024}`)
	f(system, `{"type":"auto"}`, `{"type":"none"}`)
	f(system, `"speed":"normal"`, `"speed":"normal","output_config":{"effort":"low"}`)
	f(system, `"b"`, `"c"`)
	f(tools, `"speed":"normal"`, `"speed":"fast"`)
	f(tools, `"text":"a"`, `"text":"A"`)
	f(0, `"Bash"`, `"Dash"`)
	f(0, `"model":"m"`, `"model":"n"`)
}

func TestPicturesEndTheEntriesOfMessages(t *testing.T) {
	c := account.NewCache()
	use(t, c, talk(5, 3))
	picture := `{"type":"image","source":{"type":"url","url":"http://x"}}]}]}`
	with := strings.TrimSuffix(talk(5, 3), "]}]}") + "," + picture
	if got, want := use(t, c, with), "new 1602 read 0 written 7 long 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestShortPrefixesAreNotCached(t *testing.T) {
	f := func(minimum, want int) {
		t.Helper()
		c, reads := account.NewCache(), 0
		for range 2 {
			q := read(t, talk(10, 4)) // 8 tokens up to the marker
			q.Model.Minimum = minimum
			reads = c.Account(q, account.Prompt(q, account.CountText)).Read
		}
		if reads != want {
			t.Errorf("with a minimum of %d, %d are read, want %d", minimum, reads, want)
		}
	}
	f(8, 8)
	f(9, 0)
}

func TestMarkersInResultsAndTheAutomaticOne(t *testing.T) {
	f := func(want, top, inner string) {
		t.Helper()
		c := account.NewCache()
		body := `{"model":"m","max_tokens":9` + top + `,"messages":[{"role":"user","content":"a"},
{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"b"` + inner + `}]},
{"type":"text","text":"c"}]}]}`
		use(t, c, body)
		if got := use(t, c, body); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f("new 17 read 0 written 0 long 0", ``, ``)
	f("new 1 read 16 written 0 long 0", ``, mark)
	f("new 0 read 17 written 0 long 0", mark, ``)
}
