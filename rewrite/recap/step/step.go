// Package step reads a command line step by step, outside of quotes.
//
// It promises to part only what it understands, and few steps at most. It keeps each word as it was written, variables
// and wildcards too, as what is written again is run again; package shell, which claims files, wants to know what a
// word comes to, reads all of a script, and keeps nothing of the rest.
package step

import (
	"slices"
	"strconv"
	"strings"
)

// Step is one command of a command line, with what stands around it.
type Step struct {
	Words         []string
	Before, After string // "&&", "||", "|", "&" or ";"; empty at the ends
	IsWritten     bool   // what it puts out goes to a file
}

// In parts a command line, outside of quotes. ok is false if more than plain commands stands there, or very many.
func In(line string) (list []Step, ok bool) {
	const longest, most, mostDocuments = 8_000, 64, 8 // bytes, commands, documents that these are given
	if len(line) > longest {
		return nil, false
	}
	documents := 0
	var words []string
	before, isWritten := "", false
	end := func(op string) {
		if len(words) > 0 {
			list = append(list, Step{words, before, op, isWritten})
			words, before, isWritten = nil, op, false
		}
	}
	line = strings.ReplaceAll(line, "\\\n", " ")
	for line = strings.TrimLeft(line, " \t\r"); line != ""; line = strings.TrimLeft(line, " \t\r") {
		if op := operatorOf(line); op != "" {
			if len(list) == most {
				return nil, false
			}
			line = line[len(op):]
			if op == "\n" {
				op = ";"
			}
			end(op)
			continue
		}
		if word, rest, fine := documentOf(line); fine && documents < mostDocuments {
			words, line, documents = append(words, word), rest, documents+1
			continue
		}
		n, isOutput := outputOf(line)
		word, rest, fine := wordOf(line[n:])
		if !fine || isControl(word) && len(words) == 0 {
			return nil, false
		}
		line = rest
		if !isOutput {
			words = append(words, word)
		} else if word != "1" && word != "2" { // of the streams
			isWritten = true
		}
	}
	end("")
	if n := len(list); n > 0 && list[n-1].After == ";" {
		list[n-1].After = ""
	}
	return list, true
}

// operatorOf is the operator with which a text begins; empty if there is none.
func operatorOf(text string) string {
	for _, op := range [...]string{"&&", "||", ";", "\n", "|"} {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	if text[0] == '&' && !strings.HasPrefix(text, "&>") {
		return "&"
	}
	return ""
}

// outputOf is how many bytes say that the word behind them is where output goes.
func outputOf(text string) (n int, ok bool) {
	rest := strings.TrimLeft(text, "12&")
	if len(text)-len(rest) > 1 || !strings.HasPrefix(rest, ">") {
		return 0, false
	}
	rest = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(rest, ">"), ">"), "& \t")
	return len(text) - len(rest), true
}

// wordOf is the word with which a text begins, without its quotes. ok is false if what it says is not known.
func wordOf(text string) (word, rest string, ok bool) {
	var s strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n', ';', '|', '&':
			return s.String(), text[i:], i > 0
		case '\'', '"':
			n := quotedIn(text[i:])
			if n == 0 {
				return "", "", false
			}
			s.WriteString(text[i+1 : i+n-1])
			i += n - 1
		case '$':
			n := substitutionIn(text[i:])
			if n == 0 && strings.HasPrefix(text[i:], "$(") {
				return "", "", false
			}
			n = max(n, 1)
			s.WriteString(text[i : i+n])
			i += n - 1
		case '(', ')', '`', '<', '>', '\\', '{', '}', '#', '!':
			return "", "", false
		default:
			s.WriteByte(c)
		}
	}
	return s.String(), "", text != ""
}

// quotedIn is how many bytes of a text stand in the quotes with which it begins, with these; 0 if that is not known, or
// if a command stands there that does more than to show a document.
func quotedIn(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return i + 1
		case quote == '"' && c == '\\':
			i++
		case quote == '"' && c == '`':
			return 0
		case quote == '"' && strings.HasPrefix(text[i:], "$("):
			n := shownIn(text[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		}
	}
	return 0
}

// substitutionIn is how many bytes of a text are a command, in one line, the output of which the shell puts there; 0 if
// it begins with none.
func substitutionIn(text string) int {
	if !strings.HasPrefix(text, "$(") || strings.HasPrefix(text, "$((") {
		return 0
	}
	depth := 0
	for i, c := range text {
		switch c {
		case '\n', '`', '\'', '\\':
			return 0
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// isControl reports whether a word begins what is more than a plain command.
func isControl(word string) bool {
	switch word {
	case "for", "while", "until", "if", "case", "function", "do", "then", "eval":
		return true
	}
	return false
}

// Hidden says of each step whether the call may end well though the step does not.
func Hidden(steps []Step) []bool {
	list := make([]bool, len(steps))
	later := false
	for k := len(steps) - 1; k >= 0; k-- {
		switch steps[k].After {
		case "&":
			later = true
		case "|", ";", "||":
			later = later || k < len(steps)-1
		}
		list[k] = later || steps[k].Before == "||"
	}
	return list
}

// CutAt is how many lines of the first step's output the call's is, where that is the beginning of it; 0 if it is not,
// or if that is not known.
func CutAt(steps []Step) int {
	last := len(steps) - 1
	words := steps[last].Words
	if last == 0 || steps[last].Before != "|" || len(words) == 0 || words[0] != "head" || !ShowsEnd(steps[:last]) {
		return 0
	}
	const usual = 10
	option := strings.Join(words[1:], "")
	if option == "" {
		return usual
	}
	n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(option, "-"), "n"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// ShowsEnd reports whether the end of the first step's output is the end of the call's.
func ShowsEnd(steps []Step) bool {
	for _, s := range steps[1:] {
		if s.Before != "|" || len(s.Words) == 0 || !slices.Contains([]string{"tail", "tee", "cat"}, s.Words[0]) {
			return false
		}
	}
	return steps[0].Before != "||" && steps[len(steps)-1].After != "&"
}
