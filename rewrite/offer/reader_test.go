package offer

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/messages"
)

func TestToolsThatMayReadAFileAreKnownByTheirNames(t *testing.T) {
	f := func(want bool, names ...string) {
		t.Helper()
		list := make([]string, len(names))
		for k, name := range names {
			list[k] = fmt.Sprintf(`{"type":"function","function":{"name":%q,"parameters":{"type":"object"}}}`, name)
		}
		req, err := chat.Read([]byte(`{"messages":[{"role":"user","content":"x"}],"tools":[` + strings.Join(list, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if NoReader(req) != want {
			t.Errorf("%v: no reader: %v", names, !want)
		}
	}
	f(false) // nobody knows how such a client tells of tools
	f(true, "get_booking", "update_booking", "searchFlights", "calculate", "think")
	f(true, "web_search", "fetch_page", "mcp__linear__create_issue", "run_sql")
	f(true, "browser_click", "browser_navigate", "browser_snapshot")
	for _, name := range []string{"bash", "Read", "read_file", "execCommand", "run_shell_command", "mcp__fs__list_directory",
		"notebook_cell", "Task", "ToolSearch", "epitome_recall", "str_replace_editor", "READFILE", "7"} {
		f(false, "get_booking", name)
	}
	f(false, strings.Repeat("get_booking_", 40)) // nobody calls a tool so
	req, err := messages.Dialect{}.Read([]byte(`{"max_tokens":1,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"get_booking","input_schema":{}},`+
		`{"type":"bash_20250124","name":"bash"}]}`), nil)
	if err != nil || NoReader(req) {
		t.Errorf("a provider's shell reads nothing: %v", err)
	}
	req, err = messages.Dialect{}.Read([]byte(`{"max_tokens":1,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"get_booking","input_schema":{"type":"object","properties":{"name":{"type":"string"}}}},`+
		`{"type":"web_search_20250305","name":"web_search"}]}`), nil)
	if err != nil || !NoReader(req) {
		t.Errorf("a search of the web reads files: %v", err)
	}
}
