package recap

import (
	"path"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/span"
)

// callOf is the call that the result answers; nil if there is none.
func (r *writer) callOf(res *history.Result) *conversation.Call {
	caller := r.callers[res.Item]
	if caller < 0 {
		return nil
	}
	calls := r.p.Req.Items[r.p.Req.Head+caller].Calls
	for k := range calls {
		if calls[k].ID == r.p.Req.Items[r.p.Req.Head+res.Item].Answers {
			return &calls[k]
		}
	}
	return nil
}

// linesPutIn are the lines that a call puts into a file: of a patch those that it adds, else those of the new text that
// do not stand in the old one.
func linesPutIn(body []byte, call *conversation.Call, file string) (list []string) {
	const longest = 64 << 10 // bytes of a call that are looked at
	arguments := span.TextOf(call.Arguments.Of(body))
	if len(arguments) > longest {
		return nil
	}
	if call.FreeText || !span.Valid(arguments) {
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
