package thought_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"epitome/scripted/messages/rules"
	"epitome/scripted/messages/thought"
)

type (
	object = map[string]any
	list   = []any
)

// conversation has three answers with thinking: A and B call tools, C does not.
const conversation = `{"model":"MODEL","max_tokens":4096,"thinking":{"type":"adaptive"},
"system":[{"type":"text","text":"You help."}],
"tools":[{"name":"Bash","input_schema":{"type":"object"}},{"name":"Rare","input_schema":{},"defer_loading":true}],
"messages":[{"role":"user","content":"Look."},
{"role":"assistant","content":[{"type":"thinking","thinking":"A","signature":"?"},{"type":"text","text":"I look."},
{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a b"}]},
{"role":"assistant","content":[{"type":"redacted_thinking","data":"?"},{"type":"tool_use","id":"toolu_2","name":"Bash","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"c"},{"type":"text","text":"Well?"}]},
{"role":"assistant","content":[{"type":"thinking","thinking":"C","signature":"?"},{"type":"text","text":"Found."}]},
{"role":"user","content":"Go on."}]}`

const (
	binding = "claude-fable-5-1"
	loose   = "claude-opus-4-6" // serves manual mode and adaptive thinking, and binds nothing
)

// count is one token for each byte.
func count(text string) int { return len(text) }

