package rewrite

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/bench/cputime"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

// hostileSize is how large the bodies of TestHostileBodiesAreShaped are. With -hostile.kb 65536 and -v the test tells what
// bodies of the default max_body cost.
var hostileSize = flag.Int("hostile.kb", 256, "KB of each hostile body")

// attack is who makes a hostile body: its texts, and what they stand in.
type attack struct {
	*rand.Rand
	size int // bytes of the body
}

// of is a text of about so many bytes, made of what part says, time and again.
func of(n int, part func() string) string {
	var b strings.Builder
	b.Grow(n + 100)
	for b.Len() < n {
		b.WriteString(part())
	}
	return b.String()
}

// same says one text time and again.
func same(s string) func() string { return func() string { return s } }

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// letters are n random ones of the alphabet.
func (a *attack) letters(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[a.IntN(len(alphabet))]
	}
	return string(b)
}

func (a *attack) word() string   { return a.letters(2+a.IntN(12), base64Letters[26:52]) + " " }
func (a *attack) base64() string { return a.letters(76, base64Letters) }

func (a *attack) logLine() string {
	return fmt.Sprintf(`2026-11-22T01:%02d:%02d.%03dZ level=%s worker=%d request=%x took %d ms for /api/v1/items/%d\n`,
		a.IntN(60), a.IntN(60), a.IntN(1000), [...]string{"info", "info", "info", "warn", "error"}[a.IntN(5)],
		a.IntN(64), a.Uint64(), a.IntN(900), a.IntN(100_000))
}

func (a *attack) row() string {
	return fmt.Sprintf(`{\"id\":%d,\"name\":\"item %x\",\"state\":\"%s\",\"tags\":[\"a\",\"b%d\"]},`,
		a.IntN(1<<30), a.Uint32(), [...]string{"settled", "stuck", "open"}[a.IntN(3)], a.IntN(100))
}

func (a *attack) hunk() string {
	file := fmt.Sprintf("src/part%d/file%d.go", a.IntN(40), a.IntN(900))
	return fmt.Sprintf(`diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n@@ -%d,3 +%d,4 @@ func f%d() {\n \tx := %d\n-\ty := f(x)\n+\ty := g(x, %d)\n+\tz(y)\n }\n`,
		file, file, file, file, a.IntN(900), a.IntN(900), a.IntN(99), a.IntN(999), a.IntN(999))
}

// script is a dialect as hostile bodies need it.
type script struct {
	dialect conversation.Dialect
	key     string // of the list of items
	say     func(role, quoted string) string
	call    func(id int, tool string) string
	result  func(id int, quoted string) string
	picture func(data string) string
}

func (s *script) body(items string) string {
	return `{"model":"gpt-5","max_tokens":1000,"` + s.key + `":[` + strings.TrimSuffix(items, ",") + `]}`
}

// round is a call with its result, and a comma behind each.
func (s *script) round(id int, tool, quoted string) string {
	return s.call(id, tool) + "," + s.result(id, quoted) + ","
}

func message(role, quoted string) string { return `{"role":"` + role + `","content":` + quoted + `}` }

var scripts = map[string]*script{
	"chat": {
		dialect: chat.Dialect{}, key: "messages", say: message,
		call: func(id int, tool string) string {
			return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":`+
				`{"name":"bash","arguments":"{\"command\":\"%s\"}"}}]}`, id, tool)
		},
		result: func(id int, quoted string) string {
			return fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%s}`, id, quoted)
		},
		picture: func(data string) string {
			return message("user", `[{"type":"image_url","image_url":{"url":"data:image/png;base64,`+data+`"}}]`)
		},
	},
	"messages": {
		dialect: messages.Dialect{}, key: "messages", say: message,
		call: func(id int, tool string) string {
			return message("assistant", fmt.Sprintf(`[{"type":"tool_use","id":"c%d","name":"bash","input":{"command":"%s"}}]`, id, tool))
		},
		result: func(id int, quoted string) string {
			return message("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"c%d","content":%s}]`, id, quoted))
		},
		picture: func(data string) string {
			return message("user", `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+data+`"}}]`)
		},
	},
	"responses": {
		dialect: responses.Dialect{}, key: "input", say: message,
		call: func(id int, tool string) string {
			return fmt.Sprintf(`{"type":"function_call","call_id":"c%d","name":"bash","arguments":"{\"command\":\"%s\"}"}`, id, tool)
		},
		result: func(id int, quoted string) string {
			return fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":%s}`, id, quoted)
		},
		picture: func(data string) string {
			return message("user", `[{"type":"input_image","image_url":"data:image/png;base64,`+data+`"}]`)
		},
	},
}

