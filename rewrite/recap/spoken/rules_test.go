package spoken

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// ruling is what rules says, as an expression.
var ruling = regexp.MustCompile(`(?i)\b(never|always|must|don't|do not|dont|only|from now on|whenever|every time|rule|` +
	`prefer|remember|make sure|important|note that|nie|niemals|immer|nur|regeln?|auf keinen fall|denk daran|` +
	`ab jetzt|ab sofort|partir de ahora|partir de agora|partir de maintenant|solo|` +
	`jamais|toujours|seulement|nunca|siempre|regla|sempre|regra|regola|obrigatório)\b|` +
	`règle|ésormais|ünftig|никогда|всегда|нельзя|правило|обязательно|только|с этого момента|отныне|впредь|` +
	`绝不|必须|总是|不要|永远|规则|禁止|切勿|不得|務必|务必|ルール|必ず|絶対に|常に|しないで|しないこと|今後|以后|以後|从现在起|今后|항상|절대|반드시|규칙`)

func TestRulesAreFoundByTheirWords(t *testing.T) {
	words := append(strings.FieldsFunc(strings.ReplaceAll(strings.ReplaceAll(ruling.String()[4:], `\b`, ""), "n?", "n"),
		func(c rune) bool { return strings.ContainsRune("()|?", c) }),
		"regel", "x", "r", " ", " ", "'", ".", "\n", "_", "é", "è", "ру", "必", "Do", "NOT", "now", "time", "7")
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 30_000 {
		var b strings.Builder
		for range 1 + random.IntN(3) {
			w := words[random.IntN(len(words))]
			switch random.IntN(6) {
			case 0:
				w = strings.ToUpper(w)
			case 1:
				w = w[:random.IntN(len(w)+1)]
			}
			b.WriteString(w)
		}
		text := b.String()
		want := ruling.MatchString(text)
		if got := rules(text); got != want {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
		if want {
			found++
		}
	}
	if found < 1_000 || found > 29_000 {
		t.Errorf("%d of 30 000 texts have a rule: the test shows little", found)
	}
}
