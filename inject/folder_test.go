package inject_test

import (
	"fmt"
	"strings"
	"testing"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/inject"
	"epitome/internal/jsonspan"
)

func TestFolderIsWhatAgentsSay(t *testing.T) {
	f := func(want, text string) {
		t.Helper()
		quoted := jsonspan.AppendQuoted(nil, text)
		for _, form := range []string{
			`{"messages":[{"role":"system","content":%s},{"role":"user","content":"hi"}]}`,
			`{"messages":[{"role":"system","content":"You help."},{"role":"user","content":%s}]}`,
		} {
			r, err := conversation.Read(chat.Dialect{}, fmt.Appendf(nil, form, quoted), nil)
			if got := inject.Folder(r); got != want || err != nil {
				t.Errorf("of %q the folder is %q, %v, want %q", text, got, err, want)
			}
		}
	}
	f("/home/me/shop", "<environment_context>\n  <cwd>/home/me/shop</cwd>\n  <shell>bash</shell>")
	f("/home/me/shop", "Environment:\n - Primary working directory: /home/me/shop\n - Is a git repository: true")
	f("/home/me/shop", "<env>\n  Working directory: /home/me/shop\n  Platform: linux")
	f("/home/me/shop", "docs.\nCurrent working directory: /home/me/shop")
	f(`C:\new\shop`, "Working directory: C:\\new\\shop\r\nPlatform: win32")
	f("/a b/ü", "Working directory: /a b/ü\n")
	f("/first", "Working directory: /first\n<cwd>/second</cwd>")
	f("/first", "<environment_context>\n  <cwd>/first</cwd>\nWorking directory: /second")
	f("", "The current working directory (/home/me/shop) is used.")
	f("", "Write the sentence \"My working directory: /home/me/shop\" into it.")
	f("", "A log says \"<environment_context>\n  <cwd>/home/me/shop</cwd>\".")
	f("", "Working directory: /"+strings.Repeat("a", 200))
}