// hostile are the kinds of bodies that ask for more work than their size says.
var hostile = []struct {
	name string
	body func(a *attack, s *script) string // as the attack makes it for a dialect
}{
	{"one letter", said(same("a"))},
	{"spaces", said(same(" "))},
	{"newlines", said(same(`\n`))},
	{"escapes", said(same(`\u0041`))},
	{"escapes beyond the first plane", said(same(`\ud83d\ude00`))},
	{"quotes", said(same(`\"`))},
	{"CJK", said(same("日本語一番"))},
	{"random letters", func(a *attack, s *script) string {
		return s.body(message("user", `"`+a.letters(a.size, base64Letters[26:52])+`"`))
	}},
	{"nested arrays", func(a *attack, s *script) string {
		deep := strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + ","
		return s.body(message("user", "["+strings.TrimSuffix(strings.Repeat(deep, a.size/len(deep)), ",")+"]"))
	}},
	{"numbers", func(a *attack, s *script) string {
		return s.body(message("user", "["+strings.Repeat("0,", a.size/2)+"0]"))
	}},
	{"keys", func(a *attack, s *script) string {
		n := 0
		return s.body(`{"role":"user",` + of(a.size, func() string { n++; return fmt.Sprintf(`"%d":0,`, n) }) + `"content":"x"}`)
	}},
	{"parts", func(a *attack, s *script) string {
		return s.body(message("user", "["+strings.Repeat(`{"type":"text","text":"a"},`, a.size/26)+`{"type":"text","text":"b"}]`))
	}},
	{"100 000 messages", func(a *attack, s *script) string {
		n, each := -1, max(1, a.size/100_000-40)
		return s.body(of(a.size, func() string {
			n++
			return s.say([...]string{"user", "assistant"}[n%2], `"`+of(each, a.word)+`"`) + ","
		}))
	}},
	{"100 000 results", func(a *attack, s *script) string {
		n, each := 0, max(1, a.size/50_000-200)
		return s.body(message("user", `"Go."`) + "," + of(a.size, func() string {
			n++
			return s.round(n, fmt.Sprint("make test", n), `"`+of(each, a.word)+`"`)
		}))
	}},
	{"messages of a byte", func(a *attack, s *script) string {
		n := -1
		return s.body(of(a.size, func() string { n++; return s.say([...]string{"user", "assistant"}[n%2], `"a"`) + "," }))
	}},
	{"texts of 900 KB", results(900_000, (*attack).word)},
	{"texts of 900 KB of base64", results(900_000, (*attack).base64)},
	{"texts of 900 KB of a letter", results(900_000, func(*attack) string { return "a" })},
	{"texts of 10 KB", results(10_000, (*attack).word)},
	{"texts of 10 KB of base64", results(10_000, (*attack).base64)},
	{"texts of 10 KB of a log", results(10_000, (*attack).logLine)},
	{"said in 10 KB", func(a *attack, s *script) string {
		n := -1
		return s.body(of(a.size, func() string {
			n++
			return s.say([...]string{"user", "assistant"}[n%2], `"`+of(10_000, a.word)+`"`) + ","
		}))
	}},
	{"a log", results(1<<30, (*attack).logLine)},
	{"rows of JSON", func(a *attack, s *script) string {
		rows := strings.TrimSuffix(of(a.size, a.row), ",")
		return s.body(message("user", `"Go."`) + "," + s.round(1, "curl it", `"[`+rows+`]"`))
	}},
	{"a diff", results(1<<30, (*attack).hunk)},
	{"pictures", func(a *attack, s *script) string {
		return s.body(of(a.size, func() string {
			return s.picture("iVBORw0KGgo"+of(1<<20, a.base64)) + "," + message("assistant", `"ok"`) + ","
		}))
	}},
}

