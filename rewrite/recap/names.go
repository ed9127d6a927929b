package recap

import (
	"cmp"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// shareOfNames is how much of a summary may be names.
const shareOfNames = 0.1

// names are those that the calls of the span use, beside what they write into files, and that stand nowhere else in the
// request, those used latest first, on few lines: paths by their folders, then all others on one. size is that of the
// rest of the summary, in bytes.
func (w *writer) names(k *known, tokens, size int) string {
	var all []string
	for name, at := range k.used {
		if !k.told[name] && k.spoken[name] && at < w.To && !isRound(name) {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if c := cmp.Compare(k.used[b], k.used[a]); c != 0 {
			return c
		}
		if c := cmp.Compare(len(b), len(a)); c != 0 { // a/b.go before b.go
			return c
		}
		return strings.Compare(a, b)
	})
	room := min(bytesFor(tokens), int(shareOfNames*float64(size)))
	var paths folders
	var words []string
	told, seen := "", k.files()
	for _, name := range withoutSed(all) {
		if strings.LastIndexByte(name, '/') == 0 { // as in a pattern, behind **
			name = name[1:]
		}
		if k.told[name] || strings.Contains(told, name) || !seen.mayHold(name) {
			continue
		}
		if room -= len(name) + 2; room < 0 {
			break
		}
		if told += name + "\n"; strings.Contains(name, "/") {
			paths.add(name)
		} else {
			words = append(words, name)
		}
	}
	return paths.lines() + strings.Join(words, " ")
}

// seenFiles are the paths of files that are known, each behind the end of a line and a slash.
type seenFiles struct {
	text string
	left int // how often it may still be searched
}

// files are those of which names tell.
func (k *known) files() *seenFiles {
	const searches = 300
	var list []string
	for _, names := range []iter.Seq[string]{maps.Keys(k.used), maps.Keys(k.told)} {
		for name := range names {
			if dir, base := path.Split(name); dir != "" && strings.Contains(strings.TrimLeft(base, "."), ".") {
				list = append(list, name)
			}
		}
	}
	return &seenFiles{"\n/" + strings.Join(list, "\n/"), searches}
}

// mayHold reports whether a name may be one of a file or folder, if it has slashes. Plain words between slashes mostly
// are a choice of words, as in "provider/agent", unless files lie there.
func (s *seenFiles) mayHold(name string) bool {
	bare := strings.TrimRight(name, "/")
	isPlain := !strings.ContainsFunc(bare, func(c rune) bool { return c != '/' && !unicode.IsLetter(c) })
	if !isPlain || strings.LastIndexByte(bare, '/') <= 0 || bare[0] == '/' {
		return true
	}
	s.left--
	return s.left >= 0 && strings.Contains(s.text, "/"+bare+"/")
}

// withoutSed has the names in expressions of sed in the place of these: what parts them is no folder.
func withoutSed(names []string) (list []string) {
	for _, name := range names {
		expression, is := strings.CutPrefix(name, "s/")
		if !is {
			list = append(list, name)
			continue
		}
		for part := range strings.SplitSeq(expression, "/") {
			if len(part) >= 4 { // the shortest that is a name
				list = append(list, part)
			}
		}
	}
	return list
}

// isRound reports whether a name is a round number, as limits and pauses are.
func isRound(name string) bool {
	return strings.Trim(name, "0123456789") == "" && strings.HasSuffix(name, "000")
}
