package sessions

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// endings are the endings of logs' names. In folders, no other files count.
var endings = []string{".json", ".jsonl", ".ndjson"}

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
			case file == path || slices.Contains(endings, filepath.Ext(file)):
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
