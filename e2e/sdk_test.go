//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"epitome/internal/fakeapi"
)

// The official OpenAI and Anthropic SDKs and the OpenAI Agents SDK: an SDK prints the same, and the provider sees the
// same bytes, with epitome in between as without it; and a session that outgrows the window goes on to its end.

// rounds is how often a session calls its tool. A result has some 5,000 tokens, so that most of it does not fit.
const rounds = 30

// sdk runs a script of an SDK's scenarios against a base URL, and returns what it printed.
func sdk(t *testing.T, base, script string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", append([]string{script}, args...)...)
	cmd.Dir, cmd.WaitDelay = install(t, libraries), time.Minute
	cmd.Env = append(environ(), "OPENAI_BASE_URL="+base, "OPENAI_API_KEY=sk-test",
		"ANTHROPIC_BASE_URL="+base, "ANTHROPIC_API_KEY=sk-ant-test")
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s with %s: %v\n%s%s", script, base, err, &out, &complaint)
	}
	return out.String()
}

// cityWatcher is a model that asks for the weather of one city after the other.
func cityWatcher(model string, window int) fakeapi.Options {
	m := fakeapi.ModelOf(model)
	m.Window = window
	asked := 0
	return fakeapi.Options{Models: map[string]fakeapi.Model{model: m}, Answer: func(x fakeapi.Exchange) []fakeapi.Part {
		if text := fakeapi.Summary(x.Body); text != "" {
			return []fakeapi.Part{fakeapi.Text(text)}
		}
		if asked++; asked%(rounds+1) == 0 {
			return []fakeapi.Part{fakeapi.Text("It rains everywhere.")}
		}
		return []fakeapi.Part{fakeapi.Think(fmt.Sprintf("City %d is missing.", asked)),
			fakeapi.Text(fmt.Sprintf("City %d is next.", asked)),
			fakeapi.Call("", "get_weather", fmt.Sprintf(`{"city":"city_%d"}`, asked))}
	}}
}

// everyday is a model that answers by the user's words. The provider sends away the first request that asks for it.
func everyday() fakeapi.Options {
	refused := false
	return fakeapi.Options{
		Refuse: func(x fakeapi.Exchange) *fakeapi.Refusal {
			if refused || !bytes.Contains(x.Body, []byte("Retry.")) {
				return nil
			}
			refused = true
			return fakeapi.Overloaded()
		},
		Answer: func(x fakeapi.Exchange) []fakeapi.Part {
			said := string(x.Body)
			answered := strings.Contains(said, "tool_result") || strings.Contains(said, "function_call_output") ||
				strings.Contains(said, "tool_call_id")
			if strings.Contains(said, "Tools.") && !answered {
				return []fakeapi.Part{fakeapi.Think("A tool knows."), fakeapi.Text("I look."),
					fakeapi.Call("", "get_weather", `{"city":"Zürich"}`)}
			}
			return []fakeapi.Part{fakeapi.Text("12 °C and rain <&>")}
		},
	}
}

// wire is a request without what belongs to the single connection.
func wire(x fakeapi.Exchange) string {
	var head bytes.Buffer
	_ = x.Header.WriteSubset(&head, map[string]bool{"Connection": true, "Keep-Alive": true}) // sorted
	return fmt.Sprintf("%s %s\n%s\n%s", x.Method, x.Target, &head, x.Body)
}

func TestSDKs(t *testing.T) {
	for _, api := range []struct {
		script, path, model string
		sessions            []string
	}{
		{"chat.mjs", "/v1", "gpt-5.5", []string{"session"}},
		{"messages.mjs", "", "claude-sonnet-4-5", []string{"session"}},
		{"responses.mjs", "/v1", "gpt-5.5", []string{"session", "agents"}},
	} {
		t.Run(api.script, func(t *testing.T) {
			direct, through := fakeapi.StartProvider(t, everyday()), fakeapi.StartProvider(t, everyday())
			want := sdk(t, direct.URL+api.path, api.script)
			proxy := serve(t, "--upstream", through.URL+api.path) + api.path
			if got := sdk(t, proxy, api.script); got != want || strings.Count(want, `"ok":`) < 5 {
				t.Errorf("the SDK printed, through epitome:\n%s\nwithout:\n%s", got, want)
			}
			asked, seen := posts(direct), posts(through)
			if !slices.EqualFunc(asked, seen, func(a, b fakeapi.Exchange) bool { return wire(a) == wire(b) }) {
				t.Errorf("the provider saw, through epitome:\n%v\nwithout:\n%v", seen, asked)
			}
			for _, kind := range api.sessions {
				t.Run(kind, func(t *testing.T) {
					outgrow(t, api.script, kind, api.path, cityWatcher(api.model, 64_000))
				})
			}
		})
	}
	t.Run("provided", shortenWhatComes)
}

