// Package sentence reads what an agent says: its sentences, and how much each of them tells.
//
// It promises that a sentence stands in the text as it is, and that what it says of one depends on that one alone. A
// text is read in linear time, and of a very long one only the two ends.
package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/pattern"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// PartsOf are the short lines of a message, and the sentences of its longer lines: of a long message those at both
// ends. A block between fences is one part. What is too long to be told whole is left out.
func PartsOf(text string) (list []span.Span) {
	const (
		end     = 8 << 10 // bytes that are looked at, at each end
		short   = 240     // bytes of a line that goes whole or stays whole
		longest = 800     // bytes of a sentence
		fenced  = 240     // bytes of a block between fences
	)
	from, fences := 0, fencesIn(text)
	for line := range strings.Lines(text) {
		start := from
		from += len(line)
		for len(fences) > 0 && fences[0].End <= start {
			fences = fences[1:]
		}
		isOutside := start >= end && from <= len(text)-end
		if len(fences) > 0 && start >= fences[0].Start {
			if block := text[start:fences[0].End]; start == fences[0].Start && !isOutside && len(block) <= fenced {
				at := start + len(block) - len(strings.TrimLeft(block, " \t"))
				list = append(list, span.Span{Start: at, End: at + len(strings.TrimSpace(block))})
			}
			continue
		}
		if isOutside {
			continue
		}
		parts := []string{line}
		if len(line) > short {
			parts = cut(strings.TrimRight(line, "\r\n"))
		}
		for _, s := range parts {
			bare := strings.TrimSpace(s)
			at := start + strings.Index(s, bare)
			start += len(s)
			if isInEnds := at < end || at >= len(text)-end; bare != "" && len(bare) <= longest && isInEnds {
				list = append(list, span.Span{Start: at, End: at + len(bare)})
			}
		}
	}
	return list
}

// fencesIn are the blocks of a text between fences, with these. A fence that is never closed begins none.
func fencesIn(text string) (list []span.Span) {
	open, opened, from := "", 0, 0
	for line := range strings.Lines(text) {
		start := from
		from += len(line)
		mark := fenceOf(line)
		switch {
		case mark == "":
		case open == "":
			open, opened = mark, start
		case strings.HasPrefix(mark, open) && strings.TrimSpace(line) == mark:
			list, open = append(list, span.Span{Start: opened, End: from}), ""
		}
	}
	return list
}

// fenceOf is the fence with which a line begins; empty if there is none.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t")
	for _, mark := range [...]string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return line[:len(line)-len(strings.TrimLeft(line, mark[:1]))]
		}
	}
	return ""
}

// WithoutFences is a text without its blocks between fences.
func WithoutFences(text string) string {
	fences := fencesIn(text)
	if len(fences) == 0 {
		return text
	}
	var s strings.Builder
	from := 0
	for _, f := range fences {
		s.WriteString(text[from:f.Start])
		from = f.End
	}
	return s.String() + text[from:]
}

// cut cuts a line behind each full stop, question or exclamation mark that white space follows, and behind those of
// scripts that put no space there.
func cut(line string) (list []string) {
	start := 0
	for i, c := range line {
		end := i + utf8.RuneLen(c)
		switch c {
		case '.', '!', '?':
			if end == len(line) || line[end] != ' ' {
				continue
			}
		case '。', '！', '？':
			if strings.HasPrefix(line[end:], "」") || strings.HasPrefix(line[end:], "”") {
				continue
			}
		default:
			continue
		}
		list = append(list, line[start:end])
		start = end
	}
	return append(list, line[start:])
}

// Words of sentences that conclude something. They only decide what is told where there is no room for all.
var (
	concluding = []string{"root cause", "conclusion", "conclude", "cause is", "caused by", "reason is", "culprit", "turns out",
		"found the ", "found that ", "found it", "problem is", "problem was", "bug is", "bug was", "issue is",
		"issue was", "not work", "n't work", "cannot work", "not possible", "impossible", "not help", "n't help", " that back",
		"reverted", "gave up", "decided", "decision", "fixed", "the fix", "solved", "mended",
		"never ", "confirmed", "proves", "means that", "instead of", "failed because", "fails because", "still fails",
		"ursache", "liegt an ", "behoben", "la cause", "corrigé", "la causa", "corregid", "a causa", "corrigid", "причина",
		"исправлен", "原因", "修正しました", "解決", "已修复", "结论", "決定", "决定"}
	reasoning = []string{" because ", " so ", " cannot ", " can't ", " since ", "therefore", " hence ", " due to ", " but ",
		" missing", " wrong", " only ", "instead", " must ", "now pass", "not set", "truncat", "renamed",
		" weil ", "deshalb", " parce que ", " donc ", " porque ", " por eso ", "потому что", "поэтому", "ため、", "ので、", "因为", "所以"}
)

