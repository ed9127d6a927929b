package history

import (
	"path"
	"strings"

	"epitome/rewrite/span"
)

// LinesPutIn are the lines that a call puts into a file: of a patch those that it adds, else those of the new text that
// do not stand in the old one. free says that the arguments are no JSON.
func LinesPutIn(arguments []byte, free bool, file string) (list []string) {
	const longest = 64 << 10 // bytes of a call that are looked at
	if len(arguments) > longest {
		return nil
	}
	if free || !span.Valid(arguments) {
		return addedLines(string(arguments), file)
	}
	var put, gone []string
	eachText(arguments, span.SkipSpace(arguments, 0), "", func(key, text string) {
		switch {
		case isPatch(text):
			put = append(put, addedLines(text, file)...)
		case namesOld(key):
			gone = append(gone, strings.Split(text, "\n")...)
		case namesNew(key):
			put = append(put, strings.Split(text, "\n")...)
		}
	})
	old := make(map[string]bool, len(gone))
	for _, l := range gone {
		old[strings.TrimSpace(l)] = true
	}
	for _, l := range put {
		if !old[strings.TrimSpace(l)] {
			list = append(list, l)
		}
	}
	return list
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

// addedLines are the lines that a patch adds to a file.
func addedLines(text, file string) (list []string) {
	in := false
	for l := range strings.SplitSeq(text, "\n") {
		for _, mark := range [...]string{"*** Update File: ", "*** Add File: ", "*** Move to: ", "+++ "} {
			if name, ok := strings.CutPrefix(l, mark); ok {
				in = path.Base(strings.TrimSpace(name)) == path.Base(file)
			}
		}
		if in && strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++ ") {
			list = append(list, l)
		}
	}
	return list
}
