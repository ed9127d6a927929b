package inject_test

import (
	"fmt"
	"strings"
	"testing"

	"epitome/inject"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

func folderOf(t *testing.T, d conversation.Dialect, body string) string {
	t.Helper()
	r, err := d.Read([]byte(body), nil)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return inject.Folder(r)
}

func TestFolderIsWhatAgentsSay(t *testing.T) {
	f := func(want, text string) {
		t.Helper()
		quoted := jsonspan.AppendQuoted(nil, text)
		for _, form := range []string{
			`{"messages":[{"role":"system","content":%s},{"role":"user","content":"hi"}]}`,
			`{"messages":[{"role":"system","content":"You help."},{"role":"user","content":%s}]}`,
		} {
			if got := folderOf(t, chat.Dialect{}, fmt.Sprintf(form, quoted)); got != want {
				t.Errorf("of %q the folder is %q, want %q", text, got, want)
			}
		}
	}
	f("/home/me/shop", "<environment_context>\n  <cwd>/home/me/shop</cwd>\n  <shell>bash</shell>")
	f("/home/me/shop", "Environment:\n - Primary working directory: /home/me/shop\n - Is a git repository: true")
	f("/home/me/shop", "<env>\n  Working directory: /home/me/shop\n  Platform: linux")
	f("/home/me/shop", "1. OS: linux\n4. Working Directory: /home/me/shop/\n</env>")
	f("/home/me/shop", "docs.\nCurrent working directory: /home/me/shop")
	f("/home/me/shop", "My system is: linux\nI'm currently working in the directory: /home/me/shop\nHere is")
	f(`C:\new\shop`, "Working directory: C:\\new\\shop\r\nPlatform: win32")
	f("~/shop", "Working directory: ~/shop")
	f("/", "Working directory: /")
	f("/a b/ü", "Working directory: /a b/ü\n")
	f("/first", "Working directory: /first\n<cwd>/second</cwd>")
	f("/first", "<environment_context>\n  <cwd>/first</cwd>\nWorking directory: /second")
	f("", "")
	f("", "The current working directory (/home/me/shop) is used.")
	f("", "Write the sentence \"My working directory: /home/me/shop\" into it.")
	f("", "I like this working directory: /home/me/shop")
	f("", "Working directory: shop")
	f("", "Working directory: ")
	f("", "A log says <cwd>/home/me/shop</cwd>.")
	f("", "A log says \"<environment_context>\n  <cwd>/home/me/shop</cwd>\".")
	f("", "In Go: \"a\\nWorking directory: /home/me/shop\\n\"")
	f("", "Working directory: /"+strings.Repeat("a", 200))
}

func TestFolderStandsBeforeTheModelSpeaks(t *testing.T) {
	f := func(want string, d conversation.Dialect, body string) {
		t.Helper()
		if got := folderOf(t, d, body); got != want {
			t.Errorf("of %s the folder is %q, want %q", body, got, want)
		}
	}
	const said = `"Working directory: /said"`
	f("/said", messages.Dialect{}, `{"system":[{"type":"text","text":`+said+`}],"messages":[{"role":"user","content":"hi"}]}`)
	f("/said", messages.Dialect{}, `{"messages":[{"role":"user","content":[{"type":"text","text":`+said+`}]}]}`)
	f("/said", responses.Dialect{}, `{"instructions":`+said+`,"input":"hi"}`)
	f("/said", responses.Dialect{}, `{"input":[{"role":"developer","content":`+said+`},{"role":"user","content":"hi"}]}`)
	f("/said", chat.Dialect{}, `{"messages":[{"role":"system","content":`+said+`},`+
		`{"role":"user","content":"<environment_context>\n<cwd>/user</cwd>"}]}`)
	const codex = `{"type":"input_text","text":"\u003cenvironment_context\u003e\n  \u003ccwd\u003e/said\u003c/cwd\u003e"}`
	const files = `{"type":"input_text","text":"# AGENTS.md\n<cwd>/file</cwd>\nWorking directory: /file"}`
	f("/said", responses.Dialect{}, `{"input":[{"role":"user","content":[`+files+`,`+codex+`]},{"role":"user","content":"hi"}]}`)
	f("/said", responses.Dialect{}, `{"input":[{"role":"user","content":[`+files+`]},{"role":"user","content":[`+codex+`]}]}`)
	f("", chat.Dialect{}, `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":`+said+`},`+
		`{"role":"user","content":`+said+`}]}`)
}
