package house_test

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestDocs(t *testing.T) {
	all := sources(t)
	report(t, checkPackageDocs(all))
	for _, s := range all {
		report(t, checkExportedDocs(s))
	}
}

// checkPackageDocs wants one package comment per folder, in a test file only where there is nothing else.
func checkPackageDocs(all []*source) (complaints []string) {
	documented, code := map[string]bool{}, map[string]bool{}
	for _, s := range all {
		code[s.dir] = code[s.dir] || !s.test
	}
	for _, s := range all {
		if s.tree.Doc.Text() != "" && (!s.test || !code[s.dir]) {
			documented[s.dir] = true
		}
	}
	for dir := range code {
		if !documented[dir] {
			complaints = append(complaints,
				fmt.Sprintf("%s: no package comment: say what it promises, assumes and does not do", dir))
		}
	}
	return complaints
}

// speaksForItself are methods of interfaces everyone knows; a comment would only repeat the name.
var speaksForItself = []string{"Error", "Unwrap", "String", "Read", "Write", "Close", "ServeHTTP", "Len",
	"Less", "Swap"}

// checkExportedDocs wants a comment on, or for a value beside, whatever other packages can name.
func checkExportedDocs(s *source) (complaints []string) {
	if s.test {
		return nil
	}
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			known := d.Recv != nil && (slices.Contains(speaksForItself, d.Name.Name) || !ast.IsExported(receiver(d)))
			if d.Name.IsExported() && !known && d.Doc.Text() == "" {
				complaints = append(complaints, s.complain(d, "%s has no doc comment", d.Name.Name))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				complaints = append(complaints, undocumented(s, d, spec)...)
			}
		}
	}
	return complaints
}

// receiver is the name of the type that f is a method of.
func receiver(f *ast.FuncDecl) string {
	e := f.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func undocumented(s *source, group *ast.GenDecl, spec ast.Spec) (complaints []string) {
	var names []*ast.Ident
	docs := []*ast.CommentGroup{group.Doc}
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		names, docs = []*ast.Ident{spec.Name}, append(docs, spec.Doc, spec.Comment)
	case *ast.ValueSpec:
		names, docs = spec.Names, append(docs, spec.Doc, spec.Comment)
	}
	if slices.ContainsFunc(docs, func(c *ast.CommentGroup) bool { return c.Text() != "" }) {
		return nil
	}
	for _, name := range names {
		if name.IsExported() {
			complaints = append(complaints, s.complain(name, "%s has no doc comment", name.Name))
		}
	}
	return complaints
}

// Every promise names the tests that hold it; a name that no test has any more would be an empty promise.
func TestPromisesNameTestsThatExist(t *testing.T) {
	named := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`)
	var code strings.Builder
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			text, _ := os.ReadFile(path)
			code.Write(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{"ARCHITECTURE.md", "docs/transparency.md", "docs/security.md"} {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		names := named.FindAllString(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s names no test", doc)
		}
		for _, name := range names {
			if !strings.Contains(code.String(), "func "+name+"(") {
				t.Errorf("%s names %s, which no test is called", doc, name)
			}
		}
	}
}
