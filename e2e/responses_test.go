//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/e2e/sdktest"
	"epitome/internal/fakeapi/responses"
	"epitome/internal/fakeapi/responses/rules"
	"epitome/internal/fakeapi/scriptedtest"
)

// responsesModel is what the scenarios ask for.
const responsesModel = "gpt-5.5"

// responsesThrough runs everyday scenarios of Responses, and then sessions: those that keep their conversation
// themselves, those of further kinds that p has, and one that lies with the provider.
func responsesThrough(t *testing.T, p program, binary string, more ...string) {
	t.Run("everyday", func(t *testing.T) {
		everydayThrough(t, p, binary, inResponses(everydayResponses(t)), inResponses(everydayResponses(t)))
	})
	for _, kind := range append([]string{"session"}, more...) {
		t.Run(kind, func(t *testing.T) {
			outgrow(t, playing(p, kind), binary, inResponses(watched(t, 64_000)))
		})
	}
	t.Run("provided", func(t *testing.T) { shortenWhatComes(t, playing(p, "provided"), binary) })
}

func playing(p program, kind string) program {
	return program{p.dir, append(slices.Clip(p.argv), kind)}
}

// everydayResponses answers by the user's words. The first that asks for it is sent away.
func everydayResponses(t *testing.T) *responses.Server {
	overloaded := false
	return scriptedtest.StartResponses(t, responses.Options{Otherwise: func(r responses.Received) responses.Turn {
		switch said := string(r.Body); {
		case strings.Contains(said, "Tools.") && !strings.Contains(said, "function_call_output"):
			return responses.Turn{Items: []responses.Item{responses.Think("A tool knows."), responses.Text("I look."),
				responses.Call("", "get_weather", `{"city":"Zürich"}`)}}
		case strings.Contains(said, "Retry.") && !overloaded:
			overloaded = true
			return responses.Turn{Refuse: rules.Overloaded()}
		}
		return responses.Say("12 °C and rain <&>")
	}})
}

// watched has a model that asks for one city after the other, behind a window.
func watched(t *testing.T, window int) *responses.Server {
	model := rules.ModelOf(responsesModel)
	model.Window = window
	asked := 0
	return scriptedtest.StartResponses(t, responses.Options{Models: map[string]rules.Model{responsesModel: model},
		Otherwise: func(r responses.Received) responses.Turn {
			if summary := sdktest.Summary(r.Body); summary != "" {
				return responses.Say(summary)
			}
			if asked++; asked%(rounds+1) == 0 {
				return responses.Say("It rains everywhere.")
			}
			return responses.Turn{Items: []responses.Item{responses.Think(fmt.Sprintf("City %d has not been asked for.", asked)),
				responses.Text(fmt.Sprintf("City %d is next.", asked)),
				responses.Call("", "get_weather", fmt.Sprintf(`{"city":"city_%d"}`, asked))}}
		}})
}

// shortenWhatComes plays a session that lies with the provider twice, without epitome at a window that is large enough
// and through it at one that is not, and holds that nothing but the outputs differs, and those are shorter.
func shortenWhatComes(t *testing.T, p program, binary string) {
	t.Helper()
	large, small := inResponses(watched(t, 1_000_000)), inResponses(watched(t, 200_000))
	want := run(t, p, large.URL)
	if got := run(t, p, sdktest.Serve(t, binary, "--upstream", small.URL)+"/v1"); got != want {
		t.Errorf("the SDK printed, through epitome:\n%s\nwithout:\n%s", got, want)
	}
	asked, seen := large.posted(), small.posted()
	if len(seen) != len(asked) || len(seen) != rounds+1 {
		t.Fatalf("the provider saw %d requests through epitome, %d without, want %d", len(seen), len(asked), rounds+1)
	}
	shorter := 0
	for i := range asked {
		if seen[i].refusal != nil {
			t.Errorf("request %d was refused: %v", i, seen[i].refusal)
		}
		whole, wholeOutputs := withoutOutputs(t, asked[i].body)
		now, outputs := withoutOutputs(t, seen[i].body)
		if now != whole {
			t.Errorf("request %d, through epitome, without its outputs:\n%s\nwithout epitome:\n%s", i, now, whole)
		}
		for k := range outputs {
			if len(outputs[k]) < len(wholeOutputs[k])/2 {
				shorter++
			}
		}
	}
	if shorter != rounds {
		t.Errorf("%d outputs came shortened, want %d", shorter, rounds)
	}
}

// withoutOutputs is a body with nothing in its outputs, and what was in them.
func withoutOutputs(t *testing.T, body []byte) (rest string, outputs []string) {
	t.Helper()
	var request map[string]any
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	input, _ := request["input"].([]any)
	for _, item := range input {
		fields, _ := item.(map[string]any)
		if text, ok := fields["output"].(string); ok {
			outputs = append(outputs, text)
			fields["output"] = ""
		}
	}
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), outputs
}
