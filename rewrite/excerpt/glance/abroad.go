package glance

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// meaningAbroad returns what a word of another language in lower case says that is written without accents. Words that
// English has too, with another meaning, are none of them.
func meaningAbroad(word []byte) Set {
	switch string(word) {
	case "fehler", "fehlgeschlagen", "gescheitert", "erreur", "errore", "erro", "fallo", "fallido", "fallida", "falha",
		"falhou", "fallito", "fallita":
		return Fail
	case "erreurs", "errores", "erros", "errori", "fallos", "falhas":
		return Fail | Count
	case "verweigert", "abgelehnt", "abgebrochen", "unbekannt", "impossible", "imposible", "impossibile", "refus",
		"inconnu", "denegado", "denegada", "rechazado", "rechazada", "desconocido", "negada", "recusado", "recusada",
		"negato", "rifiutata", "sconosciuto":
		return Trouble
	case "warnung", "warnungen", "avertissement", "avertissements", "advertencia", "advertencias", "aviso", "avisos",
		"avviso", "avvisi":
		return Warn
	case "kein", "keine", "keinen", "keiner", "ohne", "aucun", "aucune", "sans", "nessun", "nessuna", "senza", "sin",
		"ninguna", "sem", "nenhum", "nenhuma":
		return None
	}
	return 0
}

// meaningOfAccented returns what a word in lower case says that has letters which ASCII does not have.
func meaningOfAccented(word string) Set {
	switch word {
	case "échec", "échoué", "échouée", "ошибка", "сбой", "исключение", "авария":
		return Fail
	case "ошибки", "ошибок", "échecs":
		return Fail | Count
	case "отказано", "удалось", "запрещено", "недоступен", "überschritten", "ungültig", "прервано", "отклонено":
		return Trouble
	case "предупреждение", "предупреждения":
		return Warn
	}
	return 0
}

// signs are words of scripts that put no spaces between them.
var signs = [...]struct {
	word string
	says Set
}{
	{"エラー", Fail}, {"失敗", Fail}, {"例外", Fail}, {"致命的", Fail}, {"错误", Fail}, {"錯誤", Fail}, {"失败", Fail},
	{"异常", Fail}, {"致命", Fail}, {"严重", Fail}, {"오류", Fail}, {"실패", Fail}, {"拒否", Trouble}, {"拒绝", Trouble},
	{"できません", Trouble}, {"できない", Trouble}, {"无法", Trouble}, {"無法", Trouble}, {"不足", Trouble},
	{"警告", Warn}, {"경고", Warn},
}

// readAbroad notes the word that begins with the byte above ASCII at which the reader stands, if it says anything.
func (s *reader) readAbroad() {
	c, _ := utf8.DecodeRuneInString(s.text[s.at:])
	switch c { // with which one of the words below begins
	case 'エ', '失', '例', '致', '错', '錯', '异', '严', '오', '실', '拒', 'で', '无', '無', '不', '警', '경':
	case 'é', 'É', 'о', 'О', 'с', 'С', 'и', 'И', 'а', 'А', 'у', 'У', 'з', 'З', 'н', 'Н', 'п', 'П', 'ü', 'Ü':
	default:
		return
	}
	if c >= 0x2e80 {
		for _, sign := range signs {
			if strings.HasPrefix(s.text[s.at:], sign.word) {
				s.noteSign(sign.says, s.at+len(sign.word))
				return
			}
		}
		return
	}
	s.readAccented()
}

// readAccented notes the word that begins with the letter at which the reader stands, if it says anything.
func (s *reader) readAccented() {
	if before, _ := utf8.DecodeLastRuneInString(s.text[:s.at]); unicode.IsLetter(before) {
		return
	}
	end := strings.IndexFunc(s.text[s.at:min(len(s.text), s.at+4*longestWord)], isNoLetter)
	if end < 0 {
		end = min(len(s.text), s.at+4*longestWord) - s.at
	}
	word := s.text[s.at : s.at+end]
	says, after := meaningOfAccented(strings.ToLower(word)), s.text[s.at+end:]
	if says == 0 || isZero(after) || endsIn(s.text[:s.at], "без ", "нет ", "ни одной ") {
		return
	}
	if word == "удалось" && !endsIn(s.text[:s.at], "не ") { // without its not, it did
		return
	}
	if of := strings.TrimLeft(after, " "); strings.EqualFold(word, "ошибок") && // of them: none
		(strings.HasPrefix(of, "не ") || strings.HasPrefix(of, "нет")) {
		return
	}
	s.noteAbroad(says, s.at+end, s.at == 0 || word == strings.ToUpper(word))
}

// endsIn reports whether a text ends with one of the endings, in lower or upper case.
func endsIn(text string, endings ...string) bool {
	const longest = 40 // bytes
	text = strings.ToLower(text[max(0, len(text)-longest):])
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(text, e) })
}

// isZero reports whether behind a word its number stands, which is none.
func isZero(after string) bool {
	for _, sign := range [...]string{"数", " ", ":", "：", " "} {
		after = strings.TrimPrefix(after, sign)
	}
	rest, is := strings.CutPrefix(after, "0")
	if !is || rest == "" {
		return is
	}
	isPart := func(c byte) bool { return isDigit(c) || isLetter(c) }
	return !isPart(rest[0]) && (len(rest) == 1 || rest[0] != '.' || !isPart(rest[1]))
}

func isNoLetter(c rune) bool { return !unicode.IsLetter(c) }

// noteSign notes a word of a script without spaces. It is what the line is about only where it stands alone, as levels
// of logs do, or before a colon: as a part of other words it may be the name of a thing.
func (s *reader) noteSign(says Set, end int) {
	before, after := s.text[:s.at], s.text[end:]
	for _, no := range [...]string{"没有", "沒有", "无", "無", "0 个", "0个", "未发现"} {
		if rest, is := strings.CutSuffix(before, no); is && (no[0] != '0' || rest == "" || !isDigit(rest[len(rest)-1])) {
			return
		}
	}
	for _, no := range [...]string{"なし", "はありません", " 없", "가 없", "는 없", "이 없"} {
		if strings.HasPrefix(after, no) {
			return
		}
	}
	if isZero(after) {
		return
	}
	begins := before == "" || strings.HasSuffix(before, "【") ||
		strings.IndexByte(" \t[<|:)", before[len(before)-1]) >= 0
	ends := after == "" || strings.IndexByte(" \t\r])>", after[0]) >= 0 || strings.HasPrefix(after, "】")
	s.noteAbroad(says, end, begins && ends)
}

// noteAbroad notes a word of another language that ends at end. isStrong says that its form alone makes it what the
// line is about.
func (s *reader) noteAbroad(says Set, end int, isStrong bool) {
	s.All |= says | Abroad
	nearest := strings.TrimRight(s.text[max(0, s.at-2):s.at], " ")
	isNext := nearest != "" && isLetter(nearest[len(nearest)-1]) // the word before
	if s.before == 0 || isNext && s.last&None != 0 {
		return
	}
	s.Words |= says
	rest := strings.TrimPrefix(strings.TrimLeft(s.text[end:], " \u00a0"), "：")
	isBefore := len(rest) < len(strings.TrimLeft(s.text[end:], " \u00a0")) || strings.HasPrefix(rest, ":")
	if isStrong || isBefore {
		s.Strong |= says
	}
}