// outgrow plays two sessions beyond the window, one in whole answers and one in streams.
func outgrow(t *testing.T, script, kind, path string, o fakeapi.Options) {
	provider := fakeapi.StartProvider(t, o)
	out := sdk(t, serve(t, "--upstream", provider.URL+path)+path, script, kind)
	if n := strings.Count(out, fmt.Sprintf(`"rounds":%d`, rounds+1)); n != 2 {
		t.Errorf("%d sessions of two came to their end:\n%s", n, out)
	}
	tooLong := 0
	for _, r := range provider.Refusals() {
		if tooLong++; !r.TooLong() {
			t.Errorf("the provider refused a request: %v", r)
		}
	}
	if tooLong > 1 {
		t.Errorf("%d requests were too long, want at most one, by which the window is learned", tooLong)
	}
}

// shortenWhatComes plays a session that the provider keeps, once without epitome at a window that is large enough and
// once through it at one that is not: nothing but the outputs differs, and those are shorter.
func shortenWhatComes(t *testing.T) {
	large := fakeapi.StartProvider(t, cityWatcher("gpt-5.5", 1_000_000))
	small := fakeapi.StartProvider(t, cityWatcher("gpt-5.5", 200_000))
	want := sdk(t, large.URL+"/v1", "responses.mjs", "provided")
	if got := sdk(t, serve(t, "--upstream", small.URL+"/v1")+"/v1", "responses.mjs", "provided"); got != want {
		t.Errorf("the SDK printed, through epitome:\n%s\nwithout:\n%s", got, want)
	}
	asked, seen := posts(large), posts(small)
	if len(seen) != len(asked) || len(seen) != rounds+1 || len(small.Refusals()) > 0 {
		t.Fatalf("the provider saw %d requests through epitome, %d without, and refused %v",
			len(seen), len(asked), small.Refusals())
	}
	shorter := 0
	for i := range asked {
		whole, sent := string(asked[i].Body), string(seen[i].Body)
		output, now := gjson.Get(whole, "input.0.output").Raw, gjson.Get(sent, "input.0.output").Raw
		if strings.Replace(whole, output, now, 1) != sent {
			t.Errorf("request %d is sent as\n%s\nwithout epitome\n%s", i, sent, whole)
		}
		if len(now) < len(output)/2 {
			shorter++
		}
	}
	if shorter != rounds {
		t.Errorf("%d outputs came shortened, want %d", shorter, rounds)
	}
}

// SDKs that leave compactions to their provider print the same with any provider behind epitome as with one that
// compacts itself, and that one gets the same bytes.
func TestSDKsCompact(t *testing.T) {
	start := func(how fakeapi.Compaction) *fakeapi.Provider {
		return fakeapi.StartProvider(t, fakeapi.Options{Answer: teller, Compaction: how})
	}
	direct := start(fakeapi.Compacts)
	want := sdk(t, direct.URL+"/v1", "compaction.mjs")
	t.Log(want)
	if n := strings.Count(want, `"ok":`); n != 6 || len(direct.Refusals()) > 0 {
		t.Fatalf("%d scenarios of 6 work without epitome:\n%s", n, want)
	}
	f := func(name string, how fakeapi.Compaction) {
		t.Run(name, func(t *testing.T) {
			p := start(how)
			if got := sdk(t, serve(t, "--upstream", p.URL+"/v1")+"/v1", "compaction.mjs"); got != want {
				t.Errorf("the SDK printed:\n%s\nwant:\n%s", got, want)
			}
			if how == fakeapi.Compacts {
				same := func(a, b fakeapi.Exchange) bool { return wire(a) == wire(b) }
				if !slices.EqualFunc(posts(direct), posts(p), same) {
					t.Error("the provider did not get the same requests as without epitome")
				}
				return
			}
			judgeKnowing(t, p)
			for _, x := range posts(p) {
				if bytes.Contains(x.Body, []byte("Be brief.")) && x.Tokens > 6000 && fakeapi.Summary(x.Body) == "" {
					t.Errorf("request %d has %d tokens, more than the threshold that the client has named", x.N, x.Tokens)
				}
			}
		})
	}
	f("compacted", fakeapi.Compacts)
	f("refused", fakeapi.RefusesCompaction)
	f("ignored", fakeapi.IgnoresCompaction)
}
