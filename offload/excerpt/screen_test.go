package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestScreenShowsWhatATerminalShows(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got, changed := Screen(text)
		if got != want || changed != (text != want) {
			t.Errorf("%q: got %q (changed %v), want %q", text, got, changed, want)
		}
	}
	f("", "")
	f("plain\n\ttext é\n", "plain\n\ttext é\n")
	f("dos\r\nlines\r\n", "dos\r\nlines\r\n")
	f("abc\rX", "Xbc")
	f("abc\rX\r\n", "Xbc\r\n")
	f("10%\r50%\r100%\ndone", "100%\ndone")
	f("éàü\rX", "Xàü")
	f("abc\r\r\ndef", "abc\r\ndef")
	f("abc\r", "abc")
	f("N\bNA\bA", "NA")
	f("\b\bab", "ab")
	f("ding\a\n", "ding\n")
	f("\x1b[1;31mred\x1b[0m text", "red text")
	f("\x1b]0;title\ato\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "tolink")
	f("\x1b]never ends\nnext\a", "never ends\nnext")
	f("\x1bPq#0\x1b\\a\x1b(Bb\x1b=c\x1b", "abc")
	f("a\x1b[", "a")
	f("a\x1b[3\nb", "a\nb")
	f("a\x1b[3éb", "aéb")
	f("long line\r\x1b[Kshort", "short")
	f("abcdef\x1b[3D\x1b[K", "abc")
	f("abcdef\x1b[3D\x1b[1K", "abcdef")
	f("abcdef\x1b[1K.", "      .")
	f("abc\x1b[2K\rx", "x")
	f("abc\x1b[2Gx", "axc")
	f("a\x1b[3Cb", "a   b")
	f("one\ntwo\n\x1b[2A\x1b[2Kuno\n\x1b[2Kdue\n", "uno\ndue\n")
	f("one\ntwo\nthree\x1b[2Fx\x1b[1Ey", "xne\nywo\nthree")
	f("one\ntwo\n\x1b[1A\x1b[1Bx", "one\ntwo\nx")
	f("one\ntwo\nthree\n\x1b[2A\x1b[Jnew\n", "one\nnew\n")
	f("one\r\ntwo\x1b[A!\nx", "one!\r\nxwo")
	f("first\x1b[2J\x1b[Hsecond\x1b[5;5H\x1b[9Athird", "first\nsecond\nthird")
	f("shell\n\x1b[?1049h\x1b[Hedit\x1b[?25hor", "shell\neditor")
	f("one\ntwo\x1b[A\x1b[J", "one")
	wide := strings.Repeat("y", screenWidth+100)
	f(wide+"\x1b[CX", wide+"X")
	f(wide+"\x1b[9999GX", wide[:screenWidth]+"X"+wide[screenWidth+1:])
	f("x\x1b[999999999999999999999Ay", "xy")
	many := strings.Repeat("line\n", screenReach+200)
	some := many[:5*350] // so that lines settle, and what is settled reaches beyond the clear line
	f(many+"\x1b[2J"+some+"\x1b[9AX", many+some[:5*341]+"Xine\n"+some[:5*8])
	f(many+"\x1b[2Ja\nb\x1b[9AX", many+"aX\nb")
	far := strings.Repeat("line\n", 2*screenReach)
	f(far+"\x1b[9999AX", strings.Repeat("line\n", screenReach+1)+"Xine\n"+strings.Repeat("line\n", screenReach-2))
}

// The screen of a text in UTF-8 has no screen of its own, is not much longer than the text, and makes nothing up.
func FuzzScreen(f *testing.F) {
	f.Add("10%\r20%\r\n\x1b[1A\x1b[2K\x1b[31mx\x1b[0m\b\a\x1b]0;t\a")
	f.Add("a\x1b[2Jb\x1b[1Kc\x1b[0Jd\x1b[5Ge")
	f.Fuzz(func(t *testing.T, text string) {
		Screen(text) // bytes that are no UTF-8 must do no harm
		text = strings.ToValidUTF8(text, "?")
		got, changed := Screen(text)
		if again, isChanged := Screen(got); isChanged || again != got || changed == (got == text) {
			t.Fatalf("%q: changed %v, the screen %q has the screen %q", text, changed, got, again)
		}
		isMadeUp := func(r rune) bool { return r != ' ' && r != '\n' && !strings.ContainsRune(text, r) }
		if !utf8.ValidString(got) || len(got) > 2*len(text) || strings.ContainsFunc(got, isMadeUp) {
			t.Fatalf("%q: got %q", text, got)
		}
	})
}

// manyBytes is a length at which anything that is not linear would take minutes.
const manyBytes = 1 << 20

func TestAwkwardScreensAreMadeInOnePass(t *testing.T) {
	long := strings.Repeat("x", manyBytes/2)
	for _, text := range []string{
		long + strings.Repeat("\r\x1b[499C\x1b[1K", manyBytes/20),
		long + strings.Repeat("\rx\x1b[K", manyBytes/20),
		long + strings.Repeat("\r\x1b[500C\x1b[1K\x1b[K", manyBytes/20),
		long + strings.Repeat("\ra", manyBytes/20),
		long + strings.Repeat("\n\x1b[Ax", manyBytes/20),
		long + strings.Repeat("\n\x1b[A\x1b[J", manyBytes/20),
		strings.Repeat("\x1b]", manyBytes/20), strings.Repeat("\x1b[1;", manyBytes/20),
		strings.Repeat("x\x1b[H", manyBytes/20),
		"\x1b]" + long, "\x1b[" + strings.Repeat("1", manyBytes), strings.Repeat("\n\x1b[999A", manyBytes/20),
		strings.Repeat("\r", manyBytes),
	} {
		if got, _ := Screen(text); len(got) > 2*len(text) {
			t.Errorf("%.20q: %d bytes became %d", text, len(text), len(got))
		}
	}
}
