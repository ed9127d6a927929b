package sessions

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// endings are the endings of logs' names. In a folder, a file of another name counts if it begins as JSON does.
var endings = []string{".json", ".jsonl", ".ndjson", ".traj"}

// Find finds the logs: the files given, and those in folders and the folders in them. What cannot be looked into, and a
// folder in which there is nothing, is told.
func Find(paths []string) (files, left []string) {
	for _, path := range paths {
		before := len(files) + len(left)
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				left = append(left, err.Error())
			case entry.IsDir():
			case file == path || candidate(file):
				files = append(files, filepath.Clean(file))
			}
			return nil
		})
		if err != nil {
			left = append(left, err.Error())
		}
		if len(files)+len(left) == before {
			left = append(left, fmt.Sprintf("cannot replay %s: there is no log in it", path))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), left
}

// candidate reports whether a file in a folder may be a log. It never opens what is neither a file nor leads to one.
func candidate(path string) bool {
	if at, err := os.Stat(path); err != nil || !at.Mode().IsRegular() {
		return false
	}
	if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(path, e) }) {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	begin, _ := bufio.NewReaderSize(file, 512).Peek(512)
	object, found := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(string(begin), "\ufeff")), "{")
	return found && strings.HasPrefix(strings.TrimSpace(object), `"`)
}
