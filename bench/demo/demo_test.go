package demo

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// played returns a session behind whatever open puts between agent and model, and what was told of it.
func played(t *testing.T, o Options) (*Report, string) {
	t.Helper()
	var live bytes.Buffer
	o.Live = &live
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Print(&live); err != nil {
		t.Fatal(err)
	}
	return r, live.String()
}

// nothing stands between agent and model.
func nothing(upstream string) (Proxy, error) {
	return Proxy{URL: upstream, Close: func() error { return nil }}, nil
}

// meddling stands between and changes bodies. It is given how many there were.
func meddling(t *testing.T, change func(n int, body []byte) []byte) func(string) (Proxy, error) {
	n := 0
	return func(upstream string) (Proxy, error) {
		between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			n++
			resp, err := http.Post(upstream+"/chat/completions", "application/json", bytes.NewReader(change(n, body)))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = resp.Body.Close() }()
			w.WriteHeader(resp.StatusCode)
			_, _ = io.Copy(w, resp.Body)
		}))
		return Proxy{URL: between.URL, Close: func() error { between.Close(); return nil }}, nil
	}
}

const endless = 10_000_000 // tokens

func TestSessionOutgrowsItsWindow(t *testing.T) {
	r, told := played(t, Options{Window: 16_000, Turns: 40, Seed: 1, Open: nothing})
	if r.Died != len(r.Turns) || !strings.Contains(r.Failed, "context_length_exceeded") || r.DiedOf != r.Failed {
		t.Errorf("died in turn %d of %d with %q; the model itself said %q", r.Died, len(r.Turns), r.Failed, r.DiedOf)
	}
	if last := r.Turns[len(r.Turns)-1]; last.Sent <= r.Window || r.Turns[len(r.Turns)-2].Sent > r.Window {
		t.Errorf("died of %d tokens after %d", last.Sent, r.Turns[len(r.Turns)-2].Sent)
	}
	if m := r.Missed(); len(m) != 1 || !strings.Contains(m[0], "the session died") {
		t.Errorf("missed %q", m)
	}
	if !strings.Contains(told, "without epitome the session dies here") || !strings.Contains(told, "✗ no answer") {
		t.Errorf("told:\n%s", told)
	}
}

// Where epitome changes nothing, nothing is told of what it would have done.
func TestAModeThatTouchesNothingIsToldAsSuch(t *testing.T) {
	f := func(mode string, with bool) {
		t.Helper()
		_, told := played(t, Options{Window: 16_000, Turns: 40, Seed: 1, Open: nothing, Mode: mode})
		if got := strings.Contains(told, "with epitome") && strings.Contains(told, "keeps small what the model gets") &&
			strings.Contains(told, "WRONG"); got != with {
			t.Errorf("mode %q, told:\n%s", mode, told)
		}
		if !with && (!strings.Contains(told, "as it came through, mode "+mode) || strings.Contains(told, "with epitome") ||
			!strings.Contains(told, "its mode is "+mode)) {
			t.Errorf("mode %q, told:\n%s", mode, told)
		}
	}
	f("", true)
	f("on", true)
	f("observe", false)
	f("off", false)
}

// A shortened result is shown whole, and what a scripted model cannot show is said.
func TestAnExcerptIsShownWholeAndLimitsAreTold(t *testing.T) {
	const mark = "[epitome: lines 2-3 of 3 left out: 2 lines, 9 tokens]"
	const many = `(?:[^"\\]|\\.){1000}`
	shorten := regexp.MustCompile(`("role":"tool","content":")([^"\\]{4})` + strings.Repeat(many, 4) + `(?:[^"\\]|\\.)*"`)
	r, told := played(t, Options{Window: endless, Turns: 30, Seed: 1,
		Open: meddling(t, func(_ int, body []byte) []byte { return shorten.ReplaceAll(body, []byte(`${1}${2}\n`+mark+`"`)) })})
	if r.Excerpt == nil || r.Excerpt.Before <= r.Excerpt.After || !strings.HasSuffix(r.Excerpt.Text, mark) {
		t.Fatalf("%+v", r.Excerpt)
	}
	for l := range strings.Lines(r.Excerpt.Text) {
		if !strings.Contains(told, "  │ "+strings.TrimSuffix(l, "\n")) {
			t.Errorf("%q is not told", l)
		}
	}
	if _, told := played(t, Options{Window: endless, Turns: 30, Seed: 1, Open: nothing}); !strings.Contains(told, "what this cannot show") {
		t.Errorf("told:\n%s", told)
	}
}

