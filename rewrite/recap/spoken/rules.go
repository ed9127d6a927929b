package spoken

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isRuleWord reports whether a word is one with which something is said of all the work and not of one step of it. That
// only decides what stays where there is no room for all.
func isRuleWord(word []byte) bool {
	switch string(word) {
	case "never", "always", "must", "dont", "only", "whenever", "rule", "prefer", "remember", "important", "nie",
		"niemals", "immer", "nur", "regel", "regeln", "jamais", "toujours", "seulement", "nunca", "siempre",
		"solo", "regla", "sempre", "regra", "regola":
		return true
	}
	return false
}

// rulePhrases are those of several words: the first one, and what stands behind it.
var rulePhrases = [...]struct{ first, behind string }{{"don", "'t"}, {"do", " not"}, {"from", " now on"},
	{"every", " time"}, {"make", " sure"}, {"note", " that"}, {"auf", " keinen fall"}, {"denk", " daran"}, {"ab", " jetzt"},
	{"ab", " sofort"}, {"partir", " de ahora"}, {"partir", " de agora"}, {"partir", " de maintenant"}, {"obrigat", "ório"}}

// ruleSigns are those of other scripts, which count inside of words too; règle, désormais and künftig are such by their
// second letters.
var ruleSigns = []string{"ègle", "ésormais", "ünftig", "никогда", "всегда", "нельзя", "правило", "обязательно",
	"только", "с этого момента", "отныне", "впредь", "绝不", "必须", "总是", "不要", "永远", "规则", "禁止", "切勿", "不得",
	"務必", "务必", "以后", "以後", "从现在起", "今后", "ルール", "必ず", "絶対に", "常に", "しないで", "しないこと", "今後",
	"항상", "절대", "반드시", "규칙"}

// rules reports whether a text says something of all the work. It reads the text once, as users may paste very much.
func rules(text string) bool {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case isWordByte(c):
			n := wordLen(text[i:])
			if isRule(text[i:i+n], text[i+n:]) {
				return true
			}
			i += n
			continue
		case c >= utf8.RuneSelf && utf8.RuneStart(c) && isRuleSign(text, i):
			return true
		}
		i++
	}
	return false
}

// wordLen is how many bytes the word has with which a text begins.
func wordLen(text string) (n int) {
	for n < len(text) && isWordByte(text[n]) {
		n++
	}
	return n
}

// isRule reports whether a word is one of the words, or opens a phrase with what stands behind it.
func isRule(word, behind string) bool {
	const longest = 9 // letters of the words
	if len(word) > longest {
		return false
	}
	var low [longest]byte
	for i := range len(word) {
		low[i] = lower(word[i])
	}
	return isRuleWord(low[:len(word)]) || opensPhrase(low[:len(word)], behind)
}

// isWordByte reports whether c is one of a word of ASCII.
func isWordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// lower is a letter of ASCII as a small one.
func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// opensPhrase reports whether a word and what stands behind it are one of the phrases.
func opensPhrase(word []byte, behind string) bool {
	for i := range rulePhrases {
		p := &rulePhrases[i]
		n := len(p.behind)
		if string(word) == p.first && len(behind) >= n && strings.EqualFold(behind[:n], p.behind) &&
			(len(behind) == n || !isWordByte(behind[n])) {
			return true
		}
	}
	return false
}

// isRuleSign reports whether one of the signs stands at text[i].
func isRuleSign(text string, i int) bool {
	first, _ := utf8.DecodeRuneInString(text[i:])
	first = unicode.ToLower(first)
	for _, sign := range ruleSigns {
		if c, _ := utf8.DecodeRuneInString(sign); c != first || len(text)-i < len(sign) ||
			!strings.EqualFold(text[i:i+len(sign)], sign) {
			continue
		}
		if first != 'è' || i > 0 && text[i-1]|0x20 == 'r' {
			return true
		}
	}
	return false
}
