package inject

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/match"

	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
)

// FilesConfig is the table [context] of config.toml.
type FilesConfig struct {
	Names   []string `toml:"names"`   // of the contexts for all conversations, maybe with wildcards
	Runtime bool     `toml:"runtime"` // tells agents that "epitome run" starts about their machine
}

// Files are the text files that people keep for conversations, in a folder for each context. A file is there whole or
// not at all, also while others add and remove files.
type Files struct{ folder string }

// FilesIn returns the context files in a data folder.
func FilesIn(data string) Files { return Files{filepath.Join(data, "contexts")} }

// Bounds of one context.
const (
	maxFileBytes = 10 << 20
	maxFiles     = 1_000
)

// File is a file of a context.
type File struct {
	Name  string
	Bytes int64
}

var contextName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Knows reports whether a context that fits a pattern has files or had some: conversations that have begun with it keep
// naming it.
func (f Files) Knows(pattern string) bool {
	contexts, err := f.match(pattern)
	return err == nil && len(contexts) > 0
}

// Names returns the contexts that fit a pattern and have files, sorted. In a pattern, * stands for any characters.
func (f Files) Names(pattern string) ([]string, error) {
	contexts, err := f.match(pattern)
	isEmpty := func(context string) bool {
		files, err := f.List(context)
		return err != nil || len(files) == 0
	}
	return slices.DeleteFunc(contexts, isEmpty), err
}

// match returns the contexts that fit a pattern, sorted.
func (f Files) match(pattern string) (contexts []string, err error) {
	entries, err := os.ReadDir(f.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && contextName.MatchString(e.Name()) && match.Match(e.Name(), pattern) {
			contexts = append(contexts, e.Name())
		}
	}
	return contexts, err
}

// List returns the files of a context, sorted; none if there is no such context.
func (f Files) List(context string) (list []File, err error) {
	if !contextName.MatchString(context) {
		return nil, nil
	}
	err = fs.WalkDir(os.DirFS(filepath.Join(f.folder, context)), ".", func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // there is none, or it was removed just now
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if info, err := e.Info(); err == nil {
			list = append(list, File{name, info.Size()})
		}
		return nil
	})
	return list, err
}

// Read returns the content of a file.
func (f Files) Read(context, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(f.folder, context, name))
}

// Add keeps texts as files of a context, by names that may be paths with slashes, in the place of those of the same
// names. It keeps none if the context would have too many.
func (f Files) Add(context string, texts map[string][]byte) error {
	if !contextName.MatchString(context) {
		return fmt.Errorf("a context is named by up to 64 of a-z, 0-9, dot, dash and underscore, with a letter or "+
			"digit first, not %.80q", context)
	}
	old, err := f.List(context)
	if err != nil {
		return err
	}
	n := len(texts)
	for _, file := range old {
		if texts[file.Name] == nil {
			n++
		}
	}
	if n > maxFiles {
		return fmt.Errorf("%s would have %d files, and may have %d; use another name", context, n, maxFiles)
	}
	for name, text := range texts {
		path := filepath.Join(f.folder, context, filepath.FromSlash(name))
		temp := filepath.Join(f.folder, ".new-"+rand.Text())
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(temp, text, 0o600)
		}
		if err == nil {
			err = os.Rename(temp, path)
		}
		if err != nil {
			_ = os.Remove(temp)
			return err
		}
	}
	return nil
}

var errNoFiles = errors.New("there is no context of that name")

// Remove removes files of a context, or all of them if none is named. The context stays known.
func (f Files) Remove(context string, names ...string) error {
	list, err := f.List(context)
	if err == nil && len(list) == 0 {
		err = errNoFiles
	}
	if err != nil {
		return err
	}
	if len(names) == 0 {
		for _, file := range list {
			names = append(names, file.Name)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(file File) bool { return file.Name == name }) {
			err = errors.Join(err, fmt.Errorf("there is no file %.80q under that name", name))
			continue
		}
		err = errors.Join(err, os.Remove(filepath.Join(f.folder, context, name)))
	}
	return err
}

// The folder in which an agent works, as Codex writes it and as most other agents do, maybe in a list: an absolute path
// of up to 200 characters.
const path = `((?:~?/|[A-Za-z]:[\\/])[^<\r\n]{0,198})`

var folderExprs = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{regexp.MustCompile(`^<environment_context>(?s:.*?)<cwd>` + path + `</cwd>`),
		regexp.MustCompile(`(?im)^[ *0-9.-]{0,12}(?:(?:current |primary )?working directory|` +
			`I'm currently working in the directory): ` + path + `\r?$`)}
})

// Folder returns the folder in which an agent says that it works, before the model first speaks; empty if it says
// nothing. The system prompt counts before the messages, and an element that an agent writes before a line of any text,
// which may quote a file.
func Folder(r *conversation.Request) string {
	texts := slices.Clone(r.Prompts)
	for _, it := range r.Items[:r.Head] {
		for _, p := range it.Parts {
			if p.Kind == conversation.TextPart && (it.Role == conversation.System || it.Role == conversation.User) {
				texts = append(texts, p.Value)
			}
		}
	}
	for _, expr := range folderExprs() {
		for _, span := range texts {
			text := jsonspan.TextOf(span.Of(r.Body))
			if !bytes.Contains(text, []byte("irectory: ")) && !bytes.Contains(text, []byte("<cwd>")) {
				continue // expressions are slow on long texts
			}
			if found := expr.FindSubmatch(text); found != nil {
				return cmp.Or(strings.TrimRight(string(found[1]), "/ "), "/")
			}
		}
	}
	return ""
}

// Find adds the path of a file to files, by the file's own name; of a folder, those of all files in it that no
// .gitignore there excludes, by their paths in it, without links. It refuses more files than a context may have.
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
		full := name
		if e.IsDir() {
			full += "/"
		}
		for _, rule := range rules {
			if rule.fits.MatchString(full) {
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
		if len(files) > maxFiles {
			return fmt.Errorf("it has more than %d files; name folders in it, or files", maxFiles)
		}
		return nil
	})
}

// ignoreRule is a line of a .gitignore.
type ignoreRule struct {
	fits  *regexp.Regexp // on the path of a file in the folder that is read; that of a folder ends with a slash
	takes bool           // what an earlier rule excludes
}

// ignoreWildcards turns a quoted pattern of a .gitignore into a regular expression.
var ignoreWildcards = strings.NewReplacer(`\*\*/`, `(.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`, `\[!`, `[^`,
	`\[`, `[`, `\]`, `]`, `\\`, ``)

// readRules reads the .gitignore in a folder at a path. name is the path of that folder in the one that is read.
func readRules(path, name string) (rules []ignoreRule) {
	for line := range strings.Lines(readIgnore(path)) {
		line, takes := strings.CutPrefix(strings.TrimRight(line, " \r\n"), "!")
		pattern, isFolder := strings.CutSuffix(line, "/")
		if pattern == "" || pattern[0] == '#' {
			continue
		}
		if !strings.Contains(pattern, "/") {
			pattern = "**/" + pattern
		}
		expr := ignoreWildcards.Replace(regexp.QuoteMeta(strings.TrimPrefix(pattern, "/"))) + "/"
		if !isFolder {
			expr += "?"
		}
		if name != "." {
			expr = regexp.QuoteMeta(name) + "/" + expr
		}
		fits, err := regexp.Compile("^" + expr + "$")
		if err == nil { // else it fits nothing
			rules = append(rules, ignoreRule{fits, takes})
		}
	}
	return rules
}
