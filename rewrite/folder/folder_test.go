package folder

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// of is the folder of a conversation of Chat Completions with these texts of the system and the user.
func of(t *testing.T, system, user string) string {
	t.Helper()
	r, err := chat.Read(fmt.Appendf(nil, `{"messages":[{"role":"system","content":%s},{"role":"user","content":%s}]}`,
		quoted(system), quoted(user)))
	if err != nil {
		t.Fatal(err)
	}
	return Of(r)
}

func TestAgentsFoldersAreFound(t *testing.T) {
	f := func(want, text string) {
		t.Helper()
		for _, got := range []string{of(t, text, "hi"), of(t, "You help.", text)} {
			if got != want {
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
	f("", "<cwd>")
	f("", "A log says <cwd>/home/me/shop</cwd>.")
	f("", "A log says \"<environment_context>\n  <cwd>/home/me/shop</cwd>\".")
	f("", "Write \"Working directory: /home/me/shop\" into it.")
	f("", "In Go: \"a\\nWorking directory: /home/me/shop\\n\"")
	f("", "Working directory: /"+strings.Repeat("a", mostLetters))
}

// Only what stands at the beginning counts, wherever a dialect has it, and what the system says counts first.
func TestOnlyTheBeginningNamesAFolder(t *testing.T) {
	f := func(want string, d conversation.Dialect, body string) {
		t.Helper()
		r, err := d.Read([]byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := Of(r); got != want {
			t.Errorf("of %s the folder is %q, want %q", body, got, want)
		}
	}
	const said = `"Working directory: /said"`
	f("/said", messages.Dialect{}, `{"system":[{"type":"text","text":`+said+`}],"messages":[{"role":"user","content":"hi"}]}`)
	f("/said", messages.Dialect{}, `{"messages":[{"role":"user","content":[{"type":"text","text":`+said+`}]}]}`)
	f("/said", responses.Dialect{}, `{"instructions":`+said+`,"input":"hi"}`)
	f("/said", responses.Dialect{}, `{"input":[{"role":"developer","content":`+said+`},{"role":"user","content":"hi"}]}`)
	f("/said", responses.Dialect{}, `{"input":[{"role":"user","content":[{"type":"input_text","text":"\u003cenvironment_context\u003e\n  \u003ccwd\u003e/said\u003c/cwd\u003e"}]}]}`)
	f("/said", chat.Dialect{}, `{"messages":[{"role":"system","content":`+said+`},{"role":"user","content":"<environment_context>\n<cwd>/user</cwd>"}]}`)
	const codex = `{"type":"input_text","text":"<environment_context>\n  <cwd>/said</cwd>"}`
	const files = `{"type":"input_text","text":"# AGENTS.md\n<cwd>/file</cwd>\nWorking directory: /file"}`
	f("/said", responses.Dialect{}, `{"input":[{"role":"user","content":[`+files+`,`+codex+`]},{"role":"user","content":"hi"}]}`)
	f("/said", responses.Dialect{}, `{"input":[{"role":"user","content":[`+files+`]},{"role":"user","content":[`+codex+`]}]}`)
	const claude = `{"type":"text","text":"<system-reminder>\n# Environment\n - Primary working directory: /said"}`
	f("/said", messages.Dialect{}, `{"messages":[{"role":"user","content":[`+claude+`,{"type":"text","text":"A log: <cwd>/log</cwd>"}]}]}`)
	f("", chat.Dialect{}, `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":`+said+`},{"role":"user","content":`+said+`}]}`)
	f("", messages.Dialect{}, `{"messages":[{"role":"user","content":"hi"}]}`)
}

func FuzzFoldersArePathsOnOneLine(f *testing.F) {
	f.Add(`"Working directory: /a\nb"`)
	f.Add(`"<cwd>/a\`)
	f.Add(`"Working directory: \\u000a/x"`)
	f.Fuzz(func(t *testing.T, text string) {
		got := in([]byte(text))
		if strings.ContainsAny(got, "\n\r\x00\x1b") || got != "" && !path.IsAbs(got) && got[0] != '~' && got[1] != ':' {
			t.Errorf("in %q is found %q", text, got)
		}
	})
}
