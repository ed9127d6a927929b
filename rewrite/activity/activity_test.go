package activity

import (
	"strings"
	"testing"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

func called(tool, arguments string, freeText bool) Call {
	return Of([]byte(arguments), &conversation.Call{Name: tool, FreeText: freeText, Arguments: span.Span{End: len(arguments)}})
}

func TestCalls(t *testing.T) {
	for _, c := range []struct {
		tool, arguments string
		kind            Kind
		about, files    string
	}{
		{"Bash", `{"command":"go test ./...\necho done","description":"Test"}`, Run, "go test ./...", ""},
		{"shell", `{"command":["bash","-lc","ls -l"],"workdir":"/srv"}`, Run, "ls -l", ""},
		{"exec_command", `{"cmd":"make"}`, Run, "make", ""},
		{"run_in_terminal", `{"command":"make","explanation":"Build"}`, Run, "make", ""},
		{"write_stdin", `{"session_id":7,"chars":"y"}`, Run, "session_id:7,chars:y", ""},
		{"Read", `{"file_path":"/srv/shop/./order.go","offset":3}`, Read, "/srv/shop/order.go (offset 3)", "/srv/shop/order.go"},
		{"read_many_files", `{"paths":["a.go","b.go"]}`, Read, "a.go, b.go", "a.go b.go"},
		{"mcp__filesystem__read_text_file", `{"path":"a.go"}`, Read, "a.go", "a.go"},
		{"mcp__gmail__read_message", `{"id":"7"}`, Other, "id:7", ""},
		{"readUrlContent", `{"url":"https://example.com"}`, Fetch, "https://example.com", ""},
		{"view_image", `{"path":"a.png"}`, Read, "a.png", "a.png"},
		{"Edit", `{"file_path":"a.go","old_string":"x","new_string":"y"}`, Write, "a.go", "a.go"},
		{"write_file", `{"path":"a.go","content":"package a"}`, Write, "a.go", "a.go"},
		{"create_issue", `{"title":"Broken"}`, Other, "title:Broken", ""},
		{"apply_patch", "*** Begin Patch\n*** Update File: a.go\n+x\n*** Add File: b/c.go\n+y\n*** End Patch", Write, "a.go, b/c.go",
			"a.go b/c.go"},
		{"Grep", `{"pattern":"func main","path":"/srv"}`, Search, "func main in /srv", ""},
		{"Glob", `{"pattern":"**/*.go"}`, Search, "**/*.go", ""},
		{"WebSearch", `{"query":"go 1.26"}`, Search, "go 1.26", ""},
		{"WebFetch", `{"url":"https://go.dev","prompt":"What is new?"}`, Fetch, "https://go.dev", ""},
		{"TodoWrite", `{"todos":[]}`, Todo, "todos:[]", ""},
		{"functions.update_plan", `{"plan":[]}`, Todo, "plan:[]", ""},
		{"AskUserQuestion", `{"questions":[]}`, Ask, "questions:[]", ""},
		{"get_user_details", `{"user_id":"mia_1"}`, Other, "user_id:mia_1", ""},
		{"Bash", `{}`, Run, "", ""},
		{"", `not JSON`, Other, "not JSON", ""},
	} {
		got := called(c.tool, c.arguments, !strings.HasPrefix(c.arguments, "{"))
		if got.Kind != c.kind || got.About != c.about || strings.Join(got.Files, " ") != c.files {
			t.Errorf("%s %s: kind %d, %q, files %q", c.tool, c.arguments, got.Kind, got.About, got.Files)
		}
	}
	if !called("Read", `{"file_path":"a.go","offset":3}`, false).Part || called("Read", `{"file_path":"a.go"}`, false).Part {
		t.Error("a part of a file is not told from all of it")
	}
}

func TestExitCodes(t *testing.T) {
	long := strings.Repeat(`ok  \tshop\t0.1s\n`, 1_000)
	for _, c := range []struct {
		kind Kind
		raw  string
		want int
	}{
		{Run, `"Exit code: 2\nWall time: 1 seconds\nOutput:\nboom"`, 2},
		{Run, `"Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 1\nOutput:\nboom"`, 1},
		{Run, `"Exit code 127\nmake: command not found"`, 127},
		{Run, `"` + long + `[exit code: 0]"`, 0},
		{Run, `"` + long + `Command failed with exit code 3.\n"`, 3},
		{Run, `"<output>boom</output>\n<exit_code>4</exit_code>"`, 4},
		{Run, `"{\"output\":\"boom\",\"metadata\":{\"exit_code\":5}}"`, 5},
		{Run, `{"stdout":"","returncode":6}`, 6},
		{Run, `[{"type":"text","text":"boom"},{"type":"text","text":"exit code: 7"}]`, 7},
		{Run, `[{"type":"shell_output","outcome":{"type":"exit","exit_code":8}}]`, 8},
		{Run, `"ok"`, -1},
		{Run, `"a\nb\nc\nd\ne\nf\nexit code: 1\n1\n2\n3\n4"`, -1},
		{Run, `"the exit code 2 means that files differ"`, -1},
		{Run, `""`, -1},
		{Run, ``, -1},
		{Read, `"exit code: 1"`, -1},
	} {
		call := Call{Kind: c.kind}
		if got := call.Exit([]byte(c.raw)); got != c.want {
			t.Errorf("%.80s: %d, want %d", c.raw, got, c.want)
		}
	}
	flagged := Call{Said: conversation.WentWrong}
	if got := flagged.State(-1); got != "failed" || !flagged.Failed(-1) {
		t.Errorf("a call that its client marks as an error: %q", got)
	}
	plain := Call{}
	if plain.State(2) != "failed, exit code 2" || plain.State(0) != "exit code 0" || plain.State(-1) != "" || plain.Failed(0) {
		t.Error("states are told otherwise")
	}
}