// signed is the conversation on a model, with valid signatures.
func signed(t *testing.T, model string) []byte {
	t.Helper()
	body, _, err := thought.Sign([]byte(strings.Replace(conversation, "MODEL", model, 1)), rules.ModelOf, count)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// check judges a body; calls are those whose answers began with thinking.
func check(body []byte, header http.Header, calls ...string) (*thought.Walk, string) {
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("anthropic-version", "2023-06-01")
	q, refused := rules.Read(header, body, false, rules.ModelOf)
	if refused != nil {
		return nil, refused.Message
	}
	w, refused := thought.Check(q, func(call string) bool { return slices.Contains(calls, call) })
	if refused != nil {
		return w, refused.Message
	}
	return w, ""
}

// edit changes a body by value.
func edit(t *testing.T, body []byte, change func(o object, messages list)) []byte {
	t.Helper()
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		t.Fatal(err)
	}
	change(o, o["messages"].(list))
	out, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// content is that of message i.
func content(messages list, i int) list { return messages[i].(object)["content"].(list) }

// drop takes block j out of message i.
func drop(i, j int) func(object, list) {
	return func(_ object, messages list) {
		messages[i].(object)["content"] = slices.Delete(content(messages, i), j, j+1)
	}
}

// put sets a field of block j of message i.
func put(i, j int, name string, value any) func(object, list) {
	return func(_ object, messages list) { content(messages, i)[j].(object)[name] = value }
}

func all(changes ...func(object, list)) func(object, list) {
	return func(o object, messages list) {
		for _, change := range changes {
			change(o, messages)
		}
	}
}

func TestEditsBeforeThinkingAreRefused(t *testing.T) {
	const bound = ". The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. "
	const a, b, c = "messages.1.content.0: Invalid `signature` in `thinking` block" + bound,
		"messages.3.content.0: Invalid `signature` in `redacted_thinking` block" + bound,
		"messages.5.content.0: Invalid `signature` in `thinking` block" + bound
	const before, gap = "The messages before the block differ.", "The thinking block that preceded this one is missing."
	body := signed(t, binding)
	f := func(want string, change func(object, list)) {
		t.Helper()
		if _, got := check(edit(t, body, change), nil); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
	nothing := func(object, list) {}
	f("", nothing)
	f(a+"The `system` prompt differs.", func(o object, _ list) { o["system"] = "You help!" })
	f(a+"The `system` prompt differs.", func(o object, _ list) { delete(o, "system") })
	f(a+"The `tools` differ.", func(o object, _ list) { o["tools"].(list)[0].(object)["description"] = "runs" })
	f(a+"The `tools` differ.", func(o object, _ list) {
		o["tools"] = append(o["tools"].(list), object{"name": "Read", "input_schema": object{}})
	})
	f(a+before, func(_ object, messages list) { messages[0].(object)["content"] = "Look!" })
	f(strings.Replace(a, "1.content", "2.content", 1)+before, func(o object, messages list) {
		o["messages"] = append(list{object{"role": "user", "content": "Hi."}}, messages...)
	})
	f(b+before, put(1, 2, "input", object{"command": "pwd"}))
	f(b+before, put(1, 1, "text", "I see."))
	f(b+before, put(2, 0, "content", "gone"))
	f(b+before, put(2, 0, "is_error", true))
	f(b+before, drop(1, 1))
	f(c+before, put(4, 0, "content", "gone"))
	f(c+before, func(_ object, messages list) {
		messages[4].(object)["content"] = append(content(messages, 4), object{"type": "text", "text": "More."})
	})
	f(c+gap, drop(3, 0))
	f(c+before, all(drop(1, 0), drop(3, 0), put(4, 0, "content", "gone")))
	f("", all(drop(1, 0), drop(3, 0), drop(5, 0), put(4, 0, "content", "gone")))
	f("", func(_ object, messages list) { messages[6].(object)["content"] = "Another way." })
	f("", put(5, 1, "text", "Nothing."))
}

func TestWhatIsNoEditIsAccepted(t *testing.T) {
	body := signed(t, binding)
	f := func(change func(object, list)) {
		t.Helper()
		if _, got := check(edit(t, body, change), nil); got != "" {
			t.Errorf("refused: %s", got)
		}
	}
	f(func(o object, _ list) { o["system"] = "You help." })
	f(func(o object, _ list) { o["system"].(list)[0].(object)["cache_control"] = object{"type": "ephemeral"} })
	f(func(o object, _ list) { o["tools"].(list)[0].(object)["cache_control"] = object{"type": "ephemeral"} })
	f(func(o object, _ list) { o["tools"] = o["tools"].(list)[:1] }) // nobody named the deferred one
	f(func(o object, _ list) { o["max_tokens"], o["output_config"] = 1, object{"effort": "low"} })
	f(func(_ object, messages list) {
		messages[0].(object)["content"] = list{object{"type": "text", "text": "Look."}}
	})
	f(put(2, 0, "content", list{object{"type": "text", "text": "a b", "cache_control": object{"type": "ephemeral"}}}))
	f(put(1, 1, "citations", nil))
	f(drop(1, 0))
	f(all(drop(1, 0), drop(3, 0)))
	f(all(drop(1, 0), drop(3, 0), drop(5, 0)))
	f(drop(5, 0))
	f(all(drop(3, 0), drop(5, 0)))
	f(func(o object, messages list) {
		parts := content(messages, 4)
		split := list{object{"role": "user", "content": parts[:1]}, object{"role": "user", "content": parts[1:]}}
		o["messages"] = slices.Concat(messages[:4], split, messages[5:])
	})
	f(func(o object, messages list) {
		o["messages"] = append(messages, object{"role": "assistant", "content": "x"}, object{"role": "user", "content": "y"})
	})
}

func TestWhatWasLeftOutMayNotComeBack(t *testing.T) {
	body := signed(t, binding)
	without := edit(t, body, func(o object, messages list) {
		all(drop(1, 0), drop(3, 0))(o, messages)
		o["messages"] = messages[:6] // C is thought anew, with nothing before it
	})
	without, _, err := thought.Sign(without, rules.ModelOf, count)
	if err != nil {
		t.Fatal(err)
	}
	goOn := func(o object, messages list) {
		o["messages"] = append(messages, object{"role": "user", "content": "Go on."})
	}
	if _, got := check(edit(t, without, goOn), nil); got != "" {
		t.Errorf("as it was thought it is refused: %s", got)
	}
	var whole object
	if err := json.Unmarshal(body, &whole); err != nil {
		t.Fatal(err)
	}
	back := edit(t, without, func(o object, messages list) {
		goOn(o, messages)
		messages[1] = whole["messages"].(list)[1]
	})
	if _, got := check(back, nil); !strings.Contains(got, "messages.5.content.0: Invalid") || !strings.Contains(got, "preceded this one") {
		t.Errorf("with A put back: %q", got)
	}
}

func TestThinkingIsAcceptedWhereItStoodOnOtherModels(t *testing.T) {
	body := signed(t, loose)
	f := func(want string, change func(object, list)) {
		t.Helper()
		if _, got := check(edit(t, body, change), nil); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("", func(o object, _ list) { o["system"] = "You help!" })
	f("", put(2, 0, "content", "gone"))
	f("", drop(3, 0))
	f("messages.1.content.0: Invalid `signature` in `thinking` block", put(1, 0, "thinking", "A!"))
	f("messages.1.content.0: Invalid `signature` in `thinking` block", put(1, 0, "signature", "Zm9v"))
	f("messages.3.content.0: Invalid data in redacted_thinking block", put(3, 0, "data", "Zm9v"))
	f("messages.1.content.0: Invalid `signature` in `thinking` block", func(_ object, messages list) {
		content(messages, 1)[0].(object)["signature"] = content(messages, 5)[0].(object)["signature"]
	})
}

// withInline has the list's system messages behind the first text, on a model as it is given.
func withInline(t *testing.T, loosely bool, text, more string) string {
	t.Helper()
	modelOf := func(name string) rules.Model {
		m := rules.ModelOf(name)
		m.SystemUnbound = loosely
		return m
	}
	inline := func(o object, messages list) {
		system := list{object{"role": "system", "content": text},
			object{"role": "system", "content": "Now.", "clear_at": "next_user_message"}}
		o["messages"] = slices.Concat(messages[:1], system, messages[1:])
	}
	body, _, err := thought.Sign(edit(t, signed(t, binding), inline), modelOf, count)
	if err != nil {
		t.Fatal(err)
	}
	changed := edit(t, body, func(_ object, messages list) {
		messages[1].(object)["content"] = more
		messages[2].(object)["content"] = "Later."
	})
	q, refused := rules.Read(http.Header{"Anthropic-Version": {"1"}}, changed, false, modelOf)
	if refused != nil {
		t.Fatal(refused)
	}
	if _, refused = thought.Check(q, func(string) bool { return false }); refused != nil {
		return refused.Message
	}
	return ""
}

func TestSystemMessagesOfTheListAreBoundUnlessTheyPass(t *testing.T) {
	if got := withInline(t, false, "Be brief.", "Be brief."); got != "" {
		t.Errorf("only the passing one differs: %q", got)
	}
	if got := withInline(t, false, "Be brief.", "Be long."); !strings.Contains(got, "bound to a different conversation") {
		t.Errorf("the other one differs: %q", got)
	}
	if got := withInline(t, true, "Be brief.", "Be long."); got != "" {
		t.Errorf("on a model that does not bind them: %q", got)
	}
}

func TestDropBlockLeavesOutWhatIsInvalid(t *testing.T) {
	header := http.Header{"Anthropic-Beta": {rules.BindingBeta}}
	body := edit(t, signed(t, binding), func(o object, messages list) {
		o["thinking"].(object)["block_binding"] = object{"prefix_mismatch_behavior": "drop_block"}
		put(2, 0, "content", "gone")(o, messages)
	})
	w, got := check(body, header)
	if got != "" || len(w.Drops) != 2 || w.Drops[0].Path != "messages.3.content.0" ||
		w.Drops[1].Path != "messages.5.content.0" || w.Drops[0].Reason != "prefix_binding_mismatch" {
		t.Errorf("refused %q, dropped %+v", got, w.Drops)
	}
	body = edit(t, body, func(o object, _ list) {
		o["thinking"].(object)["block_binding"] = object{"prefix_mismatch_behavior": "error"}
	})
	if _, got := check(body, header); !strings.HasSuffix(got, `to "drop_block". The messages before the block differ.`) {
		t.Errorf("with error set: %q", got)
	}
}

func TestThinkingOfAnotherModelIsDropped(t *testing.T) {
	body := edit(t, signed(t, binding), func(o object, _ list) { o["model"] = loose })
	if w, got := check(body, nil); got != "" || len(w.Drops) != 3 || w.Drops[0].Reason != "model_binding_mismatch" {
		t.Errorf("refused %q, dropped %+v", got, w.Drops)
	}
}

func TestLayoutOfThinking(t *testing.T) {
	body := signed(t, loose)
	manual := func(o object, _ list) { o["thinking"] = object{"type": "enabled", "budget_tokens": 1024} }
	open := func(o object, messages list) { // the last round is open: it ends in the result of toolu_2
		o["messages"] = messages[:5]
		drop(4, 1)(o, messages)
	}
	f := func(want string, change func(object, list)) {
		t.Helper()
		_, got := check(edit(t, body, change), nil, "toolu_1", "toolu_2")
		if !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	const expected = ".type: Expected `thinking` or `redacted_thinking`, but found `"
	f("", open)
	f("", all(open, manual))
	f("", all(open, drop(3, 0)))
	f("messages.1.content.0"+expected+"text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding", all(open, manual, drop(1, 0)))
	f("messages.3.content.0"+expected+"tool_use`. When", all(open, manual, drop(3, 0)))
	f("", all(manual, drop(1, 0), drop(3, 0), drop(5, 0)))
	f("messages.1.content.0: If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `text`.",
		all(manual, func(_ object, messages list) { slices.Reverse(content(messages, 1)[:2]) }))
	f("messages.5: The final block in an assistant message cannot be `thinking`.", drop(5, 1))

	const modified = "messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."
	f(modified, all(open, func(_ object, messages list) { // one more than there was
		messages[3].(object)["content"] = append(list{content(messages, 1)[0]}, content(messages, 3)...)
	}))
}

func TestOtherMakersWantThinkingWithEachCall(t *testing.T) {
	kimi := rules.ModelOf("kimi-k3")
	kimi.WantsThinking = true
	modelOf := func(string) rules.Model { return kimi }
	body, _, err := thought.Sign([]byte(strings.Replace(conversation, "MODEL", "kimi-k3", 1)), modelOf, count)
	if err != nil {
		t.Fatal(err)
	}
	f := func(want string, change func(object, list)) {
		t.Helper()
		q, refused := rules.Read(http.Header{"Anthropic-Version": {"1"}}, edit(t, body, change), false, modelOf)
		if refused != nil {
			t.Fatal(refused)
		}
		got := ""
		if _, refused := thought.Check(q, func(string) bool { return false }); refused != nil {
			got = refused.Message
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f("", func(object, list) {})
	f("", drop(5, 0))
	f("thinking is enabled but reasoning_content is missing in assistant tool call message at index 1", drop(1, 0))
	f("", func(o object, messages list) {
		drop(1, 0)(o, messages)
		o["thinking"] = object{"type": "disabled"}
	})
}

// TestAnyEditBeforeThinkingIsRefused changes one text at random in what stands before the last thinking.
func TestAnyEditBeforeThinkingIsRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var messages list
		text := func() string { return fmt.Sprintf("text %d", random.IntN(9)) }
		for turn := range 2 + random.IntN(4) {
			id := fmt.Sprintf("toolu_%d", turn)
			messages = append(messages, object{"role": "user", "content": text()},
				object{"role": "assistant", "content": list{object{"type": "thinking", "thinking": "t", "signature": "?"},
					object{"type": "text", "text": text()},
					object{"type": "tool_use", "id": id, "name": "Bash", "input": object{"a": text()}}}},
				object{"role": "user", "content": list{
					object{"type": "tool_result", "tool_use_id": id, "content": text()}}})
		}
		messages = append(messages, object{"role": "assistant", "content": list{
			object{"type": "thinking", "thinking": "t", "signature": "?"}, object{"type": "text", "text": "end"}}},
			object{"role": "user", "content": "go on"})
		raw, err := json.Marshal(object{"model": binding, "max_tokens": 9, "system": "text 0", "messages": messages,
			"tools": list{object{"name": "Bash", "description": "text 0", "input_schema": object{}}}})
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := thought.Sign(raw, rules.ModelOf, count)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := check(body, nil); got != "" {
			t.Fatalf("%d: the signed conversation is refused: %s", n, got)
		}
		pieces := strings.Split(string(body), `"text `)
		k := 1 + random.IntN(len(pieces)-1)
		pieces[k] = "x" + pieces[k]
		if _, got := check([]byte(strings.Join(pieces, `"text `)), nil); !strings.Contains(got, "bound to a different conversation") {
			t.Fatalf("%d: with edit %d of %d: %q", n, k, len(pieces), got)
		}
	}
}
