// Package house_test holds the law of the house: which package may import which, how large things may be, what they may
// be called, what stands in the root and in the docs.
//
// Each rule has its reason, and a broken rule prints it. Each checker has a test of its own, in self_test.go or beside
// it, which shows that it can fail. What breaks a rule today stands in pending_test.go, a list that can only shrink.
package house_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// source is one parsed Go file.
type source struct {
	path string // from the module's root, with slashes
	dir  string // its package folder; "." is main
	test bool
	text []byte
	fset *token.FileSet
	tree *ast.File
}

func parse(name string, text []byte) (*source, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return &source{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), text, fset, tree}, err
}

func (s *source) line(p token.Pos) int { return s.fset.Position(p).Line }

func (s *source) complain(at ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: ", s.path, s.line(at.Pos())) + fmt.Sprintf(format, args...)
}

// lines is the length of n, from its first line to its last.
func (s *source) lines(n ast.Node) int { return s.line(n.End()) - s.line(n.Pos()) + 1 }

func report(t *testing.T, complaints []string) {
	t.Helper()
	for _, c := range complaints {
		t.Error(c)
	}
}

// TestMain runs the tests in the module's root, so that every path here is as it stands in the repository.
func TestMain(m *testing.M) {
	for {
		if _, err := os.Stat("go.mod"); err == nil {
			break
		}
		here, _ := os.Getwd()
		if err := os.Chdir(".."); err != nil || here == filepath.Dir(here) {
			fmt.Fprintln(os.Stderr, "cannot find go.mod in this folder or above it")
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// parsed are all sources, read once.
var parsed = sync.OnceValues(parseAll)

// sources are the Go files of the module outside testdata folders, tests included.
func sources(t *testing.T) []*source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parseAll() (all []*source, err error) {
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || len(name) > 1 && strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(name), text)
		if err != nil {
			return fmt.Errorf("cannot parse: %w", err)
		}
		all = append(all, s)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errors.New("no Go file found")
	}
	return all, err
}

// files lists what a commit would hold; without git, everything here.
func files(t *testing.T) []string {
	t.Helper()
	if out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others",
		"--exclude-standard").Output(); err == nil {
		return strings.Split(string(bytes.TrimRight(out, "\x00")), "\x00")
	}
	var all []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && entry.Type().IsRegular() {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
