package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// listed is a package as "go list" tells it.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string
	Standard   bool
	Module     *struct{ Main bool }
}

// Compiling for each system takes minutes; that the program's types agree there takes seconds. "make systems" vets all.
func TestProgramIsWellTypedOnEverySystem(t *testing.T) {
	for _, of := range []target{{"windows", "amd64"}, {"darwin", "arm64"}} {
		if err := checkTypes("epitome", of); err != nil {
			t.Errorf("%s: %v", of, err)
		}
	}
}

// checkTypes reads a program's packages from source, those of others without the bodies of their functions.
func checkTypes(program string, of target) error {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Standard,Module", program)
	cmd.Env = append(os.Environ(), "GOOS="+of.system, "GOARCH="+of.machine, "CGO_ENABLED=0")
	out, err := printed(cmd, "")
	if err != nil {
		return err
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	for in := json.NewDecoder(strings.NewReader(out)); ; {
		var p listed
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		if known[p.ImportPath], err = p.check(of, known); err != nil {
			return err
		}
	}
}

func (p listed) check(of target, known map[string]*types.Package) (*types.Package, error) {
	files := token.NewFileSet()
	var trees []*ast.File
	for _, name := range p.GoFiles {
		tree, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	own := p.Module != nil && p.Module.Main
	check := types.Config{IgnoreFuncBodies: !own, FakeImportC: true, Sizes: types.SizesFor("gc", of.machine),
		Importer: lookup(func(path string) (*types.Package, error) {
			if to, ok := p.ImportMap[path]; ok {
				path = to
			}
			if known[path] == nil {
				return nil, errors.New("no package " + path)
			}
			return known[path], nil
		})}
	if !own {
		check.Error = func(error) {} // what others have wrong shows in what is made of it
	}
	checked, err := check.Check(p.ImportPath, files, trees, nil)
	if !own {
		err = nil
	}
	return checked, err
}

// lookup is an importer that is a function.
type lookup func(path string) (*types.Package, error)

// Import returns what was checked before.
func (l lookup) Import(path string) (*types.Package, error) { return l(path) }

func TestTypeCheckerCanFail(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "a.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := listed{ImportPath: "a", Dir: folder, GoFiles: []string{"a.go"}, Module: &struct{ Main bool }{true}}
		_, err := p.check(target{"windows", "amd64"}, map[string]*types.Package{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	f("package a\n\nfunc f() int { return 1 }\n", "")
	f("package a\n\nfunc f() int { return \"one\" }\n", "cannot use")
	f("package a\n\nimport _ \"none\"\n", "no package none")
}
