// Package where follows commands from folder to folder: where the next one runs, and in which settings. It is pure.
package where

import (
	"path"
	"slices"
	"strings"
)

// Longest is how many bytes of a folder are kept; of a setting, and of settings, the newest, fewer are.
const (
	Longest                      = 1_000
	longestSetting, mostSettings = 200, 24
)

// Place is a folder and what was set in it.
type Place struct {
	Folder string
	Set    []string
	left   string // the folder before
}

func (w *Place) enter(folder string) {
	was := w.Folder
	defer func() { w.left = was }()
	switch {
	case folder == "-":
		w.Folder = w.left
	case path.IsAbs(folder) || w.Folder == "":
		w.Folder = path.Clean(folder)
	case !strings.HasPrefix(folder, "..") && strings.HasSuffix("/"+w.Folder, "/"+path.Clean(folder)):
		// the same again: it began anew
	default:
		w.Folder = path.Join(w.Folder, folder)
	}
	w.Folder = w.Folder[max(0, len(w.Folder)-Longest):]
}

// InWords is equal for equal places.
func (w *Place) InWords() string { return w.Folder + "\x00" + strings.Join(w.Set, "\x00") }

// Change notes what a command changes for those behind it.
func (w *Place) Change(words []string) {
	switch words[0] {
	case "cd", "pushd":
		w.enter(strings.Join(words[1:], " "))
	case "export", "source", ".", "unset", "set", "popd":
		said := strings.Join(words, " ")
		said = said[:min(len(said), longestSetting)]
		w.Set = append(slices.DeleteFunc(w.Set, func(s string) bool { return s == said }), said)
		w.Set = w.Set[max(0, len(w.Set)-mostSettings):]
	}
}
