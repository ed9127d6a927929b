package daemon

import (
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/config"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
	"epitome/summarize"
	"epitome/tokenize"
)

// strict starts an agent of Messages or Responses with a provider that holds requests to the rules of its API, and
// epitome between them.
func strict(t *testing.T, api, model string, o fakeapi.Options, changes ...func(*config.Config)) (*agent, *program,
	*fakeapi.Provider) {
	t.Helper()
	a := new(agent)
	if api == "responses" {
		o.Count = tokenize.CountString
	}
	o.Answer = func(x fakeapi.Exchange) []fakeapi.Part {
		if asksForSummary(x.Body) {
			return []fakeapi.Part{fakeapi.Text(nthSummary(1))}
		}
		return a.parts()
	}
	provider := fakeapi.StartProvider(t, o)
	p := run(t, t.TempDir(), provider.URL, changes...)
	*a = *working(p, api, model)
	return a, p, provider
}

// windowOf has epitome believe that all models have so many tokens.
func windowOf(tokens unit.Tokens) func(*config.Config) {
	return func(c *config.Config) {
		c.Window.Models, c.Summarize.Mode = map[string]unit.Tokens{"*": tokens}, summarize.Intent
	}
}

var every = flag.Bool("every", false, "play each way in which a server says that its window is full")

// Whatever the server says when its window is full, an agent that grows past a window that nobody knows of meets no
// error, no rewriting breaks a rule, and few requests are refused.
func TestAgentsOutgrowAWindowThatNobodyKnows(t *testing.T) {
	t.Parallel()
	play := func(api, model string, overflow fakeapi.Overflow, stream bool) {
		t.Run(fmt.Sprint(api, " ", overflow, " ", stream), func(t *testing.T) {
			t.Parallel()
			m := fakeapi.ModelOf(model)
			m.Window, m.Overflow = 40_000, overflow
			a, p, provider := strict(t, api, model, fakeapi.Options{Models: map[string]fakeapi.Model{model: m}})
			a.stream, a.packs = stream, stream && api == "responses"
			a.work(36)
			if n := a.acted["rescue"]; n < 1 || n > 2 {
				t.Errorf("epitome did %v", a.acted)
			}
			for _, x := range provider.Exchanges() {
				if x.Judged && x.Tokens <= m.Window {
					t.Errorf("request %d of %d tokens is refused: %v", x.N, x.Tokens, x.Refusal)
				}
			}
			p.wantLog(`"msg":"rescue".*"outcome":"rescued"`)
		})
	}
	ofChat := []fakeapi.Overflow{fakeapi.SaysTooLong, fakeapi.SaysBedrock, fakeapi.SaysLlama}
	ofMessages := []fakeapi.Overflow{fakeapi.SaysTooLong, fakeapi.FailsInStream, fakeapi.EndsAtOnce}
	ofResponses := []fakeapi.Overflow{fakeapi.SaysTooLong, fakeapi.FailsWithoutWords, fakeapi.EndsAtOnce}
	if *every {
		ofChat = append(ofChat, fakeapi.TooLarge, fakeapi.SaysLiteLLM, fakeapi.SaysVLLM)
		ofMessages = append(ofMessages, fakeapi.TooLarge, fakeapi.SaysBedrock, fakeapi.SaysLiteLLM, fakeapi.SaysGateway)
		ofResponses = append(ofResponses, fakeapi.TooLarge, fakeapi.SaysLiteLLM, fakeapi.SaysLlama, fakeapi.SaysVLLM,
			fakeapi.FailsInStream, fakeapi.ErrorInStream, fakeapi.ErrorObject)
	}
	for _, stream := range []bool{true, false} {
		for _, overflow := range ofMessages {
			play("messages", "claude-opus-4-6", overflow, stream)
		}
		for _, overflow := range ofResponses {
			play("responses", "gpt-5", overflow, stream)
		}
	}
	for _, overflow := range ofChat {
		play("chat", "gpt-5", overflow, false)
	}
}

