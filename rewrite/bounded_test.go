//go:build unix

package rewrite_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"epitome/event"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/tokenize"
)

// steps is how many exchanges most hostile conversations have.
const steps = 6

// hostile are conversations of about n bytes that take long to read, count, shorten or summarize, if that is done
// carelessly.
var hostile = map[string]func(n int) []exchange{
	"deep arguments": arguments(func(n int) string {
		const depth = 4_000
		list := strings.Repeat(`"a",[],`, max(0, n-2*depth)/7)
		return strings.Repeat(`[`, depth) + list + `0` + strings.Repeat(`]`, depth)
	}),
	"many keys": arguments(func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, `,"path%d":"a/b%d"`, i, i)
		}
		return "{" + b.String()[1:] + "}"
	}),
	"very many reads of a file": func(n int) (all []exchange) {
		for i := range n / 170 {
			args := fmt.Sprintf(`{"path":"a","offset":%d}`, i)
			all = append(all, exchange{calls: []call{{tool: "read", arguments: args, result: "ok"}}})
		}
		return all
	},
	"many tasks": func(n int) []exchange {
		var b strings.Builder
		for i := 0; b.Len() < n/steps; i++ {
			fmt.Fprintf(&b, `,{"content":"task %d","status":"pending"}`, i)
		}
		return each(func(i int) exchange {
			args := fmt.Sprintf(`{"todos":[%d%s]}`, i, b.String())
			return exchange{calls: []call{{tool: "todo_write", arguments: args, result: "ok"}}}
		})
	},
	"one letter":     results(repeated("a")),
	"random letters": results(drawn("abcdefghijklmnopqrstuvwxyz")),
	"signs":          results(drawn("!#$%&()*+,-.;<=>?@[]^{|}~")),
	"Han":            users(drawn("的一是不了人我在有他这为之大来以个中上们")),
	"Thai":           results(drawn("กขคงจฉชซญดตถทธนบปผพฟภมยรลวสหอฮ")),
	"blanks":         results(repeated(" \t\u3000")),
	"errors":         results(numbered("%[2]x error: expected %[1]x, got %[2]x%[1]x: cannot assert\n")),
	"long errors": results(func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "%s%x\n", strings.Repeat("error: it failed, expected 1, got 2; ", 200), i)
		}
		return b.String()
	}),
	"equal lines": results(repeated("| 0 | 1 | 0 errors |\n")),
	"short lines": results(repeated("e\n")),
	"indented lines": results(func(n int) string {
		return strings.Repeat("error\n", 10) + strings.Repeat(strings.Repeat(" ", 500)+"error\n", n/506)
	}),
	"one long line": results(repeated("error: it failed, expected 1, got 2; ")),
	"one result": func(n int) []exchange {
		return append(begun(), exchange{calls: []call{bash("make", prose(n))}}, exchange{user: "Go on.", said: "I go on."})
	},
	"one message": func(n int) []exchange {
		return append(begun(), exchange{user: prose(n), said: "I see."}, exchange{said: "I go on."})
	},
	"escapes":     results(repeated("\x00\x01\ufffd\x7f")),
	"nested JSON": results(func(n int) string { return nested(n) }),
	"terminal": results(func(n int) string {
		return strings.Repeat("\x1b[31mred\x1b[0m\x1b[2K\x1b[500C.\x1b[1A\r50%\b\b", n/40)
	}),
	"titles":            results(repeated("\x1b]0;x")),
	"erased lines":      results(func(n int) string { return strings.Repeat("a\n", n/4) + strings.Repeat("\x1b[2J", n/8) }),
	"unclosed tags":     users(repeated("<system-reminder>\n")),
	"closed tags":       users(repeated("<reminder></reminder>\n")),
	"many outputs":      users(numbered("<bash-a%[1]d></bash-a%[1]d>\n")),
	"many elements":     users(numbered("<a%[1]d></a%[1]d>\n")),
	"unclosed elements": users(repeated("<rule>\n")),
	"nested tags": users(func(n int) string {
		return strings.Repeat("<skill>\n<a>\n", n/27) + strings.Repeat("</a>\n</skill>\n", n/27)
	}),
	"elements":      users(func(n int) string { return strings.Repeat("<a>", n/7) + strings.Repeat("</a>", n/7) }),
	"lines to keep": users(numbered("keep: %[2]x\n")),
	"quotes":        users(repeated(`"" and nothing in it, `)),
	"names":         results(numbered("import a/b%[1]x.go from some_name%[2]x in someOther%[1]x\n")),
	"tiny results": func(n int) (list []exchange) {
		for i := range n / 200 {
			list = append(list, exchange{calls: []call{bash(fmt.Sprint("ls ", i), "x")}})
		}
		return list
	},
	"parallel calls": func(n int) []exchange {
		e := exchange{}
		for i := range n / 200 {
			e.calls = append(e.calls, bash(fmt.Sprint("ls ", i), "x"))
		}
		return append(begun(), e, exchange{said: "I see."})
	},
	"tiny messages": func(n int) (list []exchange) {
		for i := range n / 120 {
			list = append(list, exchange{user: fmt.Sprintf("No, %d.", i), said: "I see."})
		}
		return list
	},
	"results of 2 KB": func(n int) (list []exchange) {
		for i := range n / 2_200 {
			list = append(list, exchange{calls: []call{bash(fmt.Sprint("make ", i), prose(2_000))}})
		}
		return list
	},
}

