//go:build e2e

package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/e2e/sdktest"
	"epitome/internal/fakeapi/messages"
	"epitome/internal/fakeapi/messages/rules"
	"epitome/internal/fakeapi/scriptedtest"
)

// messagesThrough runs the Anthropic SDK's everyday scenarios, and then its sessions.
func messagesThrough(t *testing.T, p program, binary string) {
	t.Run("everyday", func(t *testing.T) {
		everydayThrough(t, p, binary, inMessages(everydayMessages(t)), inMessages(everydayMessages(t)))
	})
	t.Run("sessions", func(t *testing.T) {
		model := rules.ModelOf("claude-sonnet-4-5")
		model.Window = 64_000
		provider := scriptedtest.StartMessages(t, messages.Options{
			Models:    map[string]rules.Model{"claude-sonnet-4-5": model},
			Otherwise: watchWeather(),
		})
		outgrow(t, program{p.dir, append(slices.Clip(p.argv), "session")}, binary, inMessages(provider))
	})
}

// everydayMessages answers by the user's words. The first that asks for it is sent away.
func everydayMessages(t *testing.T) *messages.Server {
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
