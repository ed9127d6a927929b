package sentence

import (
	"strings"
	"testing"
)

func TestPlansAreNoConclusions(t *testing.T) {
	f := func(sentence string, want bool) {
		t.Helper()
		if isPlan(sentence) != want {
			t.Errorf("%q is a plan: %v", sentence, !want)
		}
	}
	f("Let me look at the tests.", true)
	f("Now let me fix it:", true)
	f("Great, I'll run them again.", true)
	f("I’m checking the build.", true)
	f("Still waiting.", true)
	f("Now update the parser:", true)
	f("The cache key lacks the tenant.", false)
	f("I kept the old name, since two tests use it.", false)
	f("Letters are sorted by date.", false)
	f("**What is left:**", true)
	f("Good.", true)
	f("Perfect!", true)
	f("Good catch.", false)
	f("Done.", false)
	f("", true)
	f("Now usage.py.", true)
	f("Jetzt `quota.py`.", true)
	f("Теперь seat.py", true)
	f("Ich lese den Cache.", true)
	f("Gut, jetzt prüfe ich die Tests.", true)
	f("Ahora voy a ver los registros.", true)
	f("Je vais lire le fichier.", true)
	f("Agora vou rodar os testes.", true)
	f("Сейчас посмотрю, где это вызывается.", true)
	f("让我先看一下测试。", true)
	f("次にテストを実行します。", true)
	f("Ich sehe, dass der Preis fehlt.", false)
	f("Ich habe es gelesen: der Schlüssel fehlt.", false)
	f("Jetzt fehlt der Schlüssel.", false)
	f("Now it passes.", false)
	f("Ich führe die Tests aus.", true)
	f("Jetzt führe ich sie aus.", true)
	f("Ich führe den Fehler auf den Cache zurück.", false)
	f("Now 12.5%.", false)
	f("Now v2.1.0", false)
	f("Next: lib/v2.go", true)
	f("Now green.", false)
	f("Voy mal.", false)
	f("Я проверил: ключа нет.", false)
	f("测试全部通过，让我看一下。", false)
	f("Тесты прошли, сейчас посмотрю.", false)
	f("テストを修正しました。", false)
}

func TestLongLinesAreCutIntoSentences(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		var got []string
		for _, p := range PartsOf(text) {
			got = append(got, text[p.Start:p.End])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%.80q: %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("x", 239)
	f("One. Two.\n\n  Three!  \n", "One. Two.|Three!")
	f(long+". Two? Three", long+".|Two?|Three")
	f(strings.Repeat("x", 900)+". Two", "Two")
	f("", "")
	f("\r\n \n", "")
	if middle := strings.Repeat("a b\n", 20_000); len(PartsOf(middle)) > 5_000 {
		t.Error("the middle of a very long text is read")
	}
}

func TestConclusionsAreWorthMore(t *testing.T) {
	f := func(more, less string) {
		t.Helper()
		if WorthOf(more) <= WorthOf(less) {
			t.Errorf("%q is worth %d, %q %d", more, WorthOf(more), less, WorthOf(less))
		}
	}
	f("The root cause is in the vendor.", "The vendor is as before.")
	f("A global context cannot work.", "There is a global context.")
	f("It fails because of the cache.", "It is in the cache.")
	f("The rounding lives in payout/round.py.", "The rounding lives here.")
}

// A block between fences is one part or none, and no sentence; a fence that is never closed begins none.
func TestBlocksBetweenFencesAreNotTorn(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		var got []string
		for _, p := range PartsOf(text) {
			got = append(got, text[p.Start:p.End])
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	const block = "```go\nnever := 1\nreturn never\n```"
	f("It was this:\n"+block+"\nNow it is right.", "It was this:", block, "Now it is right.")
	f("```\n"+strings.Repeat("never push\n", 60)+"```\nDone.", "Done.")
	f("````\n```\nx\n```\n````\nDone.", "````\n```\nx\n```\n````", "Done.")
	f("```go\nnever := 1\nDone.", "```go", "never := 1", "Done.")
	f("~~~\nx\n~~~", "~~~\nx\n~~~")
	if got := WithoutFences("Mend it.\n" + block + "\nAt once."); got != "Mend it.\nAt once." {
		t.Errorf("without its blocks: %q", got)
	}
	if !SaysSomething(block) || SaysSomething("```\n```") || SaysSomething("```go") {
		t.Error("a block says something if something stands in it")
	}
}

func TestLongLinesOfScriptsWithoutSpacesAreCutToo(t *testing.T) {
	first := "データベースに接続できない原因は、証明書の期限が切れていたことです。"
	line := first + strings.Repeat("設定ファイルを確認し、サービスを再起動しました。", 20) + "「なぜ？」と聞かれました！"
	var all []string
	for _, p := range PartsOf(line) {
		all = append(all, line[p.Start:p.End])
	}
	if len(all) != 22 || all[0] != first || strings.Join(all, "") != line || all[21] != "「なぜ？」と聞かれました！" {
		t.Errorf("%d parts: %q", len(all), all)
	}
	if WorthOf(first) <= WorthOf("設定ファイルを確認しました。") {
		t.Error("a cause in Japanese is worth no more than any other sentence")
	}
}
