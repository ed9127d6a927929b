package action

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"epitome/rewrite/chat"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/shell"
)

// files writes what an action claims: what is read, then > and what is written.
func (d Action) files() string {
	return strings.TrimSpace(strings.Join(d.Reads, " ") + " > " + strings.Join(d.Writes, " "))
}

func TestToolsOfCommonAgentsAreKnown(t *testing.T) {
	f := func(name, arguments string, kind Kind, key, files string) {
		t.Helper()
		d := Of(name, []byte(arguments), false)
		if d.Kind != kind || d.Key != key || d.files() != files {
			t.Errorf("%s %s:\ngot  %s %q %q\nwant %s %q %q", name, arguments, d.Kind, d.Key, d.files(), kind, key, files)
		}
	}
	// Claude Code
	f("Read", `{"file_path":"/a/b.go","offset":10,"limit":80}`, Reading, "/a/b.go (offset 10, limit 80)", "/a/b.go >")
	f("Edit", `{"replace_all":false,"file_path":"/a/b.go","old_string":"x","new_string":"y"}`, Writing, "/a/b.go", "> /a/b.go")
	f("MultiEdit", `{"file_path":"/a/b.go","edits":[{"old_string":"x","new_string":"y"}]}`, Writing, "/a/b.go", "> /a/b.go")
	f("NotebookEdit", `{"notebook_path":"/a.ipynb","new_source":""}`, Writing, "/a.ipynb", "> /a.ipynb")
	f("Bash", `{"command":"cat a.go\nls","description":"Look"}`, Shell, "cat a.go", "a.go >")
	f("Grep", `{"pattern":"f(x)","path":"/a","output_mode":"content"}`, Searching, "f(x) in /a", ">")
	f("Glob", `{"pattern":"**/*.go"}`, Listing, "**/*.go", ">")
	f("WebFetch", `{"url":"https://x.org","prompt":"what"}`, Fetching, "https://x.org", ">")
	f("WebSearch", `{"query":"how"}`, Searching, "how", ">")
	f("TodoWrite", `{"todos":[]}`, Other, `{"todos":[]}`, ">")
	f("TaskUpdate", `{"taskId":"1","status":"done"}`, Other, "1, done", ">")
	// Codex
	f("exec_command", `{"cmd":"sed -n '1,5p' a.go","workdir":"/w"}`, Shell, "sed -n '1,5p' a.go", "/w/a.go >")
	f("shell", `{"command":["bash","-lc","cat a.go"],"workdir":"/w"}`, Shell, "cat a.go", "/w/a.go >")
	f("functions.shell", `{"command":["cat","a b.go"]}`, Shell, "cat a b.go", "a b.go >")
	f("container.exec", `{"cmd":["apply_patch","*** Begin Patch\n*** Add File: n.go\n+x\n*** End Patch"]}`, Shell, "apply_patch *** Begin Patch", "> n.go")
	f("apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n@@\n*** Delete File: c.go\n*** End Patch"}`, Writing, "a.go, b.go, c.go", "> a.go b.go c.go")
	// pi, Copilot, Cursor, Windsurf, Zed
	f("edit", `{"path":"a.go","oldText":"x","newText":"y"}`, Writing, "a.go", "> a.go")
	f("view", `{"path":"a.go","view_range":[1,20]}`, Reading, "a.go (view_range [1,20])", "a.go >")
	f("create", `{"path":"a.go","file_text":"x"}`, Writing, "a.go", "> a.go")
	f("insert_edit_into_file", `{"explanation":"e","filePath":"/a.go","code":"x"}`, Writing, "/a.go", "> /a.go")
	f("multi_replace_string_in_file", `{"replacements":[{"filePath":"a.go","oldString":"x"},{"filePath":"b.go"}]}`, Writing, "a.go, b.go", "> a.go b.go")
	f("run_in_terminal", `{"command":"ls","explanation":"e","isBackground":false}`, Shell, "ls", ">")
	f("read_file", `{"target_file":"a.go","should_read_entire_file":true}`, Reading, "a.go", "a.go >")
	f("run_terminal_cmd", `{"command":"cat a.go"}`, Shell, "cat a.go", "a.go >")
	f("view_file", `{"AbsolutePath":"/a.go","StartLine":1,"EndLine":9}`, Reading, "/a.go (StartLine 1, EndLine 9)", "/a.go >")
	f("run_command", `{"CommandLine":"cat a.go","Cwd":"/w"}`, Shell, "cat a.go", "/w/a.go >")
	f("move_path", `{"source_path":"a.go","destination_path":"b.go"}`, Writing, "a.go -> b.go", "> a.go b.go")
	f("copy_path", `{"source_path":"a.go","destination_path":"b.go"}`, Writing, "a.go -> b.go", "> b.go")
	// opencode, crush, Gemini CLI, Cline, Roo, Continue
	f("patch", `{"patchText":"*** Begin Patch\n*** Update File: a.go\n"}`, Writing, "a.go", "> a.go")
	f("multiedit", `{"filePath":"a.go","edits":[]}`, Writing, "a.go", "> a.go")
	f("read_many_files", `{"paths":["a.go","src/**/*.ts"]}`, Reading, "a.go, src/**/*.ts", ">")
	f("default_api.replace", `{"file_path":"/a.go","old_string":"x"}`, Writing, "/a.go", "> /a.go")
	f("run_shell_command", `{"command":"cat a.go","directory":"pkg"}`, Shell, "cat a.go", "pkg/a.go >")
	f("search_file_content", `{"pattern":"x","path":"src"}`, Searching, "x in src", ">")
	f("write_to_file", `{"path":"a.go","content":"x"}`, Writing, "a.go", "> a.go")
	f("replace_in_file", `{"path":"a.go","diff":"x"}`, Writing, "a.go", "> a.go")
	f("read_many_files", `{"paths":["a.go","b.go"]}`, Reading, "a.go, b.go", "a.go b.go >")
	f("read_file", `{"files":[{"path":"a.go"},{"id":"b.go"}]}`, Reading, "a.go,", ">")
	f("read_file", `{"files":[{"path":"a.go","line_ranges":["1-5"]},{"path":"b.go"}]}`, Reading, "a.go, b.go", "a.go b.go >")
	f("execute_command", `{"command":"cat a.go","requires_approval":false}`, Shell, "cat a.go", "a.go >")
	f("run_commands", `{"commands":["cat a.go","rm b.go"]}`, Shell, "cat a.go, rm b.go", "a.go > b.go")
	f("builtin_edit_existing_file", `{"filepath":"a.go","changes":"x"}`, Writing, "a.go", "> a.go")
	// OpenHands, SWE-agent, goose, Augment, Serena
	f("str_replace_editor", `{"command":"view","path":"/a.go","view_range":[1,5]}`, Reading, "/a.go (view_range [1,5])", "/a.go >")
	f("str_replace_editor", `{"command":"str_replace","path":"/a.go","old_str":"x"}`, Writing, "/a.go", "> /a.go")
	f("str-replace-editor", `{"command":"think","path":"/a.go"}`, Writing, "/a.go", ">")
	f("execute_bash", `{"command":"cat a.go"}`, Shell, "cat a.go", "a.go >")
	f("execute_ipython_cell", `{"code":"open('a')"}`, Shell, "open('a')", ">")
	f("open", `{"path":"a.go","line_number":100}`, Reading, "a.go (line_number 100)", "a.go >")
	f("search_file", `{"search_term":"x","file":"a.go"}`, Searching, "x in a.go", ">")
	f("developer__text_editor", `{"command":"write","path":"/a.go","file_text":"x"}`, Writing, "/a.go", "> /a.go")
	f("developer__shell", `{"command":"cat a.go"}`, Shell, "cat a.go", "a.go >")
	f("save-file", `{"path":"a.go","file_content":"x"}`, Writing, "a.go", "> a.go")
	f("replace_symbol_body", `{"name_path":"F","relative_path":"a.go","body":"x"}`, Writing, "a.go", "> a.go")
	// servers of the filesystem, the web and other things
	f("mcp__filesystem__read_text_file", `{"path":"/a.go","head":10}`, Reading, "/a.go (head 10)", "/a.go >")
	f("mcp_filesystem_read_multiple_files", `{"paths":["/a.go","/b.go"]}`, Reading, "/a.go, /b.go", "/a.go /b.go >")
	f("mcp__filesystem__edit_file", `{"path":"/a.go","edits":[],"dryRun":true}`, Writing, "/a.go", ">")
	f("mcp__fetch__fetch", `{"url":"https://x.org"}`, Fetching, "https://x.org", ">")
	f("browser.open", `{"url":"https://x.org"}`, Fetching, "https://x.org", ">")
	f("mcp__github__get_file_contents", `{"owner":"o","repo":"r","path":"a.go"}`, Reading, "a.go", ">")
	f("mcp__x__browser_click", `{"element":"Send","ref":"e29"}`, Other, "Send, e29", ">")
	f("browser_snapshot", `{}`, Other, "", ">")
	f("search_direct_flight", `{"origin":"A","destination":"B","date":"D"}`, Other, "A, B, D", ">")
}

func TestBrokenArgumentsClaimNothing(t *testing.T) {
	f := func(name, arguments, key string) {
		t.Helper()
		if d := Of(name, []byte(arguments), false); d.files() != ">" || d.Key != key || d.Identity != "" ||
			d.OnlyFiles {
			t.Errorf("%s %q: got %+v", name, arguments, d)
		}
	}
	f("Read", `{"file_path":"/a.go"`, `{"file_path":"/a.go"`)
	f("Read", `{"file_path":"/a.go","file_path":"/b.go"}`, `{"file_path":"/a.go","file_path":"/b.go"}`)
	f("Read", `{"file_\u0070ath":"/a.go"}`, `{"file_\u0070ath":"/a.go"}`)
	f("Read", `["/a.go"]`, `["/a.go"]`)
	f("Read", `"/a.go"`, `"/a.go"`)
	f("Bash", "cat\n a.go", "cat a.go")
	f("bash", strings.Repeat("[", 1_000_000), strings.Repeat("[", 119)+"…")
	if d := Of("TaskList", nil, false); d.files() != ">" || d.Key != "" {
		t.Errorf("no arguments: got %+v", d)
	}
	f2 := func(arguments string) {
		t.Helper()
		if d := Of("Read", []byte(arguments), false); d.files() != ">" {
			t.Errorf("%s: got %+v", arguments, d)
		}
	}
	f2(`{"file_path":null}`)
	f2(`{"file_path":""}`)
	f2(`{"file_path":7,"path":{"a":1}}`)
	f2(`{"file_path":"a\nb"}`)
	f2(`{"file_path":"` + strings.Repeat("a", shell.LongestPath+1) + `"}`)
}

func TestPatchAsFreeTextNamesItsFiles(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: a b.go\n@@\n+*** Add File: no.go\n *** Add File: no.go\n*** Add File: c.go\r\n+x\n*** End Patch\n"
	if d := Of("apply_patch", []byte(patch), true); d.Kind != Writing || d.files() != "> a b.go c.go" ||
		d.Key != "a b.go, c.go" {
		t.Errorf("got %+v", d)
	}
	diff := "--- a/x.go\t2024\n+++ b/x.go\n@@ -1 +1 @@\n--- gone\n+ new\n--- /dev/null\n+++ b/new.go\n"
	if d := Of("apply_patch", []byte(diff), true); d.files() != "> x.go new.go" {
		t.Errorf("got %+v", d)
	}
	if d := Of("exec", []byte("cat a > b"), true); d.files() != ">" || d.Key != "cat a > b" {
		t.Errorf("got %+v", d)
	}
}

func TestFilesOfACallAreBounded(t *testing.T) {
	var patch strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&patch, "*** Add File: f%d\n", i)
	}
	if d := Of("apply_patch", []byte(patch.String()), true); len(d.Writes) != shell.MostFiles {
		t.Errorf("got %d files", len(d.Writes))
	}
	var many []string
	for i := range shell.MostFiles {
		many = append(many, fmt.Sprint("f", i))
	}
	f := func(name, argument string, files []string, want int) {
		t.Helper()
		arguments, _ := json.Marshal(map[string]any{argument: files})
		if got := len(Of(name, arguments, false).Reads); got != want {
			t.Errorf("%s of %d files: %d are claimed, want %d", name, len(files), got, want)
		}
	}
	f("read_files", "paths", many, shell.MostFiles)
	f("read_files", "paths", append(many, "more"), 0)
	f("bash", "command", append([]string{"cat"}, many...)[:shell.MostFiles], shell.MostFiles-1)
	f("bash", "command", []string{"bash", "-c", "cat " + strings.Join(many, " ")}, shell.MostFiles)
	f("bash", "command", []string{"bash", "-c", "cat " + strings.Join(many, " ") + " more"}, 0)
	if d := Of("read_files", []byte(`{"paths":[`+strings.Repeat(`"a","b",`, 1000)+`"c"]}`), false); d.files() != "a b >" {
		t.Errorf("got %q", d.files())
	}
}

func TestKeyIsOneLineWithRoom(t *testing.T) {
	f := func(name, arguments, want string) {
		t.Helper()
		if got := Of(name, []byte(arguments), false).Key; got != want ||
			utf8.RuneCountInString(got) > longestKey {
			t.Errorf("%.80s: got %q of %d characters, want %q", arguments, got, utf8.RuneCountInString(got), want)
		}
	}
	f("bash", `{"command":"\n\n  echo \t é\u0007\u2028x\r\nls"}`, "echo é x")
	f("bash", `{"command":"`+strings.Repeat("é", 121)+`"}`, strings.Repeat("é", 119)+"…")
	f("bash", `{"command":"`+strings.Repeat("é", 120)+`"}`, strings.Repeat("é", 120))
	f("bash", `{"command":"`+strings.Repeat("x ", 100)+`"}`, strings.Repeat("x ", 59)+"x…")
	f("bash", `{"command":"cd /`+strings.Repeat("long/", 25)+` && make"}`, "… make")
	f("bash", "{\"command\":\"a\xffb\"}", "a\ufffdb")
	path := strings.Repeat("dir/", 40) + "name.go"
	f("read", `{"path":"`+path+`","offset":5}`, "…"+path[len(path)-(longestKey-1-len(" (offset 5)")):]+" (offset 5)")
	f("grep", `{"pattern":"`+strings.Repeat("p", 200)+`","path":"`+path+`"}`, strings.Repeat("p", 59)+"… in …"+path[len(path)-55:])
}

func TestSpellingsOfOneFile(t *testing.T) {
	f := func(a, b string, want bool) {
		t.Helper()
		if shell.SameFile(a, b) != want || shell.SameFile(b, a) != want {
			t.Errorf("%q and %q: want %v", a, b, want)
		}
	}
	f("a.go", "a.go", true)
	f("./a.go", "a.go", true)
	f("/r/x/../a//b.go", "/r/a/b.go", true)
	f("file:///r/a.go", "/r/a.go", true)
	f("/r/a.go", "a.go", true)
	f("/r/a/b.go", "a/b.go", true)
	f("/r/.env", ".env", true)
	f(`C:\r\a.go`, "C:/r/a.go", true)
	f(`C:\r\a.go`, `r\a.go`, true)
	f("~/p/a.go", "/home/u/p/a.go", true)
	f("~/p/a.go", "/Users/u/p/a.go", true)
	f("~/p/a.go", "/root/p/a.go", true)
	f("~/a.go", "/home/u/p/a.go", false)
	f("~/a.go", "/r/a.go", false)
	f("~/a.go", "a.go", false)
	f("/r/aa.go", "a.go", false)
	f("/r/a.go", "b/r/a.go", false)
	f("/a.go", "/r/a.go", false)
	f("/r1/a.go", "/r2/a.go", false)
	f("README.md", "docs/README.md", false)
	f("../a.go", "/r/a.go", false)
	f("../a.go", "a.go", false)
	f("../a.go", "../a.go", true)
	f("A.go", "a.go", false)
	f("/r/a", "", false)
	f("", "", false)
	f("/", "a", false)
	f(".", ".", false)
	f("/r/a/", "/r/a", true)
}

// What is known of an argument is no part of what a call asks: who knows more of it knows the call again.
func TestAQuestionIsThatOfItsArguments(t *testing.T) {
	const was = "8063089b2242f9357b0797eca38598b0fa3f3da13726845969ba1cd7683f1470"
	if got := fmt.Sprintf("%x", Of("Read", []byte(`{"file_path":"a.go","mode":"append","append":true}`), false).Identity); got != was {
		t.Errorf("the call is known by %s, not by %s", got, was)
	}
}

func TestOnlyQuestionsAreAskedAgain(t *testing.T) {
	again := func(name, arguments string) string { return Of(name, []byte(arguments), false).Identity }
	f := func(name, arguments string, want bool) {
		t.Helper()
		if got := again(name, arguments) != ""; got != want {
			t.Errorf("%s %s: got %v", name, arguments, got)
		}
	}
	f("Read", `{"file_path":"a"}`, true)
	f("Grep", `{"pattern":"a"}`, true)
	f("WebFetch", `{"url":"a"}`, true)
	f("str_replace_editor", `{"command":"view","path":"a"}`, true)
	f("Bash", `{"command":"git status && ls -la | head -5"}`, true)
	f("Bash", `{"command":"cat a 2>/dev/null || echo none"}`, true)
	f("Bash", `{"command":"go test ./..."}`, false)
	f("Bash", `{"command":"cat a; make"}`, false)
	f("Bash", `{"command":"cat a > $B"}`, false)
	f("Bash", `{"command":"cat $(make a)"}`, false)
	f("Bash", `{"command":"find . -name x -delete"}`, false)
	f("Bash", `{"command":"git checkout main"}`, false)
	f("Bash", `{"command":"cat 'a"}`, false)
	f("Edit", `{"file_path":"a"}`, false)
	f("str_replace_editor", `{"command":"insert","path":"a"}`, false)
	f("browser_snapshot", `{}`, false)
	f("cancel_reservation", `{"id":"1"}`, false)

	if again("Bash", `{"command":"ls","description":"List","timeout":5}`) != again("Bash", `{"command":"ls"}`) {
		t.Error("what is said beside a command makes it another")
	}
	for _, other := range []string{`{"file_path":"a","offset":1}`, `{"file_path":"b"}`, `{"path":"a"}`, `{}`} {
		if again("Read", other) == again("Read", `{"file_path":"a"}`) {
			t.Errorf("%s is taken for another question", other)
		}
	}
	if again("Read", `{"file_path":"a"}`) == again("View", `{"file_path":"a"}`) {
		t.Error("two tools ask the same")
	}
}

// spread writes a value as JSON with its keys in any order and white space anywhere.
func spread(v any, r *rand.Rand) string {
	gap := func() string { return []string{"", " ", "\n\t", ""}[r.Intn(4)] }
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for k, e := range v {
			key, _ := json.Marshal(k)
			parts = append(parts, gap()+string(key)+gap()+":"+gap()+spread(e, r)+gap())
		}
		sort.Strings(parts)
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, gap()+spread(e, r)+gap())
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	raw, _ := json.Marshal(v)
	return string(raw)
}

func TestAskingAgainIsFoundWhateverTheOrderOfKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rewritetest.RandomValue(t, 2)
		arguments, ok := v.(map[string]any)
		if !ok {
			arguments = map[string]any{"x": v}
		}
		arguments["file_path"] = "a.go"
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		one, two := spread(arguments, r), " "+spread(arguments, r)+"\n"
		a, b := Of("Read", []byte(one), false), Of("Read", []byte(two), false)
		if a.Identity == "" || a.Identity != b.Identity || a.files() != b.files() {
			t.Fatalf("%s\n%s\n%+v\n%+v", one, two, a, b)
		}
		arguments["file_path"] = "b.go"
		if Of("Read", []byte(spread(arguments, r)), false).Identity == a.Identity {
			t.Fatalf("%s asks the same of another file", one)
		}
	})
}

func FuzzActionNeverBreaks(f *testing.F) {
	f.Add("Read", `{"file_path":"/a.go","offset":1}`, false)
	f.Add("apply_patch", "*** Begin Patch\n*** Update File: a\n--- a\n+++ b\n", true)
	f.Add("bash", `{"command":"cd a && cat <<'E' > b; (sed -n 1p \"c\" | head) 2>&1\nx\nE\n"}`, false)
	f.Add("mcp_x_read_file", `{"paths":["a",{"path":"b"}],"owner":1}`, false)
	f.Add("shell", `{"command":["bash","-lc","cat $(ls) [[ a > b ]] if x; then y; fi"]}`, false)
	f.Fuzz(func(t *testing.T, name, arguments string, freeText bool) {
		wellFormed(t, arguments, Of(name, []byte(arguments), freeText))
	})
}

// A key takes time that grows with the command, and has room for none of it but the beginning.
func TestLongCommandsHaveShortKeys(t *testing.T) {
	for _, piece := range []string{"a ", "(", "$(", "\"", "<<A\n", "cd a && ", "\n", "é", "\u0085"} {
		arguments, _ := json.Marshal(map[string]string{"command": strings.Repeat(piece, 100_000)})
		wellFormed(t, string(arguments), Of("bash", arguments, false))
	}
}

// wellFormed holds what every action promises.
func wellFormed(t *testing.T, arguments string, d Action) {
	t.Helper()
	if n := utf8.RuneCountInString(d.Key); n > longestKey || !utf8.ValidString(d.Key) || strings.ContainsAny(d.Key, "\n\r\x00\u2028\u0085") {
		t.Fatalf("%.200q: key %q of %d characters", arguments, d.Key, n)
	}
	if len(d.Reads) > shell.MostFiles || len(d.Writes) > shell.MostFiles || d.OnlyFiles && len(d.Reads) == 0 ||
		d.Identity != "" && len(d.Writes) > 0 {
		t.Fatalf("%.200q: %+v", arguments, d)
	}
	for _, p := range append(d.Reads, d.Writes...) {
		if !shell.CanBePath(p) {
			t.Fatalf("%.200q: path %q", arguments, p)
		}
	}
}

// knownOther are the tools of the real conversations that neither read nor write files, nor search.
const knownOther = `AskUserQuestion Task TaskCreate TaskList TaskStop TaskUpdate TodoWrite _create_pull_request _update_pull_request
	ask_question ask_user browser_action browser_observe cancel_reservation get_reservation_details get_user_details
	mcp__linear-server__create_issue mcp__linear-server__list_projects mcp__linear-server__list_teams mcp__pencil__batch_design
	mcp__pencil__batch_get mcp__pencil__find_empty_space_on_canvas mcp__pencil__get_editor_state mcp__pencil__get_screenshot
	mcp__playwright__browser_click mcp__playwright__browser_console_messages mcp__playwright__browser_evaluate
	mcp__playwright__browser_file_upload mcp__playwright__browser_navigate mcp__playwright__browser_network_requests
	mcp__playwright__browser_press_key mcp__playwright__browser_run_code mcp__playwright__browser_snapshot
	mcp__playwright__browser_take_screenshot mcp__playwright__browser_type mcp__playwright__browser_wait_for
	search_direct_flight think update_plan update_reservation_flights`

func TestToolsOfRealConversationsAreKnown(t *testing.T) {
	counts, reads, writes := map[Kind]int{}, 0, 0
	rewritetest.Corpus(t, func(name string, body []byte) {
		r, err := chat.Read(body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, it := range r.Items {
			for _, c := range it.Calls {
				arguments := c.ArgumentsIn(body)
				d := Of(c.Name, arguments, c.FreeText)
				wellFormed(t, string(arguments), d)
				counts[d.Kind]++
				reads, writes = reads+len(d.Reads), writes+len(d.Writes)
				if known := strings.Contains(" "+strings.Join(strings.Fields(knownOther), " ")+" ",
					" "+c.Name+" "); (d.Kind == Other) != known {
					t.Errorf("%s: %s is of kind %s", name, c.Name, d.Kind)
				}
				if (d.Kind == Reading || d.Kind == Writing) && d.files() == ">" {
					t.Errorf("%s: %s %.200s names no file", name, c.Name, arguments)
				}
			}
		}
	})
	t.Logf("calls %v; %d files read, %d written", counts, reads, writes)
}

func BenchmarkActionOf(b *testing.B) {
	f := func(name, tool, arguments string) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			raw := []byte(arguments)
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				Of(tool, raw, false)
			}
		})
	}
	f("read", "Read", `{"file_path":"/home/u/project/src/package/file.go","offset":100,"limit":80}`)
	f("edit", "Edit", `{"replace_all":false,"file_path":"/home/u/project/src/file.go","old_string":"`+strings.Repeat(`some code\n`, 50)+`","new_string":"`+strings.Repeat(`other code\n`, 50)+`"}`)
	f("shell", "Bash", `{"command":"cd /home/u/project && git status --short | head -20 && sed -n '100,180p' src/package/file.go","description":"Look at the file"}`)
	f("argv", "shell", `{"command":["bash","-lc","cd src && rg -n \"func .*Name\" | head -50"],"workdir":"/home/u/project","timeout_ms":10000}`)
	f("heredoc", "Bash", `{"command":"cat > /tmp/x.py <<'EOF'\n`+strings.Repeat(`print(\"don't\")\n`, 60_000)+`EOF\npython3 /tmp/x.py"}`)
	f("patch", "apply_patch", `{"input":"*** Begin Patch\n*** Update File: a/b.go\n`+strings.Repeat(`+some line of code\n`, 50_000)+`*** End Patch"}`)
}

// Only what writes a file anew settles what was done to it before.
func TestOnlyToolsThatWriteAllOfAFileReplaceIt(t *testing.T) {
	f := func(want bool, tools ...string) {
		t.Helper()
		for _, tool := range tools {
			d := Of(tool, []byte(`{"path":"a.go","content":"x","old_string":"x","new_string":"y"}`), false)
			if d.Whole != want || len(d.Writes) != 1 {
				t.Errorf("%s writes %v, whole: %v", tool, d.Writes, d.Whole)
			}
		}
	}
	f(true, "Write", "write_file", "write_to_file", "createFile", "mcp__fs__write_file", "overwrite_file", "save_file", "new_file")
	f(false, "Edit", "edit_file", "append_file", "update_file", "modify_file", "mcp__writer__edit_file", "multi_edit_file")
	with := func(want bool, tool, more string) {
		t.Helper()
		d := Of(tool, []byte(`{"path":"a.go","content":"x",`+more+`}`), false)
		if d.Whole != want || len(d.Writes) != 1 || d.Key != "a.go" {
			t.Errorf("%s with %s writes %v, whole: %v, key %q", tool, more, d.Writes, d.Whole, d.Key)
		}
	}
	with(false, "write_file", `"mode":"append"`)
	with(false, "write_file", `"mode":"a+"`)
	with(false, "write_file", `"append":true`)
	with(false, "write_file", `"append":"true","mode":"w"`)
	with(false, "write_file", `"append":false,"writeMode":"APPEND"`)
	with(false, "create_file", `"mode":"r+"`)
	with(false, "str_replace_editor", `"command":"create","append":true`)
	with(true, "write_file", `"mode":"rewrite"`)
	with(true, "write_file", `"append":null`)
	with(true, "write_file", `"mode":"w","append":false`)
	with(true, "write_file", `"mode":420`)
	with(true, "write_file", `"mode":"overwrite","append":null`)
	with(true, "str_replace_editor", `"command":"create"`)
}
