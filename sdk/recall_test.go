package sdk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"epitome/scripted/messages"
	"epitome/scripted/responses"
	"epitome/scripted/scriptedtest"
	"epitome/sdk/sdktest"
)

// A loop over an SDK has no tool by which it could read what epitome has taken out, or none at all. Its model calls
// epitome's own, and the SDK gets one answer.

// pages is how many cities the model of such a loop asks for, each with a page of some 5 000 tokens: the first ones are
// cleared in a window of that many tokens. Where the user tells of them, the first turns become a summary.
const (
	pages  = 14
	window = 32_000
)

// recaller is the model of such a loop, whatever its API.
type recaller struct {
	t     *testing.T
	read  []string // names of artifacts that it has called for
	asked int      // pages
}

// move is what the model says in one round. tool is empty if it calls none.
type move struct{ text, tool, input string }

var (
	cited    = regexp.MustCompile(`artifact ([a-z2-7]{26})`) // an artifact that a text names
	readHour = regexp.MustCompile(`\d+: *(hour 107: the sky over city_1 [a-z ,]+)`)
)

// next is what the model does with a request. said is the last thing that it was told: by the user, or as a result.
func (m *recaller) next(body []byte, said string) move {
	switch {
	case strings.Contains(said, "What was hour 107"):
		return m.recalls(body)
	case strings.Contains(said, "Is that all?"):
		return move{text: "That is all."}
	case strings.Contains(said, "Note this."), strings.Contains(said, "Hello."):
		return move{text: "I have seen it."}
	}
	if found := readHour.FindStringSubmatch(said); found != nil {
		return move{text: "It says: " + found[1] + "."}
	}
	if m.asked++; m.asked%(pages+1) == 0 {
		return move{text: "I have seen them all."}
	}
	return move{text: fmt.Sprintf("City %d is next.", m.asked), tool: "get_weather",
		input: fmt.Sprintf(`{"city":"city_%d"}`, m.asked%(pages+1))}
}

// recalls reads what was cleared of the first city, which is the first artifact that the request names.
func (m *recaller) recalls(body []byte) move {
	if bytes.Count(body, []byte("the sky over city_1 ")) > 3 || !bytes.Contains(body, []byte("epitome's tool recall")) {
		m.t.Errorf("%d lines of the page are still there, or the tool is not named: %.3000s",
			bytes.Count(body, []byte("the sky over city_1 ")), body)
	}
	name := cited.FindSubmatch(body)
	if name == nil {
		m.t.Errorf("no artifact is named in %.3000s", body)
		return move{text: "I do not know."}
	}
	m.read = append(m.read, string(name[1]))
	return move{text: "Let me look.", tool: "epitome_recall", input: fmt.Sprintf(`{"artifact":%q,"grep":"hour 107: the sky over city_1"}`, name[1])}
}

// readCleared has loops without tools read what was cleared: in each API, in whole answers and in streams.
func readCleared(t *testing.T, binary, dir string) {
	t.Run("chat", func(t *testing.T) {
		m := &recaller{t: t}
		recallThrough(t, m, binary, dir, "chat", "messages", newCompleter(t, m))
	})
	t.Run("messages", func(t *testing.T) {
		m := &recaller{t: t}
		server := scriptedtest.StartMessages(t, messages.Options{Otherwise: func(r messages.Received) messages.Turn {
			move := m.next(r.Body, lastSaid(t, r.Body, "messages"))
			turn := messages.Say(move.text)
			if move.tool != "" {
				turn.Blocks = append(turn.Blocks, messages.Call("", move.tool, move.input))
			}
			return turn
		}})
		recallThrough(t, m, binary, dir, "messages", "messages", inMessages(server))
	})
	t.Run("responses", func(t *testing.T) {
		m := &recaller{t: t}
		says := func(r responses.Received) responses.Turn {
			move := m.next(r.Body, lastSaid(t, r.Body, "input"))
			turn := responses.Turn{Items: []responses.Item{responses.Think("What is next?"), responses.Text(move.text)}}
			if move.tool != "" {
				turn.Items = append(turn.Items, responses.Call("", move.tool, move.input))
			}
			return turn
		}
		server := scriptedtest.StartResponses(t, responses.Options{Otherwise: says})
		recallThrough(t, m, binary, dir, "responses", "input", inResponses(server))
	})
}

