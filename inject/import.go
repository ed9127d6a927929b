package inject

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Find adds the path of a file to files, by the file's own name; of a folder, those of all files in it that no .gitignore
// there excludes, by their paths in it, without links. It refuses more files than a context may have.
func Find(path string, files map[string]string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		files[filepath.Base(path)] = path
		return nil
	}
	var rules []ignoreRule
	return fs.WalkDir(os.DirFS(path), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		ignored := e.Name() == ".git"
		for _, rule := range rules {
			if (e.IsDir() || !rule.folders) && rule.fits.MatchString(name) {
				ignored = !rule.takes
			}
		}
		at := filepath.Join(path, filepath.FromSlash(name))
		switch {
		case ignored && e.IsDir():
			return fs.SkipDir
		case e.IsDir():
			rules = append(rules, readRules(at, name)...)
		case !ignored && e.Type().IsRegular():
			files[name] = at
		}
		if len(files) > MaxFiles {
			return fmt.Errorf("it has more than %d files; name folders in it, or files", MaxFiles)
		}
		return nil
	})
}

// ignoreRule is a line of a .gitignore.
type ignoreRule struct {
	fits    *regexp.Regexp // on the path of a file in the folder that is read
	takes   bool           // what an earlier rule excludes
	folders bool           // it is for folders alone
}

// ignoreWildcards turns a quoted pattern of a .gitignore into a regular expression.
var ignoreWildcards = strings.NewReplacer(`\*\*/`, `(.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`, `\[!`, `[^`,
	`\[`, `[`, `\]`, `]`, `\\`, ``)

// readRules reads the .gitignore in a folder at a path. name is the path of that folder in the one that is read.
func readRules(path, name string) (rules []ignoreRule) {
	text, err := readIgnore(path, MaxFileBytes)
	if err != nil { // mostly, there is none
		return nil
	}
	for line := range strings.Lines(text) {
		rule := ignoreRule{}
		line, rule.takes = strings.CutPrefix(strings.TrimRight(line, " \r\n"), "!")
		line, rule.folders = strings.CutSuffix(line, "/")
		if line == "" || line[0] == '#' {
			continue
		}
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		line = ignoreWildcards.Replace(regexp.QuoteMeta(strings.TrimPrefix(line, "/")))
		if name != "." {
			line = regexp.QuoteMeta(name) + "/" + line
		}
		rule.fits, err = regexp.Compile("^" + line + "$")
		if err == nil { // else it fits nothing
			rules = append(rules, rule)
		}
	}
	return rules
}
