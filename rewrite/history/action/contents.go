package action

import (
	"path"
	"strings"

	"epitome/rewrite/span"
)

// ChangedLines are the lines that a call puts into a file and those that it takes out: of a patch those that it adds
// and removes, else those of the new text that do not stand in the old one, and the other way round. free says that the
// arguments are no JSON.
func ChangedLines(arguments []byte, free bool, file string) (put, gone []string) {
	const longest = 64 << 10 // bytes of a call that are looked at
	if len(arguments) > longest {
		return nil, nil
	}
	if free || !span.Valid(arguments) {
		return patchedLines(string(arguments), file, "+"), patchedLines(string(arguments), file, "-")
	}
	var comes, goes []string
	eachText(arguments, span.SkipSpace(arguments, 0), "", func(key, text string) {
		switch {
		case isPatch(text):
			put = append(put, patchedLines(text, file, "+")...)
			gone = append(gone, patchedLines(text, file, "-")...)
		case namesOld(key):
			goes = append(goes, strings.Split(text, "\n")...)
		case namesNew(key):
			comes = append(comes, strings.Split(text, "\n")...)
		}
	})
	return append(put, without(comes, goes)...), append(gone, without(goes, comes)...)
}

// without are the lines of a list that do not stand in another one, but for white space around them.
func without(list, other []string) (rest []string) {
	others := make(map[string]bool, len(other))
	for _, l := range other {
		others[strings.TrimSpace(l)] = true
	}
	for _, l := range list {
		if !others[strings.TrimSpace(l)] {
			rest = append(rest, l)
		}
	}
	return rest
}

// TextsBesideContents is what the arguments of a call that writes a file say, without what was or comes into the file.
func TextsBesideContents(arguments []byte, free bool) string {
	if free || !span.Valid(arguments) {
		return ""
	}
	var s strings.Builder
	eachText(arguments, span.SkipSpace(arguments, 0), "", func(key, text string) {
		if !namesOld(key) && !namesNew(key) && !isPatch(text) {
			s.WriteString(text + "\n")
		}
	})
	return s.String()
}

// eachText gives f each text in a JSON value with the key under which it stands.
func eachText(b []byte, i int, key string, f func(key, text string)) int {
	end, err := i, error(nil)
	switch b[i] {
	case '"':
		if end, err = span.EndOfValue(b, i); err == nil {
			f(key, string(span.TextOf(b[i:end])))
		}
	case '{':
		end, err = span.Members(b, i, func(k []byte, i int) (int, error) { return eachText(b, i, string(k), f), nil })
	case '[':
		end, err = span.Elements(b, i, func(i int) (int, error) { return eachText(b, i, key, f), nil })
	default:
		end, err = span.EndOfValue(b, i)
	}
	if err != nil {
		return len(b)
	}
	return end
}

// namesOld reports whether an argument of this name says what goes.
func namesOld(key string) bool {
	key = strings.ToLower(key)
	return strings.Contains(key, "old") || strings.Contains(key, "search") || strings.Contains(key, "find") ||
		strings.Contains(key, "before")
}

// namesNew reports whether an argument of this name says what comes.
func namesNew(key string) bool {
	key = strings.ToLower(key)
	for _, word := range [...]string{"new", "content", "text", "body", "code", "replace", "insert", "source"} {
		if strings.Contains(key, word) && !strings.Contains(key, "path") && !strings.Contains(key, "file_name") {
			return true
		}
	}
	return false
}

func isPatch(text string) bool {
	return strings.Contains(text, "*** Begin Patch") || strings.Contains(text, "\n+++ ")
}

// patchedLines are the lines that a patch adds to a file or removes from it, with that sign.
func patchedLines(text, file, sign string) (list []string) {
	in := false
	for l := range strings.SplitSeq(text, "\n") {
		for _, mark := range [...]string{"*** Update File: ", "*** Add File: ", "*** Move to: ", "+++ "} {
			if name, ok := strings.CutPrefix(l, mark); ok {
				in = path.Base(strings.TrimSpace(name)) == path.Base(file)
			}
		}
		if in && strings.HasPrefix(l, sign) && !strings.HasPrefix(l, "+++ ") && !strings.HasPrefix(l, "--- ") {
			list = append(list, l)
		}
	}
	return list
}

// ArgumentTexts is what the arguments of a call say: the texts and numbers in them, one to a line.
func ArgumentTexts(arguments []byte, free bool) string {
	if free || !span.Valid(arguments) {
		return string(arguments)
	}
	var s strings.Builder
	span.Leaves(arguments, span.SkipSpace(arguments, 0), func(v span.Span) {
		s.Write(span.TextOf(v.Of(arguments)))
		s.WriteByte('\n')
	})
	return s.String()
}
