package shorten

import (
	"strings"
	"testing"
)

func TestNamesAreThoseOfWhatJSONSays(t *testing.T) {
	f := func(text, has, hasNot string) {
		t.Helper()
		for name, names := range map[string]string{
			"WholeNames": strings.Join(WholeNames(text), " ") + " ", "NamesIn": NamesIn(text, 1_000) + " ",
		} {
			for want := range strings.FieldsSeq(has) {
				if !strings.Contains(" "+names, " "+want+" ") {
					t.Errorf("%s of %q: %q is not in %q", name, text, want, names)
				}
			}
			for torn := range strings.FieldsSeq(hasNot) {
				if strings.Contains(" "+names, " "+torn+" ") {
					t.Errorf("%s of %q: %q is in %q", name, text, torn, names)
				}
			}
		}
	}
	f(`{"output":"all is well\nExitCode: 0\tRunTests\r","metadata":{"exit_code":0}}`,
		"ExitCode RunTests exit_code", "nExitCode tRunTests")
	f(` [ {"text":"a\n{\"output\":\"b\\nExitCode\\n\"}"} ]`, "ExitCode", "nExitCode")
	f("one line\n2026-11-20 INFO {\"msg\":\"done\\nbatch_size\"} of shop\nlast_line", "batch_size last_line", "nbatch_size")
	f(`[2026] [shop] {"msg":"done\nbatch_size"}`, "batch_size", "nbatch_size")
	f(`fmt.Printf("done\nbatch_size")`, "", "nbatch_size")
	f(`{"cut":"done\nbatch_size`, "", "nbatch_size")
	f(`{"path":"C:\\srv\\shop_x"}`, "shop_x", "")
	f(`{"uml":"gr\u00f6\u00dfe_x a_name"}`, "a_name", "")
	f(`\App\UserController`, "UserController", "")
}

func TestWhatIsNoJSONIsDecodedToItself(t *testing.T) {
	for _, text := range []string{"", `C:\new\table`, "a\\nb\n", `{"a":"\q"}`, `{"a":"b\n"`, "{\\[\\{\\[", "\\\n\\"} {
		if got := Decoded(text); got != text {
			t.Errorf("%q is decoded to %q", text, got)
		}
	}
	if got := Decoded("x {\"a\":\"b\\n\"} y\\\r\nz"); got != "x {\"a\":\"b\n\"} y\\\r\nz" {
		t.Errorf("%q", got)
	}
}

// JSON in strings of JSON takes twice the escapes with each level; a text that goes on so must not take long.
func TestDecodingIsLinear(t *testing.T) {
	for _, text := range []string{strings.Repeat(`{\`, 1<<19), strings.Repeat(`[`, 1<<20) + `\`,
		`"` + strings.Repeat(`\\`, 1<<19) + `"`, strings.Repeat(`{"a":"\n"}`, 1<<17)} {
		if got := Decoded(text); len(got) > len(text) {
			t.Errorf("%d bytes of %d", len(got), len(text))
		}
	}
}
