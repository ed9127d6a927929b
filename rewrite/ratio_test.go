package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/prose"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
	"epitome/rewrite/rewritetest"
	"epitome/tokenize"
)

// anonymous has the agent talk to a model whose vocabulary nobody knows.
func (a *agent) anonymous() string { return strings.Replace(a.body(), `"gpt-5"`, `"nobody"`, 1) }

// askAnonymous sends what there is to that model, and holds the promises for it.
func (a *agent) askAnonymous(t testing.TB) Output {
	t.Helper()
	out := a.shape(a.anonymous())
	if out.Report.Err != nil {
		t.Fatal(out.Report.Err)
	}
	judged(t, a.bench, a.anonymous(), out)
	return out
}

// The line stands at so many of the model's own tokens, whatever one of them is here.
func TestLearnedRatioMovesTheLine(t *testing.T) {
	const window, line = 100_000, 91_808 * 9 / 10 // of what a request may fill
	f := func(ratio float64) {
		t.Helper()
		a := newAgent(window, userSays(theTask))
		a.ratio = ratio
		for {
			a.work(1, 1_000)
			out := a.askAnonymous(t)
			r := out.Report
			if r.Before.Total() > 2*window {
				t.Fatalf("at a ratio of %v nothing is compacted: %+v", ratio, r)
			}
			if !compacts(out) {
				continue
			}
			counted := tokenize.PerReply + int(float64(r.Before.Total())/ratio)
			if over := r.Before.Total() - line; over < 0 || float64(over) > 1_500*ratio {
				t.Errorf("at a ratio of %v, %d tokens, %d as counted here, are compacted", ratio, r.Before.Total(), counted)
			}
			if r.Ratio != ratio || r.Answers != 3 {
				t.Errorf("a ratio of %v from %d answers is reported", r.Ratio, r.Answers)
			}
			return
		}
	}
	f(.7)
	f(1.1)
	f(1.65)
	f(3)
}

func TestRatioOfAModelWhoseVocabularyIsKnownIsOne(t *testing.T) {
	a := newAgent(100_000, userSays(theTask))
	a.ratio = 2
	a.work(1, 5_000)
	out := a.ask(t)
	if r := out.Report; r.Ratio != 1 || r.Answers != 0 || r.Counted != 0 {
		t.Errorf("%+v", r)
	}
}

func TestWhatWasDecidedStaysWhileTheRatioMoves(t *testing.T) {
	a := newAgent(40_000, userSays(theTask))
	a.limits.ClearAt, a.limits.Rent = .5, 2
	var bodies, sent []string
	for k := range 40 {
		a.work(1, 1_500)
		a.ratio = []float64{0, 1.5, .8, 2.2, 1.2}[k%5]
		bodies = append(bodies, a.anonymous())
		sent = append(sent, string(a.askAnonymous(t).Body))
	}
	for _, restarts := range []bool{false, true} {
		for k, body := range bodies {
			if a.ratio = []float64{4, .3, 1, 1.1}[k%4]; restarts {
				a.restart()
			}
			if again := string(a.shape(body).Body); again != sent[k] {
				t.Fatalf("request %d (restarts: %v) is sent otherwise: %s", k, restarts, firstDifference(sent[k], again))
			}
		}
	}
}

func TestCountedIsWhatIsSent(t *testing.T) {
	a := newAgent(20_000, userSays(theTask))
	a.ratio = 1.5
	for range 30 {
		a.work(1, 1_000)
		out := a.askAnonymous(t)
		sent, err := chat.Read(out.Body)
		if err != nil {
			t.Fatal(err)
		}
		counter, _ := vocabularies.For(tokenize.O200k)
		scale := conversation.Scale{Model: a.deps.Models.Of("nobody"), Counter: counter, Memo: a.memo}
		want := rewritetest.Count(sent, scale).Total()
		if got := out.Report.Counted; got < want-want/50 || got > want+want/50 {
			t.Fatalf("%d are reported, %d are sent", got, want)
		}
	}
}

func TestWhatCannotBeCountedIsNotCompared(t *testing.T) {
	f := func(want bool, settings, content string) {
		t.Helper()
		b := newBench(100_000)
		body := `{"model":"nobody",` + settings + `"messages":[{"role":"user","content":` + content + `}`
		for k := range 3 { // what was seen before is not read again
			if got := b.shape(body+`]}`).Report.Counted > 0; got != want {
				t.Errorf("request %d of %s%.60s: compared %v", k, settings, content, got)
			}
			body += fmt.Sprintf(`,{"role":"assistant","content":"%s"},{"role":"user","content":"Go on."}`, strings.Repeat("word ", 400))
		}
	}
	text := `{"type":"text","text":"Look."}`
	f(true, ``, `"Look."`)
	f(true, ``, `[`+text+`]`)
	f(true, `"response_format":{"type":"text"},"functions":null,`, `"Look."`)
	f(false, ``, `[`+text+`,{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}]`)
	f(false, ``, `[`+text+`,{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]`)
	f(false, ``, `[`+text+`,{"type":"file","file":{"file_data":"AAAA"}}]`)
	f(false, ``, `[`+text+`,{"type":"video_url","video_url":{"url":"https://x.test/a.mp4"}}]`)
	f(false, `"functions":[{"name":"f"}],`, `"Look."`)
	f(false, `"response_format":{"type":"json_schema","json_schema":{}},`, `"Look."`)
	f(false, `"web_search_options":{},`, `"Look."`)
}

// A rescue counts as the refused form was counted, whatever was learned meanwhile.
func TestARescueCountsAsTheRefusedFormWasCounted(t *testing.T) {
	a := newRefused(30, 1_000)
	a.ratio = 1.5
	refused := a.shape(a.anonymous()).Report
	a.ratio = .5
	r := plan.Rescue{Sent: refused.After.Total(), Most: refused.After.Total() / 2, Ratio: refused.Ratio,
		Answers: refused.Answers}
	out := a.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(a.anonymous()), Upstream: "up", Limits: &a.limits,
		Rescue: &r})
	if got := out.Report; got.Ratio != 1.5 || got.After.Total() > r.Most || got.Before != refused.Before {
		t.Errorf("%+v", got)
	}
}

// What a question needs besides the conversation is of the model's tokens, as is what the model takes.
func TestQuestionsFitWhateverTheRatioIs(t *testing.T) {
	f := func(ratio float64, needs int, continued bool) {
		t.Helper()
		a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
		n.needs, a.ratio = needs, ratio
		for len(n.asked) == 0 {
			a.work(1, 300)
			a.shape(a.anonymous())
		}
		q := n.asked[0]
		if (q.Continue != nil) != continued {
			t.Errorf("at a ratio of %v, needs %d: %d bytes are continued", ratio, needs, len(q.Continue))
		}
		if !continued {
			return
		}
		r, err := chat.Read(q.Continue)
		if err != nil {
			t.Fatal(err)
		}
		counter, _ := vocabularies.For(tokenize.O200k)
		size := rewritetest.Count(r, conversation.Scale{Model: a.deps.Models.Of("nobody"), Counter: counter, Memo: a.memo})
		if tokens := int(float64(size.Total()) * ratio); tokens+needs > q.Usable {
			t.Errorf("at a ratio of %v, %d tokens are continued of %d, and %d are needed", ratio, tokens, q.Usable, needs)
		}
	}
	for _, ratio := range []float64{.4, 1, 1.5, 3} {
		f(ratio, 1_000, true)
		f(ratio, 3_000, true)
		f(ratio, 7_000, false)
	}
}