// A session that is sent whole shows that whatever is found missing in another one was not missing before.
func TestSessionIsSoundByItself(t *testing.T) {
	r, told := played(t, Options{Window: endless, Turns: 70, Seed: 3, Open: nothing})
	if m := r.Missed(); len(m) > 0 {
		t.Errorf("missed %q", m)
	}
	if r.Died != 0 || r.Compactions != 0 || r.ReadBack != 0 || r.Extended != len(r.Turns)-1 || r.Raw != r.Sent ||
		r.Kept.Whole != r.Kept.Messages {
		t.Errorf("died %d, compactions %d, read back %d, extended %d of %d, %+v became %+v, %d of %d messages are there", r.Died, r.Compactions,
			r.ReadBack, r.Extended, len(r.Turns)-1, r.Raw, r.Sent, r.Kept.Whole, r.Kept.Messages)
	}
	if len(r.Questions) != 4 || r.Raw.Tokens == 0 {
		t.Errorf("%d questions, %d tokens", len(r.Questions), r.Raw.Tokens)
	}
	for l := range strings.Lines(told) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > width {
			t.Errorf("%d columns: %s", n, l)
		}
	}
}

func TestMeddlingIsSeen(t *testing.T) {
	o := Options{Window: endless, Turns: 30, Seed: 1}
	missed := func(change func(n int, body []byte) []byte, want string) {
		t.Helper()
		o.Open = meddling(t, change)
		r, _ := played(t, o)
		if all := strings.Join(r.Missed(), "\n"); !regexp.MustCompile(want).MatchString(all) {
			t.Errorf("missed:\n%s\nwant %s", all, want)
		}
	}
	missed(func(_ int, body []byte) []byte {
		return regexp.MustCompile(`CHG-\d{5}`).ReplaceAll(body, []byte("CHG-00000"))
	},
		`(?s)the answer in turn \d+ is wrong: The change number of the release: got CHG-00000, want CHG-`)
	missed(func(n int, body []byte) []byte {
		if n == 12 {
			return bytes.Replace(body, []byte("Goal: make"), []byte("Goal: fake"), 1)
		}
		return body
	}, `2 requests changed what had been sent, and nothing says why`)
	missed(func(n int, body []byte) []byte {
		if n == 15 { // the one after the restart
			return append(body, ' ')
		}
		return body
	}, `after the restart the last request did not come in the same bytes`)
	missed(func(_ int, body []byte) []byte {
		return regexp.MustCompile(`(\\tcents := )a\.Scale`).ReplaceAll(body, []byte("${1}b.Scale"))
	}, `a call could not be done: edit_file .*old_text does not stand in`)
}

func TestSessionDiesOfWhatIsNotValid(t *testing.T) {
	drop := regexp.MustCompile(`,\{"role":"tool","content":"edited [^{}]*\}`)
	r, _ := played(t, Options{Window: endless, Turns: 30, Seed: 1,
		Open: meddling(t, func(_ int, body []byte) []byte { return drop.ReplaceAll(body, nil) })})
	if !strings.Contains(r.Failed, "must be followed by tool messages") {
		t.Errorf("failed: %q", r.Failed)
	}
}

