// Package filing is what calls did to files, line by line: which lines they put in, and which of these newer calls took
// out again.
//
// It promises that a line counts as standing only if no newer call is known to have taken it out, and that a call is
// read once, however many files it names.
package filing

import (
	"path"
	"slices"
	"strings"

	"epitome/rewrite/history/action"
	"epitome/rewrite/shell"
)

// longestPatch is how many bytes of a patch are read, and mostAlike how many of its files with one last name.
const longestPatch, mostAlike = 256 << 10, 200

// Call is what one call puts into files and takes out of them.
type Call struct {
	put, gone []string            // of all its files, if it is no patch
	parts     map[string][]change // of a patch, by the last name of the file
}

// change is what a patch does to one file.
type change struct {
	file      string
	put, gone []string
}

// Read reads a call from its arguments. free says that they are no JSON.
func Read(arguments []byte, free bool) *Call {
	if len(arguments) <= longestPatch {
		if text := action.ArgumentTexts(arguments, free); isPatch(text) {
			return &Call{parts: changesIn(text)}
		}
	}
	put, gone := action.ChangedLines(arguments, free, "")
	return &Call{put: put, gone: gone}
}

// Of are the lines that the call puts into a file and those that it takes out of it, those of a patch with its signs.
// isPatch says that they are whole lines.
func (c *Call) Of(file string) (put, gone []string, isPatch bool) {
	if c.parts == nil {
		return c.put, c.gone, false
	}
	var best *change
	parts := c.parts[path.Base(file)]
	for k := range parts {
		if p := &parts[k]; shell.SameFile(p.file, file) && (best == nil || len(p.file) > len(best.file)) {
			best = p
		}
	}
	if best == nil {
		return nil, nil, true
	}
	return best.put, best.gone, true
}

func isPatch(text string) bool {
	return strings.Contains(text, "*** Begin Patch") || strings.Contains(text, "\n+++ ") || strings.HasPrefix(text, "--- ")
}

// changesIn are what a patch does to each of its files, of the format that begins "*** Begin Patch" or of a unified
// diff.
func changesIn(text string) map[string][]change {
	parts := map[string][]change{}
	var now *change
	end := func() {
		if now != nil && len(parts[path.Base(now.file)]) < mostAlike {
			base := path.Base(now.file)
			parts[base] = append(parts[base], *now)
		}
		now = nil
	}
	before := ""
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimRight(l, "\r")
		name, begins := fileIn(l, before)
		if before = ""; strings.HasPrefix(l, "--- ") {
			before = l
		}
		switch {
		case begins && now != nil && strings.HasPrefix(l, "*** Move to: "):
			now.file = name // what was changed lies there
		case begins:
			end()
			now = &change{file: name}
		case strings.HasPrefix(l, "*** End Patch"), strings.HasPrefix(l, "*** Delete File: "),
			strings.HasPrefix(l, "diff --git "):
			end()
		case now == nil || before != "":
		case strings.HasPrefix(l, "+"):
			now.put = append(now.put, l)
		case strings.HasPrefix(l, "-"):
			now.gone = append(now.gone, l)
		}
	}
	end()
	return parts
}

// fileIn is the file that a line of a patch says it goes on with. before is the line above if that names a file.
func fileIn(line, before string) (name string, ok bool) {
	for _, mark := range [...]string{"*** Update File: ", "*** Add File: ", "*** Move to: "} {
		if name, ok = strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(name), true
		}
	}
	if name, ok = strings.CutPrefix(line, "+++ "); !ok || before == "" {
		return "", false
	}
	name, _, _ = strings.Cut(name, "\t")
	return strings.TrimPrefix(strings.TrimSpace(name), "b/"), true
}

// File is what newer calls have left of a file: older lines are held against it.
type File struct {
	Anew  bool            // newer calls wrote it whole or deleted it: only what even newer ones put in is left
	put   map[string]bool // lines that newer calls put in, and that stand
	gone  map[string]bool // lines that newer calls took out, and that none put in again
	parts []string        // what newer edits took out that may have been a part of a line, the newest first
}

// mostParts is how many parts of lines are kept of a file, and leastPart how many bytes one has.
const mostParts, leastPart = 16, 3

// Change notes the lines that a call older than those before put into the file and took out of it. Whole lines are of a
// patch: others may be parts of lines.
func (f *File) Change(put, gone []string, isWhole bool) {
	if f.gone == nil {
		f.put, f.gone = map[string]bool{}, map[string]bool{}
	}
	isUndone := !slices.ContainsFunc(put, func(l string) bool { return !f.gone[bare(l, isWhole)] })
	var stand []string
	for _, l := range put {
		if l = bare(l, isWhole); !f.put[l] && f.Holds(l, false) {
			stand = append(stand, l)
		}
	}
	for _, l := range gone {
		if l = bare(l, isWhole); f.put[l] && isUndone { // it was brought back
			continue
		}
		f.gone[l] = true
		if !isWhole && len(l) >= leastPart && len(f.parts) < mostParts {
			f.parts = append(f.parts, l)
		}
	}
	for _, l := range stand {
		f.put[l] = true
	}
}

// Holds reports whether a line that an older call put into the file may stand there still.
func (f *File) Holds(line string, isPatch bool) bool {
	line = bare(line, isPatch)
	if f.put[line] {
		return true
	}
	if f.Anew || f.gone[line] {
		return false
	}
	for _, part := range f.parts {
		if hasWords(line, part) {
			return false
		}
	}
	return true
}

// bare is a line as it is compared: without white space around it, and without the sign of a patch.
func bare(line string, isPatch bool) string {
	if isPatch && line != "" && strings.IndexByte("+-", line[0]) >= 0 {
		line = line[1:]
	}
	return strings.TrimSpace(line)
}

// hasWords reports whether a part stands in a line so that no word is torn.
func hasWords(line, part string) bool {
	for from := 0; ; {
		at := strings.Index(line[from:], part)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(part)
		isTorn := at > 0 && isOfWord(line[at-1]) && isOfWord(part[0]) ||
			end < len(line) && isOfWord(line[end]) && isOfWord(part[len(part)-1])
		if !isTorn {
			return true
		}
		from = at + 1
	}
}

func isOfWord(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
