package sdk_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"epitome/scripted/messages"
	"epitome/scripted/messages/rules"
	"epitome/scripted/scriptedtest"
	"epitome/sdk/sdktest"
)

// messagesThrough runs the Anthropic SDK's everyday scenarios, and then its sessions.
func messagesThrough(t *testing.T, p program, binary string) {
	t.Run("everyday", func(t *testing.T) { sameMessagesThrough(t, p, binary) })
	t.Run("sessions", func(t *testing.T) {
		outgrow(t, program{p.dir, append(slices.Clip(p.argv), "session")}, binary)
	})
}

// sameMessagesThrough runs p against the provider and then through the proxy, and compares both of p's sides.
func sameMessagesThrough(t *testing.T, p program, binary string) {
	direct, through := everyday(t), everyday(t)
	proxy := sdktest.Serve(t, binary, "--upstream", through.URL())
	want := run(t, p, direct.URL())
	if n := strings.Count(want, `"ok":`); n != 5 || len(direct.Received()) != 7 {
		t.Fatalf("without epitome %d scenarios passed with %d requests, want 5 with 7:\n%s", n, len(direct.Received()), want)
	}
	if got := run(t, p, proxy); got != want {
		t.Errorf("the SDK printed, through epitome:\n%s\nwithout:\n%s", got, want)
	}
	asked, seen := posted(direct), posted(through)
	if len(seen) != len(asked) {
		t.Fatalf("the provider saw %d requests through epitome, %d without", len(seen), len(asked))
	}
	for i := range asked {
		if got, want := onWire(seen[i]), onWire(asked[i]); got != want {
			t.Errorf("request %d, through epitome:\n%s\nwithout:\n%s", i, got, want)
		}
	}
}

// posted are the requests but for those by which epitome itself asks how large a window is.
func posted(provider *messages.Server) []messages.Received {
	return slices.DeleteFunc(provider.Received(), func(r messages.Received) bool { return r.Method != http.MethodPost })
}

// onWire is a request as the provider got it, without what is of the single connection.
func onWire(r messages.Received) string {
	var head bytes.Buffer
	_ = r.Header.WriteSubset(&head, map[string]bool{"Connection": true, "Keep-Alive": true}) // sorted
	return fmt.Sprintf("%s %s\n%s\n%s", r.Method, r.Target, &head, r.Body)
}

// everyday answers by the user's words. The first that asks for it is sent away.
func everyday(t *testing.T) *messages.Server {
	overloaded := false
	return scriptedtest.StartMessages(t, messages.Options{Otherwise: func(r messages.Received) messages.Turn {
		switch said := string(r.Body); {
		case strings.Contains(said, "Tools.") && !strings.Contains(said, "tool_result"):
			return messages.Turn{Blocks: []messages.Block{messages.Text("I look."),
				messages.Call("", "get_weather", `{"city":"Zürich"}`)}}
		case strings.Contains(said, "Retry.") && !overloaded:
			overloaded = true
			return messages.Turn{Refuse: rules.Overloaded()}
		}
		return messages.Say("12 °C and rain <&>")
	}})
}

// rounds is how often a session calls its tool. A page has some 5 000 tokens, so that most of it does not fit.
const rounds = 30

// outgrow plays a session beyond what the window holds, once in whole answers and once in streams.
func outgrow(t *testing.T, p program, binary string) {
	model := rules.ModelOf("claude-sonnet-4-5")
	model.Window = 64_000
	provider := scriptedtest.StartMessages(t, messages.Options{
		Models:    map[string]rules.Model{"claude-sonnet-4-5": model},
		Otherwise: watchWeather(),
	})
	out := run(t, p, sdktest.Serve(t, binary, "--upstream", provider.URL()))
	if n := strings.Count(out, fmt.Sprintf(`"rounds":%d`, rounds+1)); n != 2 {
		t.Errorf("%d sessions of two came to their end:\n%s", n, out)
	}
	answered, refused := 0, 0
	for _, r := range posted(provider) {
		switch {
		case r.Refusal == nil:
			answered++
		case strings.HasPrefix(r.Refusal.Message, "prompt is too long"):
			refused++
		default:
			t.Errorf("the provider refused a request: %v", r.Refusal)
		}
	}
	if answered < 2*(rounds+1) || refused > 1 {
		t.Errorf("%d requests were answered and %d were too long, want %d and at most one, by which the window is learned",
			answered, refused, 2*(rounds+1))
	}
}

// watchWeather is the model of sessions: it asks for one city after the other.
func watchWeather() func(messages.Received) messages.Turn {
	asked := 0
	return func(r messages.Received) messages.Turn {
		if summary := sdktest.Summary(r.Body); summary != "" {
			return messages.Say(summary)
		}
		if asked++; asked%(rounds+1) == 0 {
			return messages.Say("It rains everywhere.")
		}
		return messages.Turn{Blocks: []messages.Block{messages.Text(fmt.Sprintf("City %d is next.", asked)),
			messages.Call("", "get_weather", fmt.Sprintf(`{"city":"city_%d"}`, asked))}}
	}
}