// costly are kinds of bodies that have cost many times what a log of their size costs.
var costly = []struct {
	name string
	body func(a *attack, s *script) string
}{
	{"calls that fail", func(a *attack, s *script) string {
		n := 0
		return s.body(message("user", `"Go."`) + "," + of(a.size, func() string {
			n++
			return s.round(n, fmt.Sprint("make part", n), fmt.Sprintf(`"error: part %d\nexit status 1"`, n))
		}))
	}},
	{"reminders between short answers", func(a *attack, s *script) string {
		return s.body(message("user", `"Go."`) + "," + of(a.size, func() string {
			return message("assistant", `"`+of(60, a.word)+`"`) + "," + message("user", `"<system-reminder>x</system-reminder>"`) + ","
		}))
	}},
	{"users who say much", func(a *attack, s *script) string {
		return s.body(of(a.size, func() string {
			return message("user", `"`+of(1_000, a.word)+`"`) + "," + message("assistant", `"ok"`) + ","
		}))
	}},
	{"what clients put in", func(a *attack, s *script) string {
		text := of(a.size, func() string { return `<system-reminder>\n` + a.word() + `\n</system-reminder>` + a.word() })
		return s.body(message("user", `"Go."`) + "," + message("assistant", `"ok"`) + "," + message("user", `"`+text+`"`) + "," +
			message("assistant", `"ok"`) + "," + message("user", `"On."`))
	}},
	{"a command of many", func(a *attack, s *script) string {
		command := of(a.size, func() string { return "cd " + a.word() + "&& " }) + "make"
		return s.body(message("user", `"Go."`) + "," + s.round(1, command, `"ok"`))
	}},
	{"files deleted and read", func(a *attack, s *script) string {
		n := 0
		return s.body(message("user", `"Go."`) + "," + of(a.size, func() string {
			n += 2
			return s.round(n, fmt.Sprint("rm -rf /tmp/", a.word()), `""`) +
				s.round(n+1, fmt.Sprintf("cat /a/b/c/d/e/f%d.go", n), `"`+of(1_000, a.word)+`"`)
		}))
	}},
	{"paths", results(1<<30, func(a *attack) string {
		return strings.ReplaceAll(a.word()+"/"+a.word()+"/"+a.word(), " ", "") + `.go\n`
	})},
}

// What is hostile costs no more than some times what a log of that size costs. The best of some runs counts, of each.
func TestHostileBodiesCostAboutWhatLogsDo(t *testing.T) {
	const size, runs, most = 1 << 20, 2, 4
	s := scripts["chat"]
	cost := func(body func(a *attack, s *script) string) (best time.Duration) {
		asked := []byte(body(&attack{rand.New(rand.NewPCG(1, 2)), size}, s))
		for range runs {
			b := newBench(32_000)
			var out Output
			took := cputime.Of(func() {
				out = b.Shape(Input{Dialect: s.dialect, Body: asked, Upstream: "up", Limits: &b.limits})
			})
			if best == 0 || took < best {
				best = took
			}
			if out.Report.Err != nil {
				t.Fatal(out.Report.Err)
			}
		}
		return best
	}
	plain := cost(results(10_000, (*attack).logLine))
	for _, h := range costly {
		took := cost(h.body)
		t.Logf("%s: %d ms, a log %d ms", h.name, took.Milliseconds(), plain.Milliseconds())
		if took > most*plain {
			t.Errorf("%s: %v, and a log of the same size %v", h.name, took, plain)
		}
	}
}

// said is a message of the user's that says one thing time and again.
func said(part func() string) func(a *attack, s *script) string {
	return func(a *attack, s *script) string { return s.body(message("user", `"`+of(a.size, part)+`"`)) }
}

// results are rounds of calls with results of so many bytes, or of one that is as large as the body.
func results(each int, part func(a *attack) string) func(a *attack, s *script) string {
	return func(a *attack, s *script) string {
		n, each := 0, min(each, a.size)
		return s.body(message("user", `"Go."`) + "," + of(a.size, func() string {
			n++
			return s.round(n, fmt.Sprint("make test", n), `"`+of(each, func() string { return part(a) })+`"`)
		}))
	}
}

// Whatever stands in a body, it is shaped or goes on as it came, and what was taken out can be put back. With -v each
// kind tells the CPU time that it costs.
func TestHostileBodiesAreShaped(t *testing.T) {
	for name, s := range scripts {
		for _, h := range slices.Concat(hostile, costly) {
			t.Run(name+"/"+h.name, func(t *testing.T) {
				a := &attack{rand.New(rand.NewPCG(1, 2)), *hostileSize << 10}
				body := []byte(h.body(a, s))
				b := newBench(200_000)
				b.dialect = s.dialect
				var out Output
				took := cputime.Of(func() {
					out = b.Shape(Input{Dialect: s.dialect, Body: body, Upstream: "up", Limits: &b.limits})
				})
				t.Logf("%6d ms: %s, %d KB of %d, %d tokens, %s", took.Milliseconds(), out.Report.Action,
					len(out.Body)>>10, len(body)>>10, out.Report.Before.Total(), out.Report.Reason)
				if out.Report.Err != nil {
					t.Error(out.Report.Err)
				}
				if was, err := s.dialect.Read(body, nil); err == nil {
					(&judge{teller: t, out: out, bench: b, was: was}).nothingIsLost()
				}
			})
		}
	}
}
