package recap

import (
	"cmp"
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
		if !k.told[name] && k.spoken[name] && at < w.To && !isRound(name) && !isStream(name) {
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
	all = withoutSed(all)
	told, choices := "", k.choices(all)
	for _, name := range all {
		if strings.LastIndexByte(name, '/') == 0 { // as behind a quoted variable
			name = name[1:]
		}
		if k.told[name] || strings.Contains(told, name) || isChoice(name) && !choices[name] {
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

// choices are the names that may be a choice of words, as "provider/agent" is: plain words between slashes. They are
// true where files are known in a folder of that name, or in the folder that the name would lie in.
func (k *known) choices(names []string) map[string]bool {
	const most = 300
	places := map[string]bool{} // folders that would tell, and whether a file lies in them
	var list []string
	for _, name := range names {
		if len(list) < most && isChoice(name) {
			list = append(list, name)
			places[name], places[path.Dir(name)] = false, false
		}
	}
	if len(list) == 0 {
		return nil
	}
	for name := range k.used {
		noteFolders(places, name)
	}
	for name := range k.told {
		noteFolders(places, name)
	}
	found := map[string]bool{}
	for _, name := range list {
		found[name] = places[name] || places[path.Dir(name)]
	}
	return found
}

// isChoice reports whether a name is plain words between slashes.
func isChoice(name string) bool {
	return strings.LastIndexByte(name, '/') > 0 && name[0] != '/' &&
		!strings.ContainsFunc(name, func(c rune) bool { return c != '/' && !unicode.IsLetter(c) })
}

// noteFolders notes in places the folders that a file with this path lies in, by all their names but the longest ones.
func noteFolders(places map[string]bool, file string) {
	const deepest = 6 // folders in a name
	dir, base := path.Split(file)
	if dir == "" || !strings.Contains(strings.TrimLeft(base, "."), ".") {
		return
	}
	for start := 0; start < len(dir); {
		end := start
		for range deepest {
			n := strings.IndexByte(dir[end:], '/')
			if n < 0 {
				break
			}
			end += n
			if _, asked := places[dir[start:end]]; asked {
				places[dir[start:end]] = true
			}
			end++
		}
		start += strings.IndexByte(dir[start:], '/') + 1
	}
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

// isStream reports whether a name is that of a stream, not of a file that somebody has to find again.
func isStream(name string) bool {
	return name == "/dev/null" || name == "/dev/tty" || strings.HasPrefix(name, "/dev/std")
}