// plain is what a conversation of about n bytes is mostly made of.
func plain(n int) []exchange {
	return each(func(i int) exchange {
		result := bash(fmt.Sprint("make ", i), prose(n/steps*3/4))
		return exchange{user: prose(n / steps / 4), calls: []call{result}}
	})
}

// each returns as many exchanges as most conversations have. No two may be equal: what is known is not counted again.
func each(step func(i int) exchange) (list []exchange) {
	for i := range steps {
		list = append(list, step(i))
	}
	return list
}

// begun returns the beginning of a conversation that has no hostile text.
func begun() []exchange { return each(func(int) exchange { return exchange{said: "I look."} }) }

func results(text func(n int) string) func(n int) []exchange {
	return func(n int) []exchange {
		t := text(n / steps)
		return each(func(i int) exchange {
			return exchange{calls: []call{bash("make", fmt.Sprint(i, t))}}
		})
	}
}

func users(text func(n int) string) func(n int) []exchange {
	return func(n int) []exchange {
		t := text(n / steps)
		return each(func(i int) exchange { return exchange{user: t + fmt.Sprint(i), said: "I see."} })
	}
}

func arguments(text func(n int) string) func(n int) []exchange {
	return func(n int) []exchange {
		t := text(n / steps)
		return each(func(i int) exchange {
			args := fmt.Sprintf(`{"path":"a%d.go","content":%s}`, i, t)
			return exchange{calls: []call{{tool: "write_file", arguments: args, result: "ok"}}}
		})
	}
}

func repeated(unit string) func(n int) string {
	return func(n int) string { return strings.Repeat(unit, n/len(unit)) }
}

// numbered returns a text of units in a form whose first value is the number of the unit, and whose second is no
// neighbour of the next one's.
func numbered(form string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, form, i, i*7919)
		}
		return b.String()
	}
}

func drawn(alphabet string) func(n int) string {
	return func(n int) string {
		letters, chance := []rune(alphabet), rand.New(rand.NewPCG(1, 2))
		var b strings.Builder
		for b.Len() < n {
			b.WriteRune(letters[chance.IntN(len(letters))])
		}
		return b.String()
	}
}

// nested returns JSON in a string, in JSON in a string, and so on.
func nested(n int) string {
	text := strings.Repeat(`{"a":"b"},`, max(1, n/60))
	for range 3 {
		text = `{"output":` + quoted(text) + `,"list":[1,2,3]}`
	}
	return text
}