// A model is asked for a summary in the conversation's own dialect, with the client's credential, behind what its cache
// has, and behind thinking that is bound to its place. The provider keeps nothing of it.
func TestSummariesAreAskedForInTheirOwnDialect(t *testing.T) {
	t.Parallel()
	for api, model := range map[string]string{"messages": bindsThinking, "responses": "gpt-5"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			a, _, provider := strict(t, api, model, fakeapi.Options{Key: "sk-client"}, windowOf(32_000),
				func(c *config.Config) {
					c.Summarize.Mode, c.Summarize.Prepare = summarize.LLM, "on"
				})
			a.thinking = `{"type":"adaptive"}`
			a.tells = strings.Repeat("I looked at this part of the shop and found that it is as it should be. ", 30)
			a.work(60)
			asked, thought, seen := 0, 0, 0
			for _, x := range provider.Exchanges() {
				switch {
				case x.Refusal != nil:
					t.Errorf("request %d is refused: %v", x.N, x.Refusal)
				case asksForSummary(x.Body):
					asked++
					thought += strings.Count(string(x.Body), `"signature"`)
					settings := gjson.GetManyBytes(x.Body, "store", "tool_choice", "stream", "prompt_cache_key")
					if got := fmt.Sprint(settings); api == "responses" && got != "[false none  k1]" ||
						x.Usage.Read < x.Tokens/2 {
						t.Errorf("of %d tokens of the question %d were read from the cache; it says %s", x.Tokens,
							x.Usage.Read, got)
					}
				case strings.Contains(string(x.Body), markOf(1)):
					seen++
				}
			}
			if asked == 0 || seen == 0 || thought == 0 && api == "messages" {
				t.Errorf("asked %d times with %d thoughts, and %d requests have the answer; %v", asked, thought, seen,
					a.acted)
			}
		})
	}
}

// A size that is asked for, and a compaction by the provider, are of the body that is sent, and change nothing.
func TestCountsAndCompactionsAreOfWhatIsSent(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/count_tokens", "/input_tokens", "/compact"} {
		api, model, settings := "responses", "gpt-5", `"stream":false,`
		if path == "/count_tokens" {
			api, model, settings = "messages", "claude-opus-4-6", `"max_tokens":4000,"stream":false,`
		}
		a, _, provider := strict(t, api, model, fakeapi.Options{}, windowOf(16_000))
		a.settings = ""
		bare := func(body string) string { return strings.Replace(body, settings, "", 1) }
		for range 24 {
			a.post(path, bare(a.body())) // not sent before: counted as it came, and decided when it is sent
			action := a.turn()
			resp, answer := a.post(path, bare(a.sent))
			if got := resp.Header.Get("x-epitome-action"); resp.StatusCode != 200 || got != action {
				t.Fatalf("%s: %d, %s of a request that was sent with %s: %s", path, resp.StatusCode, got, action, answer)
			}
		}
		all, shorter := provider.Exchanges(), 0
		for i := 0; i+2 < len(all); i += 3 {
			before, sent, counted := string(all[i].Body), bare(string(all[i+1].Body)), string(all[i+2].Body)
			if sent != counted {
				t.Errorf("%s: request %d is counted as %.300s, and was sent as %.300s", path, i, counted, sent)
			}
			if len(before) > len(sent) {
				shorter++
			}
		}
		if shorter == 0 || len(all) != 72 {
			t.Errorf("%s: %d requests, %d shorter; %v", path, len(all), shorter, a.acted)
		}
	}
}

