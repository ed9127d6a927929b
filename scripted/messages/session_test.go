package messages_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"epitome/scripted/messages"
	"epitome/scripted/messages/rules"
)

func TestSessionsGoOnUntilTheyAreEdited(t *testing.T) {
	f := func(model, settings, want string) {
		t.Helper()
		c := newClient(t, messages.Options{}, model)
		c.settings += settings
		c.user(`"Look."`)
		for n := range 3 {
			id := fmt.Sprintf("toolu_%d", n)
			c.server.Next(messages.Turn{Blocks: []messages.Block{messages.Think("hm"), messages.Call(id, "Bash", `{"n": 1e2}`)}})
			if a, status := c.ask(); status != 200 {
				t.Fatalf("%s: request %d is refused: %s", model, n, a.Error.Message)
			}
			c.user(`[{"type":"tool_result","tool_use_id":"` + id + `","content":"abcdefgh"}]`)
		}
		c.history[2] = strings.Replace(c.history[2], "abcdefgh", "gone", 1)
		a, _ := c.ask()
		if !strings.Contains(a.Error.Message, want) || (want == "") != (a.Error.Message == "") {
			t.Errorf("%s: an edited history gets %q, want %q", model, a.Error.Message, want)
		}
	}
	f("claude-opus-5-5", ``, "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.")
	f("claude-opus-5-5", `"thinking":{"type":"adaptive","display":"summarized"},`, "bound to a different conversation")
	f("claude-opus-5-5", `"thinking":{"type":"disabled"},`, "")
	f("claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":1024},`, "")
	f("claude-sonnet-4-5", ``, "")
}

func TestThinkingIsShownAsAsked(t *testing.T) {
	f := func(model, settings, want string) {
		t.Helper()
		c := newClient(t, messages.Options{}, model)
		c.settings += settings
		c.server.Next(messages.Turn{Blocks: []messages.Block{messages.Think("hm"), messages.Text("so")}})
		a, _ := c.user(`"x"`).ask()
		if got := string(a.Content[0]); !strings.HasPrefix(got, want) {
			t.Errorf("%s %s: %s, want %s", model, settings, got, want)
		}
	}
	f("claude-opus-5-5", ``, `{"type":"thinking","thinking":"","signature":"`)
	f("claude-opus-5-5", `"thinking":{"type":"adaptive","display":"summarized"},`, `{"type":"thinking","thinking":"hm"`)
	f("claude-opus-5-5", `"thinking":{"type":"disabled"},`, `{"type":"text","text":"so"}`)
	f("claude-sonnet-4-5", ``, `{"type":"text","text":"so"}`)
	f("claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":1024},`, `{"type":"thinking","thinking":"hm"`)
}

func TestManualModeAlwaysBeginsWithThinking(t *testing.T) {
	c := newClient(t, messages.Options{}, "claude-sonnet-4-5")
	c.settings += `"thinking":{"type":"enabled","budget_tokens":1024},`
	c.server.Next(messages.Turn{Blocks: []messages.Block{messages.Call("t", "Bash", "{}")}}, messages.Say("so"))
	a, _ := c.user(`"x"`).ask()
	if len(a.Content) != 2 || !strings.Contains(string(a.Content[0]), `"type":"thinking"`) {
		t.Errorf("the turn begins with %s", a.Content)
	}
	if a, status := c.user(`[{"type":"tool_result","tool_use_id":"t"}]`).ask(); status != 200 || len(a.Content) != 1 {
		t.Errorf("within the turn: %d %s", status, a.Content)
	}
}

func TestThinkingOfEarlierTurnsIsInputWhereItIsKept(t *testing.T) {
	f := func(model, settings, want string) {
		t.Helper()
		c := newClient(t, messages.Options{}, model)
		c.settings += settings
		c.server.Next(messages.Turn{Blocks: []messages.Block{
			messages.Think(strings.Repeat("hm. ", 100)), messages.Text("so")}})
		c.user(`"x"`).ask()
		if a, _ := c.user(`"y"`).ask(); !strings.HasPrefix(a.usage(), want) {
			t.Errorf("%s: %s, want %s", model, a.usage(), want)
		}
	}
	f("claude-opus-5-5", ``, "115+0+0") // although it is not shown
	f("claude-opus-4-5", `"thinking":{"type":"enabled","budget_tokens":1024},`, "115+0+0")
	f("claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":1024},`, "15+0+0")
}

func TestCountTokensRunsThePrefixCheck(t *testing.T) {
	c := newClient(t, messages.Options{}, "claude-opus-5-5")
	c.server.Next(messages.Turn{Blocks: []messages.Block{messages.Think("hm"), messages.Text("so")}})
	c.user(`"x"`).ask()
	c.path, c.history[0] = "/v1/messages/count_tokens", `{"role":"user","content":"y"}`
	if _, _, got := c.user(`"z"`).post(c.body()); !strings.Contains(string(got), "bound to a different conversation") {
		t.Errorf("got %s", got)
	}
}

func TestDropsAreToldWhereTheyAreAskedFor(t *testing.T) {
	c := newClient(t, messages.Options{}, "claude-opus-5-5")
	c.beta = rules.BindingBeta
	c.settings += `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},`
	c.server.Next(messages.Turn{Blocks: []messages.Block{messages.Think("hm"), messages.Text("so")}})
	if a, _ := c.user(`"x"`).ask(); a.Drops == nil || len(a.Drops) != 0 {
		t.Errorf("nothing is dropped, and told are %v", a.Drops)
	}
	c.history[0] = `{"role":"user","content":"y"}`
	a, status := c.user(`"z"`).ask()
	if got := fmt.Sprint(status, a.Drops); got != "200 [map[path:messages.1.content.0 reason:prefix_binding_mismatch type:thinking_dropped]]" {
		t.Errorf("got %s", got)
	}
	if r := c.server.Received()[1]; r.Dropped != 1 || r.Tokens != 15 {
		t.Errorf("recorded %d dropped, %d tokens", r.Dropped, r.Tokens)
	}
}

func TestACompactionStandsForWhatItReplaced(t *testing.T) {
	c := newClient(t, messages.Options{}, "claude-opus-5-5")
	c.beta = "compact-2026-09-04"
	think := func(text string) messages.Turn {
		return messages.Turn{Blocks: []messages.Block{messages.Think("hm"), messages.Text(text)}}
	}
	c.server.Next(think("one"), messages.Say("All so far."), think("two"))
	c.user(`"x"`).ask()
	head := len(c.history)
	plain := c.settings
	c.settings += `"compaction":{"type":"summarize"},`
	c.history = append(c.history[:head-2:head-2], c.history[head-2:]...)
	a, status := c.user(`"Sum up."`).ask()
	if status != 200 || a.StopReason != "compaction" || len(a.Content) != 1 {
		t.Fatalf("%d %+v", status, a)
	}
	block := c.history[len(c.history)-1]
	c.settings, c.history = plain, append(c.history[:head], `{"role":"user","content":"Sum up."}`)
	c.ask() // thought behind the whole history
	tail := c.history[len(c.history)-1]

	c.history = []string{block, tail}
	if a, status := c.user(`"Go on."`).ask(); status != 200 {
		t.Errorf("the tail behind the compaction: %s", a.Error.Message)
	}
	c.history = []string{`{"role":"user","content":"All so far."}`, tail}
	if a, _ := c.user(`"Go on."`).ask(); !strings.Contains(a.Error.Message, "bound to a different conversation") {
		t.Errorf("the tail behind a text: %q", a.Error.Message)
	}
	c.history = []string{strings.Replace(block, "All so far.", "Nothing.", 1), tail}
	if a, _ := c.user(`"Go on."`).ask(); a.Error.Message != "messages.0.content.0: Invalid `encrypted_content` in `compaction` block" {
		t.Errorf("an altered compaction: %q", a.Error.Message)
	}
}

func TestSignedConversationsGoOn(t *testing.T) {
	s := messages.New(messages.Options{})
	const body = `{"model":"MODEL","max_tokens":4096,SETTINGS"messages":[{"role":"user","content":"x"},
{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"?"},{"type":"tool_use","id":"t","name":"Bash","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"b"}]}]}`
	header := http.Header{"Anthropic-Version": {"1"}}
	f := func(model, settings string) {
		t.Helper()
		made := []byte(strings.NewReplacer("MODEL", model, "SETTINGS", settings).Replace(body))
		if refused := s.Judge(header, made); refused == nil || !strings.Contains(refused.Message, "Invalid `signature`") {
			t.Errorf("%s: unsigned it gets %v", model, refused)
		}
		signed, err := s.Sign(made)
		if err != nil {
			t.Fatal(err)
		}
		if refused := s.Judge(header, signed); refused != nil {
			t.Errorf("%s: signed it gets %v", model, refused)
		}
	}
	f("claude-opus-5-5", ``)
	f("claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":1024},`)
	if _, err := s.Sign([]byte("no")); err == nil {
		t.Error("what is no request is signed")
	}
	if len(s.Received()) != 0 {
		t.Error("what is judged is recorded")
	}
}
