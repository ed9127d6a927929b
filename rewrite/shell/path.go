package shell

import (
	"path"
	"slices"
	"strings"
)

const (
	MostFiles   = 50   // of a command, each of those read and those written
	LongestPath = 1024 // bytes
)

// CanBePath reports whether a text can be a path.
func CanBePath(p string) bool {
	return p != "" && len(p) <= LongestPath && !strings.ContainsAny(p, "\n\x00")
}

// AddFile adds a file to a list that has each only once. One more than may be in it shows that it is too long.
func AddFile(to []string, p string) []string {
	if !CanBePath(p) || len(to) > MostFiles || slices.Contains(to, p) {
		return to
	}
	return append(to, p)
}

// AddWritten adds a file to those written, as long as there is room. One that is left out is only not known.
func AddWritten(to []string, p string) []string {
	if len(to) == MostFiles {
		return to
	}
	return AddFile(to, p)
}

// PatchedFiles adds the files that a patch changes to a list: those of the format that begins "*** Begin Patch", or of
// a unified diff.
func PatchedFiles(to []string, patch string) []string {
	before := ""
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, " \t\r\n")
		if old, ok := strings.CutPrefix(line, "--- "); ok {
			before = old
			continue
		}
		if after, ok := strings.CutPrefix(line, "+++ "); ok && before != "" {
			to = AddWritten(AddWritten(to, inDiff(before)), inDiff(after))
		}
		before = ""
		if !strings.HasPrefix(line, "*** ") {
			continue
		}
		for _, mark := range [...]string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if p, ok := strings.CutPrefix(line, mark); ok {
				to = AddWritten(to, strings.TrimSpace(p))
			}
		}
	}
	return to
}

// DeletedFiles adds the files that a patch of the format that begins "*** Begin Patch" deletes to a list.
func DeletedFiles(to []string, patch string) []string {
	for line := range strings.Lines(patch) {
		if p, ok := strings.CutPrefix(line, "*** Delete File: "); ok {
			to = AddWritten(to, strings.TrimSpace(p))
		}
	}
	return to
}

// inDiff returns the path in the head of a unified diff; none for a file that is not there.
func inDiff(p string) string {
	p, _, _ = strings.Cut(p, "\t")
	if p == "/dev/null" {
		return ""
	}
	if strings.HasPrefix(p, "a/") || strings.HasPrefix(p, "b/") {
		p = p[2:]
	}
	return p
}

// under returns the path p, which is relative to dir, as it is seen from where dir is.
func under(dir, p string) string {
	if dir == "" || p == "" || rooted(p) || strings.HasPrefix(p, "~") {
		return p
	}
	return path.Join(dir, p)
}

// rooted reports whether a path begins at a root or a drive.
func rooted(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) || len(p) > 2 && p[1] == ':' &&
		(p[2] == '/' || p[2] == '\\')
}

// SameFile reports whether two spellings name one file as far as can be known. Equal ones do. A relative one does if
// the other begins at a root and ends in it at a slash; a folder of the agent's lies between. Two relative ones that
// differ do not: they begin at the same folder as a rule, and README.md and docs/README.md are two files there.
// Nothing is known of what begins above the folder where it is seen from.
func SameFile(a, b string) bool {
	a, b = cleanPath(a), cleanPath(b)
	if a == b {
		return a != "" && a != "."
	}
	if rooted(b) {
		a, b = b, a
	}
	if !rooted(a) || rooted(b) || b == "" || b == "." || strings.HasPrefix(b, "..") {
		return false
	}
	if rest, ok := strings.CutPrefix(b, "~/"); ok {
		home, ok := strings.CutSuffix(a, "/"+rest)
		return ok && (home == "/root" || path.Dir(home) == "/home" || strings.HasSuffix(path.Dir(home), "/Users"))
	}
	return b[0] != '~' && strings.HasSuffix(a, b) && a[len(a)-len(b)-1] == '/'
}

// cleanPath spells a path in the one way in which equal paths are equal.
func cleanPath(p string) string {
	if p == "" {
		return ""
	}
	if strings.IndexByte(p, '\\') >= 0 {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	return path.Clean(strings.TrimPrefix(p, "file://"))
}