// A conversation that lies with the provider is left there: results are shortened when they come, and nothing else
// changes.
func TestSessionsThatLieWithTheProviderAreShortenedAsTheyCome(t *testing.T) {
	t.Parallel()
	m := fakeapi.ModelOf("gpt-5")
	m.Window = 60_000
	a, _, provider := strict(t, "responses", "gpt-5", fakeapi.Options{Models: map[string]fakeapi.Model{"gpt-5": m}},
		windowOf(8_000))
	a.settings, a.lines = `"store":true,`, 300
	a.work(20)
	if refused := provider.Refusals(); len(refused) > 0 || a.acted["offload"] < 15 ||
		a.acted["offload"]+a.acted["none"] < 20 {
		t.Errorf("refused %v, epitome did %v", refused, a.acted)
	}
	for _, x := range provider.Exchanges()[1:] {
		if n := gjson.GetBytes(x.Body, "input.#").Int(); n != 1 {
			t.Errorf("request %d has %d items", x.N, n)
		}
	}
}

// A client that has the provider compact gets one compaction, and goes on behind it.
func TestClientsMayHaveTheProviderCompact(t *testing.T) {
	t.Parallel()
	a, _, provider := strict(t, "responses", "gpt-5", fakeapi.Options{}, windowOf(32_000))
	a.stream = true
	for range 2 {
		a.work(12)
		resp, answer := a.post("", a.body(`{"type":"compaction_trigger"}`))
		items, _ := outputOf(answer)
		if resp.StatusCode != 200 || len(items) != 1 || gjson.Get(items[0], "type").Str != "compaction" {
			t.Fatalf("%d %.600s", resp.StatusCode, answer)
		}
		a.items = append(a.items[:1:1], items[0])
	}
	for _, x := range provider.Exchanges() {
		ends := strings.HasSuffix(string(x.Body), `{"type":"compaction_trigger"}]}`)
		if asks := strings.Contains(string(x.Body), "compaction_trigger"); x.Refusal != nil || asks != ends {
			t.Errorf("request %d: %v, %.300s", x.N, x.Refusal, x.Body)
		}
	}
}

// What answers say of a model's tokens moves the figures in the headers and the line, outlives the process, and changes
// nothing that was decided.
func TestAnswersTeachHowAModelCounts(t *testing.T) {
	t.Parallel()
	c := chatting(t, 1_000_000)
	ratio := 1.5
	c.count = func(body string) int { return int(ratio * float64(len(body)) / 4) }
	p := run(t, t.TempDir(), c.URL+"/v1", windowOf(60_000))
	c.agent = working(p, "chat", "nobody-1")
	var asked, sent []string
	ask := func(body string) (said float64) {
		t.Helper()
		resp, answer := p.chat(body)
		before, _, _ := strings.Cut(resp.Header.Get("x-epitome-tokens"), ">")
		n, _ := strconv.Atoi(before)
		if c.agent.goOn(answer); resp.StatusCode != 200 {
			t.Fatalf("%s %s", resp.Status, answer)
		}
		return float64(n) / (float64(c.count(body)) / ratio)
	}
	turns := func(n int) (said float64) {
		for range n {
			c.agent.turns++
			asked = append(asked, c.agent.body())
			said = ask(asked[len(asked)-1])
			sent = append(sent, c.last())
		}
		return said
	}
	first := turns(1)
	taught := turns(8)
	if math.Abs(taught/ratio-1) > .1 || math.Abs(first-taught) < .05 {
		t.Errorf("the header says %.2f tokens for one, and then %.2f, want %.2f", first, taught, ratio)
	}
	p.wantLog(`"msg":"exchange".*"ratio":`)
	p.stop()
	p = run(t, p.started.Data, c.URL+"/v1", windowOf(60_000))
	if again := turns(1); math.Abs(again/taught-1) > .05 {
		t.Errorf("after a restart the header says %.2f tokens for one, before %.2f", again, taught)
	}
	for turns(4); len(sent[len(sent)-1]) >= len(asked[len(asked)-1]); turns(4) {
	}
	ratio = 2.4
	turns(8)
	for k, body := range asked {
		if ask(body); c.last() != sent[k] {
			t.Errorf("request %d is sent in another form when the ratio has moved", k)
		}
	}
}
