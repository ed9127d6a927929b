package responses

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/internal/need"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

func read(body string) (*conversation.Request, error) { return Dialect{}.Read([]byte(body), nil) }

func mustRead(tb testing.TB, entries ...string) *conversation.Request {
	tb.Helper()
	r, err := read(bodyOf(entries...))
	if err != nil {
		tb.Fatalf("%.200q: %v", entries, err)
	}
	return r
}

func bodyOf(entries ...string) string {
	return `{"model":"gpt-5.6","input":[` + strings.Join(entries, ",") + `]}`
}

// told is what was read of each item, a line for each.
func told(r *conversation.Request) string {
	var all []string
	for i := range r.Items {
		it := &r.Items[i]
		line := fmt.Sprintf("%s %s", it.Role, it.Content.Of(r.Body))
		if it.Name != "" {
			line += " of " + it.Name
		}
		if it.Answers != "" {
			line += " answers " + it.Answers
		}
		for _, c := range it.Calls {
			line += fmt.Sprintf(" call %s %s %s", c.ID, c.Name, c.Arguments.Of(r.Body))
		}
		if !it.Thoughts.Empty() {
			line += fmt.Sprintf(" thought %s", it.Thoughts.Of(r.Body))
		}
		for _, flag := range []struct {
			is   bool
			name string
		}{{it.Begins, "begins"}, {it.Pinned, "pinned"}, {it.Locked, "locked"}, {it.Compacts, "compacts"}, {it.Opaque, "sealed"},
			{it.Verdict == conversation.WentWell, "well"}, {it.Verdict == conversation.WentWrong, "wrong"}} {
			if flag.is {
				line += " " + flag.name
			}
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func TestRequestIsReadAsSpans(t *testing.T) {
	body := ` { "stream":true, "input" : [
		{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},
		{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:x"}]},
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"content":null,"encrypted_content":"gAAA"},
		{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"I will","annotations":[]}]},
		{"type":"function_call","id":"fc_1","call_id":"1","name":"read","arguments":"{\"path\":\"a\"}"} ,
		{"type":"custom_tool_call","call_id":"2","name":"apply_patch","input":"*** x"},
		{"type":"custom_tool_call_output","call_id":"2","output":[{"type":"input_text","text":"r2"}]},
		{"output":"r1","call_id":"1","type":"function_call_output"},
		{"type":"message","role":"developer","content":"by the way"},
		{"role":"assistant","content":"done"} ], "instructions":"be good", "model" : "gpt-\u0035",
		"max_output_tokens":100,"tools":[{"x":1}] } `
	r, err := read(body)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`system [{"type":"input_text","text":"rules"}]`,
		`user [{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:x"}]`,
		`assistant [{"type":"output_text","text":"I will","annotations":[]}] call 1 read "{\"path\":\"a\"}" call 2 apply_patch "*** x" thought "hm" begins sealed`,
		`tool [{"type":"input_text","text":"r2"}] answers 2`, `tool "r1" answers 1`,
		`system "by the way"`, `assistant "done" begins`,
	}, "\n")
	if got := told(r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r.Model != "gpt-5" || !r.Stream || r.MaxOutput != 100 || r.Head != 1 || string(r.Tools.Of(r.Body)) != `[{"x":1}]` ||
		string(r.Instructions.Of(r.Body)) != `"be good"` {
		t.Errorf("got %q %v %d %d %q %q", r.Model, r.Stream, r.MaxOutput, r.Head, r.Tools.Of(r.Body), r.Instructions.Of(r.Body))
	}
	// what the last answer says may not be all of it yet
	if got, want := fmt.Sprint(r.Groups(), r.Turns(), r.Decidable()), "[{1 2} {2 5} {5 6} {6 7}] [1] 4"; got != want {
		t.Errorf("groups, turns and what can be decided are %s, want %s", got, want)
	}
}

func TestEntriesAreReadByWhatTheyAre(t *testing.T) {
	f := func(want string, entries ...string) {
		t.Helper()
		if got := told(mustRead(t, entries...)); got != want {
			t.Errorf("%s\nis read as\n%s\nwant\n%s", entries, got, want)
		}
	}
	call := func(id string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"x","arguments":"{}"}`
	}
	out := func(id string) string {
		return `{"type":"function_call_output","call_id":"` + id + `","output":"r"}`
	}
	const called = `assistant  call 1 x "{}" begins`
	f(`user "x"`, `{"role":"user","content":"x"}`)
	f(`system {"type":"additional_tools","role":"developer","tools":[]} pinned locked`, `{"type":"additional_tools","role":"developer","tools":[]}`)
	f(called+"\ntool \"r\" answers 1", call("1"), out("1"))
	// a status may say how the call ended
	patched := strings.Replace(out("1"), "function_call", "apply_patch_call", 1)
	f(called+"\ntool \"r\" answers 1 wrong", call("1"), strings.Replace(out("1"), "{", `{"status":"incomplete",`, 1))
	f(called+"\ntool \"r\" answers 1", call("1"), strings.Replace(out("1"), "{", `{"status":"completed",`, 1))
	f(called+"\ntool \"r\" answers 1 wrong", call("1"), strings.Replace(patched, "{", `{"status":"failed",`, 1))
	f(called+"\ntool \"r\" answers 1 well", call("1"), strings.Replace(patched, "{", `{"status":"completed",`, 1))
	// a name is told with its space
	f(`assistant  call 1 mcp__a.x "{}" begins`, `{"type":"function_call","call_id":"1","namespace":"mcp__a","name":"x","arguments":"{}"}`)
	// an output that nobody called for is no orphan
	f(`tool "r" of monitor`, `{"type":"function_call_output","name":"monitor","output":"r"}`)
	f(`assistant  begins`, `{"type":"reasoning","summary":[]}`)
	f(`assistant "a" begins`, `{"role":"assistant","content":"a"}`)
	two := `{"role":"assistant","content":"a"},{"role":"assistant","content":"b"}`
	f(`assistant `+two+` begins`, two)

	shell := `{"type":"local_shell_call","id":"ls_1","call_id":"1","action":{"command":["ls"]}}`
	answer := `{"type":"local_shell_call_output","id":"ls_1","output":"\"a\""}`
	f(`assistant  call 1 local_shell {"command":["ls"]} begins locked`+"\ntool "+answer+" answers 1", shell, answer)
	answer = strings.Replace(answer, "ls_1", "1", 1)
	f(`assistant  call 1 local_shell {"command":["ls"]} begins locked`+"\ntool "+answer+" answers 1", shell, answer)
	empty := `{"type":"local_shell_call_output","id":"1"}` // there is no place for another text
	f(`assistant  call 1 local_shell {"command":["ls"]} begins locked`+"\ntool "+empty+" answers 1 locked", shell, empty)
	screen := `{"type":"computer_call_output","call_id":"1","output":{"type":"computer_screenshot","image_url":"u"}}`
	f(called+"\ntool "+screen+" answers 1 locked", call("1"), screen)

	// what runs at the provider is call and result in one
	search := `{"type":"web_search_call","id":"ws_1","status":"completed"}`
	f(`assistant `+search+` begins locked`, search)
	f(`assistant `+search+`,`+call("1")+` call 1 x "{}" begins locked`, search, call("1"))

	// what a program calls belongs to the program's answer
	program, inner := `{"type":"program","call_id":"p","code":"secret"}`, `{"type":"function_call","call_id":"1","name":"x","arguments":"{}","caller":{"type":"program","caller_id":"p"}}`
	ends := `{"type":"program_output","call_id":"p","result":"x"}`
	f("assistant  call p program  begins locked sealed\ntool \"r\" answers 0\nassistant  call 1 x \"{}\"\ntool \"r\" answers 1\ntool "+ends+" answers p locked",
		program, out("0"), inner, out("1"), ends)
}

func TestWhatNobodyKnowsStaysWithAllThatMayBelongToIt(t *testing.T) {
	f := func(want string, entries ...string) {
		t.Helper()
		r, got := mustRead(t, entries...), ""
		for i := range r.Items {
			got += r.Items[i].Role.String()[:1]
			if r.Items[i].Pinned || i-r.Head < r.Upkeep.Held {
				got += "!"
			}
		}
		if got != want {
			t.Errorf("%s: these stay: %s, want %s", entries, got, want)
		}
	}
	const (
		user = `{"role":"user","content":"x"}`
		call = `{"type":"function_call","call_id":"1","name":"x","arguments":"{}"}`
		out  = `{"type":"function_call_output","call_id":"1","output":"r"}`
		odd  = `{"type":"hologram"}`
		ref  = `{"type":"item_reference","id":"rs_1"}`
		find = `{"type":"tool_search_call","call_id":"1","execution":"client"}`
		got  = `{"type":"tool_search_output","call_id":"1","execution":"client","tools":[]}`
		late = `{"type":"function_call","call_id":"1","name":"x","arguments":"{}","async":true}`
	)
	f("uat", user, call, out)
	f("uu!a!t!", user, odd, call, out)
	f("ua!u!t!", user, call, odd, out)
	f("uatu!u", user, call, out, odd, user)
	f("ua!t!", user, find, got)
	f("ua!t!u", user, find, got, user)
	f("ua!t!", user, late, out)
	// an output within it keeps its own call
	two := func(s string) string { return strings.ReplaceAll(s, "1", "2") }
	f("ua!u!a!t!t!", user, two(call), user, find, two(out), got)
	f("uatua!t!", user, two(call), two(out), user, find, got)
	f("u!u!a!t!uat", user, ref, call, out, user, strings.ReplaceAll(call, "1", "2"), strings.ReplaceAll(out, "1", "2"))
	f("u!a!t!u!t!uat", user, call, out, `{"id":"fc_2"}`, strings.ReplaceAll(out, "1", "3"), user,
		strings.ReplaceAll(call, "1", "2"), strings.ReplaceAll(out, "1", "2"))
}

// However long a chain of outputs that stand within the next answer is, only what is near is looked at.
func TestAChainOfLateOutputsIsBounded(t *testing.T) {
	const n = 5_000
	var entries []string
	for k := range n {
		entries = append(entries, fmt.Sprintf(`{"type":"function_call","call_id":"%d","name":"x","arguments":"{}"}`, k),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"%d","output":"r"}`, k-1))
	}
	entries = append(entries, fmt.Sprintf(`{"type":"tool_search_output","call_id":"%d","execution":"client","tools":[]}`, n-1))
	pinned := 0
	for _, it := range mustRead(t, entries...).Items {
		if it.Pinned {
			pinned++
		}
	}
	if pinned < 2 || pinned > 1_100 {
		t.Errorf("%d items stay", pinned)
	}
}

func TestPartsAreWhatIsSaidAndShown(t *testing.T) {
	f := func(entry, want string) {
		t.Helper()
		r := mustRead(t, entry)
		list, err := r.Parts(&r.Items[0])
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range list {
			got += fmt.Sprintf("%d %s;", p.Kind, p.Value.Of(r.Body))
			if p.Encoded {
				got += "encoded;"
			}
		}
		if got != want {
			t.Errorf("%s has the parts %s, want %s", entry, got, want)
		}
	}
	user := func(parts string) string { return `{"role":"user","content":[` + parts + `]}` }
	f(user(`{"type":"input_text","text":"a"}, {"type":"text","text":"b","prompt_cache_breakpoint":{}}`), `1 "a";1 "b";`)
	f(user(`{"type":"input_image","image_url":"u","detail":"low"}`), `2 "u";`)
	f(user(`{"type":"input_image","file_id":"u"}`), `2 "u";`)
	f(user(`{"type":"input_file","filename":"n","file_data":"d"}`), `4 "d";`)
	f(user(`{"type":"input_audio","input_audio":{"data":"d","format":"mp3"}}`), `3 "d";`)
	f(user(`{"type":"hologram"}`), `0 {"type":"hologram"};`)
	f(`{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`, `0 "no";`)
	f(`{"role":"assistant","content":"a"},{"type":"reasoning","summary":[],"encrypted_content":"gA"},{"role":"assistant","content":"b"}`, `1 "a";1 "b";`)
	f(`{"type":"shell_call_output","call_id":"1","output":[{"stdout":"a","stderr":"b","outcome":{"type":"exit","exit_code":0}}]}`, `1 "a";1 "b";`)
	f(`{"type":"local_shell_call_output","id":"1","output":"{\"output\":\"a\"}"}`, `1 "{\"output\":\"a\"}";encoded;`)
	f(`{"type":"computer_call_output","call_id":"1","output":{"type":"computer_screenshot","image_url":"u"}}`, `2 "u";`)
	// nothing is seen of what is sealed
	f(`{"type":"compaction","encrypted_content":"gA"}`, `0 ;`)
	f(`{"type":"program_output","call_id":"1","result":"x"}`, `0 ;`)
	f(`{"type":"hologram","encrypted_content":"gA"}`, `0 ;`)
	f(user(`{"type":"encrypted","encrypted_content":"gA"}`), `0 ;`)
	f(`{"type":"image_generation_call","result":"iVBO"}`, `2 "iVBO";`)
}

func TestWhatIsBetterLeftAloneIsRefused(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if _, err := read(body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: error %v, want one that says %q", body, err, want)
		}
	}
	f(``, "not JSON")
	f(`[]`, "the body is no JSON object")
	f(`{"input":[`, "not JSON")
	f(`{"input":[]} x`, "not JSON")
	f(`{"model":"m"}`, "no input")
	f(`{"input":{}}`, "neither a text nor a list")
	f(`{"input":null}`, "neither a text nor a list")
	f(`{"input":[7]}`, "item 0: it is not an object")
	f(`{"input":[{"role":"user","role":"user"}]}`, "item 0: a key stands twice")
	f(`{"a":`+strings.Repeat("[", 1_000_000), "too deep")
}

// Bodies that clients sent are read without loss: what the standard decoder finds stands in an item.
func TestRealBodiesAreReadWhole(t *testing.T) {
	folder := os.Getenv("EPITOME_CLIENTS")
	if folder == "" {
		need.Skip(t, "no bodies of clients here: set EPITOME_CLIENTS to a folder of them")
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, "-headers.json") ||
			!strings.Contains(file, "responses") && !strings.Contains(file, "codex") {
			continue
		}
		r, err := read(string(body))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var std struct{ Input json.RawMessage }
		if err := json.Unmarshal(body, &std); err != nil {
			t.Fatal(err)
		}
		var list []json.RawMessage
		if json.Unmarshal(std.Input, &list) == nil && countEntries(r) != len(list) {
			t.Errorf("%s: %d entries, the standard decoder has %d", file, countEntries(r), len(list))
		}
		if flaws := r.Flaws(); len(flaws) > 0 && r.Upkeep.Before.Empty() {
			t.Errorf("%s: flaws %v", file, flaws)
		}
	}
}

// countEntries counts the entries that the items are made of.
func countEntries(r *conversation.Request) (n int) {
	for i := range r.Items {
		_ = span.Each(r.Body, r.Items[i].Span, func(i int) (int, error) {
			n++
			return span.EndOfValue(r.Body, i)
		})
	}
	return n
}

func FuzzReadNeverBreaks(f *testing.F) {
	f.Add([]byte(bodyOf(`{"role":"user","content":"x"}`)))
	f.Add([]byte(bodyOf(`{"type":"reasoning","summary":[{"text":"x"}]},{"type":"function_call","call_id":"1","name":"a","arguments":"{"}`,
		`{"type":"function_call_output","call_id":"1","output":[{"type":"input_text"}]}`)))
	f.Add([]byte(bodyOf(`{"type":"shell_call_output","output":[{"stdout":1}]},{"type":"local_shell_call_output","id":7}`, `{"id":"x"}`)))
	f.Add([]byte(`{"input":"x","previous_response_id":"resp_1","client_metadata":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Dialect{}.Read(body, nil)
		if err != nil {
			return
		}
		at := 0
		for i := range r.Items {
			it := &r.Items[i]
			if it.Start < at || it.End > len(body) || it.Start >= it.End {
				t.Fatalf("%q: item at %v behind %d", body, it.Span, at)
			}
			if i > r.Head && it.Role == conversation.Assistant && r.Items[i-1].Role == conversation.Assistant {
				t.Fatalf("%q: items %d and %d are one", body, i-1, i)
			}
			at = it.End
			_, _ = r.Parts(it) // some cannot be read
		}
		r.Flaws()
		if len(r.ChainFrom(nil)) != len(r.Items)-r.Head+1 {
			t.Fatalf("%q: a chain of %d links for %d items", body, len(r.ChainFrom(nil)), len(r.Items)-r.Head)
		}
		var std struct{ Input []json.RawMessage }
		if err := json.Unmarshal(body, &std); err == nil && len(std.Input) != countEntries(r) &&
			strings.Count(strings.ToLower(string(body)), `input"`) == 1 {
			t.Fatalf("%q: %d entries, the standard decoder has %d", body, countEntries(r), len(std.Input))
		}
	})
}