// WorthOf says how much a sentence tells: more if it concludes something or gives a reason, and if it names things.
func WorthOf(text string) (n int) {
	const concludes, reasons, mostNames = 4, 1, 2
	low := strings.ToLower(text)
	if containsAny(low, concluding) {
		n += concludes
	}
	if containsAny(low, reasoning) {
		n += reasons
	}
	names := 0
	shorten.EachName(text, func(string) { names++ })
	return n + min(names, mostNames)
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// SaysSomething reports whether a part is more than a rule, a fence or a heading.
func SaysSomething(line string) bool {
	if mark := fenceOf(line); mark != "" {
		_, inner, isBlock := strings.Cut(strings.TrimRight(line, mark[:1]), "\n")
		return isBlock && strings.TrimSpace(inner) != ""
	}
	if strings.HasPrefix(line, "#") {
		return false
	}
	return strings.ContainsFunc(line, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
}

// announces finds a sentence that says only what is called next.
var announces = pattern.Of(`(?i)^\W*(?:(?:ok|okay|now|next|first|then|also|great|good|perfect|so|and|but|alright)\W+)*` +
	`(?:let me|let['’]s|let us|i['’]ll|i will|(?:i['’]m|i am) (?:going to|now)|time to|` +
	`(?:(?:i['’]m|i am) )?(?:still |continuing|checking|waiting|running|rerunning|monitoring|looking|reading|opening|searching|` +
	`inspecting|returning|verifying|pulling))`)

// announcesOtherwise does so in other languages: they begin with what is done first, or end with what will be done.
var announcesOtherwise = pattern.Of(`(?i)^[\s\pP\pS]*(?:` +
	`(?:(?:gut|ok|okay|jetzt|nun|dann|zuerst|als nächstes)[ ,.:]+)*(?:lass mich|schauen wir|sehen wir|` +
	`ich (?:lese|prüfe|schaue|öffne|suche|starte|sehe mir|führe\b.*\baus)|` +
	`(?:lese|prüfe|schaue|öffne|suche|starte) ich|führe ich\b.*\baus)\b|` +
	`(?:(?:ahora|primero|luego|bien|vale|ok)[ ,.:]+)*(?:voy a|vamos a|déjame|permíteme)\b|` +
	`(?:(?:maintenant|d'abord|ensuite|bien|ok)[ ,.:]+)*(?:je vais|laisse[zs]?-moi|voyons|regardons)\b|` +
	`(?:(?:agora|primeiro|depois|bem|ok)[ ,.:]+)*(?:vou|vamos|deixe?-me|deixa eu)\b|` +
	`(?:(?:теперь|сейчас|сначала|затем|хорошо)[ ,.:]+)*(?:я )?(?:посмотрю|проверю|прочитаю|прочту|запущу|открою|поищу|давайте)(?:[\s,.]|$)|` +
	`(?:好的?[，,。 ]*)?(?:现在|接下来|首先|然后)?(?:让我|我来|我先|我将)(?:先)?(?:看|查|读|检查|运行|打开|搜索|确认)|` +
	`(?:まず|次に|では|それでは)?[^。]{0,60}(?:確認し|実行し|検索し|調べ|読み|見|開き|探し)(?:ます|てみます|ていきます)[。．]?$)`)

// names finds a sentence that says of one file or name that it is next.
var names = pattern.Of(`(?i)^[\s\pP\pS]*(?:now|next|then|jetzt|nun|dann|ahora|luego|maintenant|ensuite|agora|depois|теперь|` +
	`сейчас|затем)[ ,:]+\S*[./_]\pL\S*$`)

// LeadsOn reports whether a sentence ends in a colon: what it leads to stands behind it.
func LeadsOn(sentence string) bool { return strings.HasSuffix(strings.TrimRight(sentence, "*_ "), ":") }

// nods finds a sentence of one word that only says that things go on.
var nods = pattern.Of(`(?i)^\W*(?:ok|okay|good|great|perfect|excellent|nice|alright|right|sure|hmm|wait)\W*$`)

// IsIdleTalk reports whether what was said between two calls is short, and neither names nor concludes anything.
func IsIdleTalk(lines string) bool {
	const short = 80 // bytes
	if len(lines) > short || strings.ContainsAny(lines, "`0123456789") || containsAny(strings.ToLower(lines), concluding) {
		return false
	}
	named := false
	shorten.EachName(lines, func(string) { named = true })
	return !named
}

// AnnouncesOnly reports whether each sentence of a line says only what comes next.
func AnnouncesOnly(line string) bool {
	for _, s := range cut(line) {
		if !isPlan(s) {
			return false
		}
	}
	return true
}

// isPlan reports whether a sentence says only what comes next: it says so, or it ends in a colon before a call.
func isPlan(sentence string) bool {
	sentence = strings.TrimSpace(sentence)
	return sentence == "" || LeadsOn(sentence) || announces.MatchString(sentence) ||
		announcesOtherwise.MatchString(sentence) || names.MatchString(sentence) || nods.MatchString(sentence)
}