// work returns the CPU time of two new processes that are sent a conversation without its last answer, whole, and again:
// one has a window that is far too small, the other one that is large enough.
func work(name string, n int, bodies [][]byte) (took time.Duration) {
	for _, window := range []int{n / 16, 10_000_000} {
		limits, s := defaultLimits(), newStorage()
		shaper := rewrite.NewShaper(rewrite.Deps{Ledger: ledger.New(s, keep), Shelf: idleShelf{shelf{s}},
			Memo: tokenize.NewMemo(1 << 16), Window: func(_, _ string, _ int) (int, int) { return window, window * 7 / 8 }})
		runtime.GC()
		from := cpu()
		for _, body := range bodies {
			s.now = s.now.Add(time.Second)
			in := rewrite.Input{Dialect: dialects[name], Body: body, Upstream: "up", Limits: &limits, Now: s.now}
			out := shaper.Shape(in)
			if out.Report.Err != nil {
				panic(out.Report.Err)
			}
		}
		took += cpu() - from
	}
	return took
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func bodiesOf(name string, list []exchange) [][]byte {
	all := bodyOf(name, list)
	return [][]byte{bodyOf(name, list[:len(list)-1]), all, all}
}

var allHostile = flag.Bool("hostile", false, "measure all hostile conversations in all APIs, and closely")

// Promise 10: twice the input takes at most 2.3 times the work, and no conversation more than three times the work of a
// plain one of its size. Other programs and the machine's caches disturb a measurement, never to the better: the least
// of some counts, and more are taken before the test fails. Without -hostile each API has a third of the conversations,
// and the bounds are those that only quadratic work passes.
func TestWorkGrowsWithTheInput(t *testing.T) {
	const size = 192 << 10
	growth, worst, most := 3.2, 6.0, 30
	if *allHostile {
		growth, worst, most = 2.3, 3.0, 40
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // work collects
	// Memory that goes back to the system between two measurements costs the longer one a third of its time. The runtime
	// keeps a tenth of the heap, of which this is never touched.
	heap := make([]byte, 1<<30)
	defer runtime.KeepAlive(heap)
	for i, name := range slices.Sorted(maps.Keys(apis)) {
		ordinary := bodiesOf(name, plain(2*size))
		work(name, 2*size, ordinary) // loads the vocabulary
		usual := work(name, 2*size, ordinary)
		for k, shape := range slices.Sorted(maps.Keys(hostile)) {
			if !*allHostile && k%len(apis) != i {
				continue
			}
			one, two := bodiesOf(name, hostile[shape](size)), bodiesOf(name, hostile[shape](2*size))
			small, large := time.Hour, time.Hour
			for round := 1; ; round++ {
				small, large = min(small, work(name, size, one)), min(large, work(name, 2*size, two))
				if float64(large) > worst*float64(usual) {
					usual = min(usual, work(name, 2*size, ordinary))
				}
				grows, slow := float64(large)/float64(small), float64(large)/float64(usual)
				if grows <= growth && slow <= worst {
					break
				}
				if round == most {
					t.Errorf("%s, %s: twice the input takes %.1f times the work, %.1f times that of plain text", name,
						shape, grows, slow)
					break
				}
			}
		}
	}
}

// Nothing is decided for more than 30,000 new items, which are not new to the next request. Then, and up to that number,
// a compaction that is asked for is made.
func TestManyNewItemsWaitForTheNextRequest(t *testing.T) {
	s, limits := newStorage(), defaultLimits()
	p := start(s)
	p.window.Store(10_000_000)
	var list []exchange
	for i := range 15_000 {
		list = append(list, exchange{said: fmt.Sprintf("I look at part %d of the shop.", i), calls: []call{bash("ls", "x")}})
	}
	for _, c := range []struct {
		scope string
		list  []exchange
		code  event.Code
	}{
		{"one", list[:14_999], event.NoCode}, // 29,999 items
		{"other", list, event.CodeManyNew},   // 30,001
		{"other", append(list, exchange{said: "I go on."}), event.NoCode},
	} {
		out := p.Shape(rewrite.Input{Dialect: dialects["messages"], Scope: c.scope, Body: bodyOf("messages", c.list),
			Limits: &limits, Compact: true})
		r := &out.Report
		isTold := c.code == event.NoCode || strings.Contains(r.Reason, "30,000")
		if r.Err != nil || r.Code != c.code || !isTold || (r.Action == "compact") != (c.code == event.NoCode) {
			t.Errorf("%d items: %s, %q, %v", r.Items, r.Action, r.Reason, r.Err)
		}
	}
}