// lastSaid is the last of a list of messages or items, as JSON.
func lastSaid(t *testing.T, body []byte, list string) string {
	all := listOf(t, body, list)
	return string(all[len(all)-1])
}

func listOf(t *testing.T, body []byte, list string) (all []json.RawMessage) {
	t.Helper()
	var request map[string]json.RawMessage
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(request[list], &all); err != nil || len(all) == 0 {
		t.Fatalf("%v: %s", err, body)
	}
	return all
}

// recallThrough plays the loops through epitome, and holds what the SDK got and what the provider was sent.
func recallThrough(t *testing.T, m *recaller, binary, dir, api, list string, provider server) {
	t.Helper()
	data := t.TempDir()
	file := filepath.Join(data, "config.toml")
	settings := fmt.Sprintf("[offload]\nasides = true\n[window]\nmodels = { \"*\" = %d }\n", window)
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	base := sdktest.Serve(t, binary, "--config", file, "--upstream", provider.URL, "--data", data)
	out := run(t, program{dir: dir, argv: []string{"node", "recall.mjs", api}}, base+provider.path())
	const want = "Let me look.\n\nIt says: hour 107: the sky over city_1 is stormy, with a steady wind from the northern hills."
	loops := 0
	for line := range strings.Lines(out) {
		var got struct {
			OK           string
			Names, Tools []string
			Asked        []struct {
				Text, End string
				Tokens    int
			}
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || len(got.Asked) != 3 {
			t.Fatalf("%v: %s", err, line)
		}
		loops++
		if got.Asked[1].Text != want || got.Asked[2].Text != "That is all." || got.Asked[1].End != got.Asked[2].End ||
			got.Asked[1].Tokens < got.Asked[2].Tokens*3/2 {
			t.Errorf("the SDK got %s", line)
		}
		own := ""
		if got.OK == "session" || got.OK == "streamed" {
			own = "get_weather"
		}
		if strings.Join(got.Names, " ") != own || strings.Contains(strings.Join(got.Tools, " "), "epitome") {
			t.Errorf("the SDK saw tools: %s", line)
		}
	}
	if loops != 4 || len(m.read) != 4 {
		t.Errorf("%d loops came to their end, and %d artifacts were called for", loops, len(m.read))
	}
	goesOnSoundly(t, provider, list)
}

// goesOnSoundly holds that nothing was refused, that each request has epitome's tool last, and that what comes behind a
// call of it begins with all that was sent before, to the byte.
func goesOnSoundly(t *testing.T, provider server, list string) {
	t.Helper()
	var before []json.RawMessage
	extended := 0
	for i, r := range provider.posted() {
		if r.refusal != nil {
			t.Fatalf("the provider refused request %d: %v", i, r.refusal)
		}
		tools := listOf(t, r.body, "tools")
		if !bytes.Contains(tools[len(tools)-1], []byte(`"epitome_recall"`)) || len(tools) > 2 {
			t.Errorf("request %d has the tools %s", i, tools)
		}
		now := listOf(t, r.body, list)
		if last := now[len(now)-1]; readHour.Match(last) || bytes.Contains(last, []byte("Is that all?")) {
			extended++
			for n := range before {
				if n >= len(now) || !bytes.Equal(before[n], now[n]) {
					t.Fatalf("request %d does not go on from the one before it: %d was %s", i, n, before[n])
				}
			}
		}
		before = now
	}
	if extended != 8 {
		t.Errorf("%d requests went on behind a call, want 8", extended)
	}
}