func TestSummariesAreCountedAndDisturbNothing(t *testing.T) {
	var model string
	ask := meddling(t, func(n int, body []byte) []byte {
		if n == 12 {
			question := bytes.Replace(body, []byte(`"stream":true,`), nil, 1)
			question = append(bytes.TrimSuffix(question, []byte(`]}`)),
				`,`+string(encoded(message{Role: "user", Content: asking}))+`]}`...)
			resp, err := http.Post(model+"/chat/completions", "application/json", bytes.NewReader(question))
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("asked for a summary: %v, %+v", err, resp)
				return body
			}
			_ = resp.Body.Close()
		}
		return body
	})
	r, told := played(t, Options{Window: endless, Turns: 30, Seed: 1, Open: func(upstream string) (Proxy, error) {
		model = upstream
		return ask(upstream)
	}})
	if m := r.Missed(); len(m) > 0 || r.Sent != r.Raw {
		t.Errorf("missed %q; %+v became %+v", m, r.Raw, r.Sent)
	}
	s, at := r.Summaries, r.Turns[11]
	if s.Requests != 1 || at.Summary == nil || *at.Summary != s || s.Input <= at.Got || s.Cached == 0 || s.Output == 0 {
		t.Errorf("summaries %+v, in turn %d of %d tokens %+v", s, at.Turn, at.Got, at.Summary)
	}
	if !strings.Contains(told, "by the model: ") ||
		!strings.Contains(told, "the model was asked for a summary once: ") {
		t.Errorf("told:\n%s", told)
	}
}

func TestEqualSeedsMakeEqualSessions(t *testing.T) {
	o := Options{Window: endless, Turns: 30, Seed: 5, Open: nothing}
	one, told := played(t, o)
	two, again := played(t, o)
	if told != again || !reflect.DeepEqual(one, two) {
		t.Errorf("told:\n%s\nand then:\n%s", told, again)
	}
	o.Seed = 6
	if other, _ := played(t, o); other.Raw.Tokens == one.Raw.Tokens {
		t.Errorf("another seed makes %d tokens, too", one.Raw.Tokens)
	}
}

func TestTooFewTurnsAreRefused(t *testing.T) {
	if _, err := Run(context.Background(), Options{Window: endless, Turns: LeastTurns - 1,
		Open: nothing}); err == nil || !strings.Contains(err.Error(), "20 are the least") {
		t.Errorf("got %v", err)
	}
}

func TestSessionEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	closed := false
	_, err := Run(ctx, Options{Window: endless, Turns: 30, Open: func(upstream string) (Proxy, error) {
		stop()
		return Proxy{URL: upstream, Close: func() error { closed = true; return nil }}, nil
	}})
	if err == nil || !closed {
		t.Errorf("got %v, closed %v", err, closed)
	}
}

func TestTurnsWithoutNewsAreFolded(t *testing.T) {
	var out bytes.Buffer
	table := newTable(Options{Live: &out, Window: 1000})
	cut := []Step{{Kind: Offload, Count: 1, Before: 700, After: 200, How: "excerpt"}}
	for i, steps := range [][]Step{nil, nil, nil, cut, nil, cut, cut,
		{{Kind: Clear, Count: 3, Before: 300, After: 30}}} {
		table.turn(Turn{Turn: i + 1, Did: "work", Sent: 100 * (i + 1), Got: 100, Cached: 50, ReadBack: i == 6,
			Steps: steps})
	}
	table.unfold()
	_, got, _ := strings.Cut(out.String(), "epitome did\n")
	want := `
   1  work                       100 →   100  █·······  10%   50%
   2  work                       200 →   100  █·······  10%   50%
   ·  … 1 turn                   300 →   100
   4  work                       400 →   100  █·······  10%   50%  offload 700 → 200, excerpt
   ·  … 2 turns                  600 →   100  offload 1 result, 700 → 200
   7  work                       700 →   100  █·······  10%   50%  offload 700 → 200, excerpt
                                                                   read back
   8  work                       800 →   100  █·······  10%   50%  clear 3 results, 300 → 30
`
	if got != want[1:] {
		t.Errorf("got:\n%s\nwant:\n%s", got, want[1:])
	}
}
