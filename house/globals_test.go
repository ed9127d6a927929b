package house_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// globals are the package-level variables that are neither constant tables nor sentinel errors, each with the reason
// it may be.
var globals = map[string]string{
	"proxy.heads":          "a pool holds spare buffers only; what is done with them does not depend on it",
	"proxy/wire.rooms":     "a pool holds spare buffers only; what is done with them does not depend on it",
	"proxy/wire.readers":   "a pool holds spare buffers only; what is done with them does not depend on it",
	"store/shared.silence": "the library has one log for all who use it; it is silenced once, and nothing hangs on it",
}

func TestNoHiddenState(t *testing.T) {
	all := sources(t)
	for _, s := range all {
		report(t, checkGlobals(s, globals))
	}
	report(t, checkAssigned(all, globals))
	report(t, checkReasons("globals", globals))
	for name := range globals {
		if !declared(all, name) {
			t.Errorf("the exception %s has no variable any more: take it out of the table", name)
		}
	}
}

// fixed are calls whose result nobody can change afterwards.
var fixed = []string{
	"errors.New", "fmt.Errorf", "regexp.MustCompile", "pattern.Of", "pattern.Beginning", "pattern.Holding", "lazy.Of",
	"strings.NewReplacer", "netip.MustParseAddr", "netip.MustParsePrefix", "time.Unix", "time.Date",
}

// checkGlobals refuses init functions and package-level variables that can
// change: what a package does depends on its arguments alone.
func checkGlobals(s *source, exceptions map[string]string) (complaints []string) {
	for _, d := range s.tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			complaints = append(complaints, s.complain(f, "func init: what happens at start stands in main, in order"))
		}
	}
	if s.test {
		return complaints
	}
	eachGlobal(s, func(d *ast.GenDecl, spec *ast.ValueSpec, i int) {
		name := spec.Names[i]
		_, excepted := exceptions[global(s.dir, name.Name)]
		if name.Name == "_" || excepted || embedded(d.Doc) || embedded(spec.Doc) {
			return
		}
		if i >= len(spec.Values) || !constant(spec.Values[i]) {
			complaints = append(complaints, s.complain(name,
				"package-level variable %s can change: make it a field or a constant, or give it a reason in the table globals", name.Name))
		}
	})
	return complaints
}

// checkAssigned refuses assignments to package-level tables. Only names are
// compared: a function that declares the name itself is taken to mean its own.
func checkAssigned(all []*source, exceptions map[string]string) (complaints []string) {
	tables := map[string]bool{}
	for _, s := range all {
		if s.test {
			continue
		}
		eachGlobal(s, func(_ *ast.GenDecl, spec *ast.ValueSpec, i int) {
			name := global(s.dir, spec.Names[i].Name)
			_, excepted := exceptions[name]
			tables[name] = !excepted && spec.Names[i].Name != "_"
		})
	}
	for _, s := range all {
		for _, d := range s.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || s.test {
				continue
			}
			own := ownNames(f)
			for _, target := range targets(f) {
				if tables[global(s.dir, target.Name)] && !own[target.Name] {
					complaints = append(complaints,
						s.complain(target, "%s is a package-level table and is changed here", target.Name))
				}
			}
		}
	}
	return complaints
}

// declared tells whether the package-level variable name, as in the table globals, exists.
func declared(all []*source, name string) bool {
	found := false
	for _, s := range all {
		eachGlobal(s, func(_ *ast.GenDecl, spec *ast.ValueSpec, i int) {
			found = found || global(s.dir, spec.Names[i].Name) == name
		})
	}
	return found
}

// global names a package-level variable: "proxy.table", "main.usage".
func global(dir, name string) string {
	if dir == "." {
		dir = "main"
	}
	return dir + "." + name
}

// eachGlobal calls do with the index of each name in each package-level var of s.
func eachGlobal(s *source, do func(d *ast.GenDecl, spec *ast.ValueSpec, i int)) {
	for _, d := range s.tree.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			for i := range spec.(*ast.ValueSpec).Names {
				do(g, spec.(*ast.ValueSpec), i)
			}
		}
	}
}

func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List,
		func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// constant tells whether e is a value that stays as it is unless someone assigns to it.
func constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.BinaryExpr:
		return constant(e.X) && constant(e.Y)
	case *ast.CompositeLit:
		library, _, _ := strings.Cut(qualified(e.Type), ".")
		return library != "sync" && library != "atomic" // a lock or a counter is there to change
	case *ast.CallExpr:
		_, conversion := e.Fun.(*ast.ArrayType)
		return conversion || slices.Contains(fixed, qualified(e.Fun))
	}
	return false
}

// qualified is e as "package.Name"; empty when e is something else.
func qualified(e ast.Expr) string {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	library, ok := selector.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return library.Name + "." + selector.Sel.Name
}

// ownNames are the names that f declares: parameters, results and local variables.
func ownNames(f *ast.FuncDecl) map[string]bool {
	own := map[string]bool{}
	note := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok {
				own[id.Name] = true
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				note(name)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				note(name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				note(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				note(n.Key, n.Value)
			}
		}
		return true
	})
	return own
}

// targets are the variables that f changes by =, ++, --, delete or clear, or through an index or a field of them.
func targets(f *ast.FuncDecl) (all []*ast.Ident) {
	add := func(list ...ast.Expr) {
		for _, e := range list {
			if id := root(e); id != nil {
				all = append(all, id)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				add(n.Key, n.Value)
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") {
				add(n.Args[0])
			}
		}
		return true
	})
	return all
}

// root is the variable that e is or is a part of.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}
