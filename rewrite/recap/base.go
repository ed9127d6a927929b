package recap

import (
	"path"
	"strings"
)

// base is the folder below which most files of a span lie. Their paths are told from there on.
type base struct {
	folder string // without a slash at its end; empty if no folder is worth it
	told   bool   // a heading says which it is
}

const (
	baseSign  = "…"
	leastBase = 16 // bytes of a folder: a shorter one is told with each file
	leastIn   = 4  // files in it
)

// baseOf finds the deepest folder that has nearly all absolute paths in it.
func baseOf(paths []string) (b base) {
	in := map[string]int{} // folder to the paths in it
	all := 0
	for _, p := range paths {
		if !path.IsAbs(p) {
			continue
		}
		all++
		for dir := path.Dir(p); len(dir) > 1; dir = path.Dir(dir) {
			in[dir]++
		}
	}
	for dir, n := range in {
		if n >= leastIn && n*10 >= all*8 && len(dir) >= leastBase && len(dir) > len(b.folder) {
			b.folder = dir
		}
	}
	return b
}

// shorten is a path from the folder on.
func (b *base) shorten(file string) string {
	if rest, ok := strings.CutPrefix(file, b.folder); ok && b.folder != "" && strings.HasPrefix(rest, "/") {
		return baseSign + rest
	}
	return file
}

// heading is that of a part; the first one with such paths in it says where they begin.
func (b *base) heading(head, text string) string {
	if b.folder == "" || b.told || !strings.Contains(text, baseSign+"/") {
		return head
	}
	b.told = true
	return head + "; " + baseSign + " is " + b.folder
}
