package main_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"unicode"
)

const (
	maxFile     = 500 // lines, tests included
	maxFunc     = 80  // lines
	maxTestFunc = 120 // lines
	tailFunc    = 35  // lines that nine functions in ten stay within
	tailFrom    = 20  // functions; a smaller package is not judged by its tail
	maxParams   = 4   // names, without the receiver
	maxDepth    = 3   // control structures around a statement
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

// checkArrows holds the imports inside the project.
func checkArrows(s *source, house map[string]room) (complaints []string) {
	place, ok := house[s.dir]
	if !ok {
		return []string{fmt.Sprintf("%s: the package folder %s is not in the table: give it a place in DESIGN's house", s.path, s.dir)}
	}
	allowed := strings.Fields(place.imports)
	if s.test {
		allowed = append(append(allowed, strings.Fields(forTests)...), s.dir)
	}
	for _, spec := range s.tree.Imports {
		imported := strings.Trim(spec.Path.Value, "`\"")
		folder, inside := strings.CutPrefix(imported, "epitome/")
		if inside && !slices.Contains(allowed, folder) {
			complaints = append(complaints, s.complain(spec, "%s may not import %s: %s", s.dir, folder, place.why))
		}
	}
	return complaints
}

// checkBans holds the libraries in the packages they belong to.
func checkBans(s *source, bans []ban) (complaints []string) {
	for _, spec := range s.tree.Imports {
		imported := strings.Trim(spec.Path.Value, "`\"")
		for _, b := range bans {
			under := imported == b.library || strings.HasPrefix(imported, b.library+"/")
			if under && !s.test && !slices.Contains(strings.Fields(b.allowed), s.dir) {
				complaints = append(complaints, s.complain(spec, "%s may not import %s: %s", s.dir, imported, b.why))
			}
		}
	}
	return complaints
}

// checkSizes holds the budgets of one file and of each function in it.
func checkSizes(s *source) (complaints []string) {
	if n := bytes.Count(s.text, []byte("\n")); n > maxFile {
		complaints = append(complaints, fmt.Sprintf("%s: %d lines, at most %d: find the second noun in it", s.path, n, maxFile))
	}
	longest := maxFunc
	if s.test {
		longest = maxTestFunc
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := s.lines(n); lines > longest {
				complaints = append(complaints, s.complain(n, "%s has %d lines, at most %d", n.Name.Name, lines, longest))
			}
			complaints = append(complaints, checkDepth(s, n, n.Body)...)
		case *ast.FuncLit:
			complaints = append(complaints, checkDepth(s, n, n.Body)...)
		case *ast.FuncType:
			if count := n.Params.NumFields(); count > maxParams && !s.test {
				complaints = append(complaints, s.complain(n, "%d parameters, at most %d: make a struct of what belongs together", count, maxParams))
			}
		}
		return true
	})
	return complaints
}

func checkDepth(s *source, function ast.Node, body *ast.BlockStmt) []string {
	if body == nil || s.test {
		return nil
	}
	if d := depth(body, 0); d > maxDepth {
		return []string{s.complain(function, "control structures nest %d deep, at most %d: return early or name the inner part", d, maxDepth)}
	}
	return nil
}

// depth is the number of control structures (if, for, switch, select) around
// the innermost block in n, which itself stands in level of them. An else if
// and a case clause are as deep as the if and the switch they belong to; a
// function literal is a function of its own and not counted here.
func depth(n ast.Node, level int) int {
	deepest := level
	ast.Inspect(n, func(c ast.Node) bool {
		switch c := c.(type) {
		case *ast.FuncLit:
			return false
		case *ast.IfStmt:
			deepest = max(deepest, ifDepth(c, level))
			return false
		case *ast.ForStmt:
			deepest = max(deepest, depth(c.Body, level+1))
			return false
		case *ast.RangeStmt:
			deepest = max(deepest, depth(c.Body, level+1))
			return false
		case *ast.SwitchStmt:
			deepest = max(deepest, depth(c.Body, level+1))
			return false
		case *ast.TypeSwitchStmt:
			deepest = max(deepest, depth(c.Body, level+1))
			return false
		case *ast.SelectStmt:
			deepest = max(deepest, depth(c.Body, level+1))
			return false
		}
		return true
	})
	return deepest
}

func ifDepth(n *ast.IfStmt, level int) int {
	deepest := depth(n.Body, level+1)
	switch e := n.Else.(type) {
	case *ast.IfStmt:
		return max(deepest, ifDepth(e, level))
	case *ast.BlockStmt:
		return max(deepest, depth(e, level+1))
	}
	return deepest
}

// checkTail holds nine functions in ten within tailFunc lines, over all packages and in each.
func checkTail(all []*source) (complaints []string) {
	lengths := map[string][]int{}
	for _, s := range all {
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && !s.test {
				lengths[s.dir] = append(lengths[s.dir], s.lines(f))
				lengths["the project"] = append(lengths["the project"], s.lines(f))
			}
		}
	}
	for where, lens := range lengths {
		long := 0
		for _, n := range lens {
			if n > tailFunc {
				long++
			}
		}
		if len(lens) >= tailFrom && long*10 > len(lens) {
			complaints = append(complaints, fmt.Sprintf("%s: %d of %d functions are longer than %d lines, at most one in ten", where, long, len(lens), tailFunc))
		}
	}
	return complaints
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
			complaints = append(complaints, fmt.Sprintf("%s: no package comment: say what it promises, assumes and does not do", dir))
		}
	}
	return complaints
}

// speaksForItself are methods of interfaces everyone knows; a comment would only repeat the name.
var speaksForItself = []string{"Error", "Unwrap", "String", "Read", "Write", "Close", "ServeHTTP", "Len", "Less", "Swap"}

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

// checkTypeNames refuses types named after nothing in particular.
func checkTypeNames(s *source) (complaints []string) {
	hollow := []string{"manager", "helper", "helpers", "util", "utils", "data", "info"}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		for _, word := range words(spec.Name.Name) {
			if slices.Contains(hollow, strings.ToLower(word)) {
				complaints = append(complaints, s.complain(spec, "type %s: %q says nothing, find the noun", spec.Name.Name, word))
			}
		}
		return true
	})
	return complaints
}

// words splits a CamelCase name; a run of capitals is one word: "HTTPDataURL" is HTTP, Data, URL.
func words(name string) (all []string) {
	runes := []rune(name)
	start := 0
	for i := 1; i < len(runes); i++ {
		starts := unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if starts || runes[i] == '_' {
			all = append(all, strings.Trim(string(runes[start:i]), "_"))
			start = i
		}
	}
	return append(all, strings.Trim(string(runes[start:]), "_"))
}

// checkWorkplace looks for the names of the place this was written at. They are put together here so that this file does not hold them.
func checkWorkplace(name string, text []byte) (complaints []string) {
	beside := "../" + "shared"
	if strings.HasSuffix(name, "_test.go") {
		text = bytes.ReplaceAll(text, []byte(beside+"/corpus"), nil) // a test may look there and must do without
	}
	for _, place := range []string{
		"/work/" + "main", "/work/" + ".library", "farm" + "-", beside,
		"proxy.golang" + ".org", "registry.npmjs" + ".org", "deb.debian" + ".org",
	} {
		if bytes.Contains(text, []byte(place)) {
			complaints = append(complaints, fmt.Sprintf("%s names %q, which exists at one workplace only", name, place))
		}
	}
	return complaints
}
