package house_test

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// elements is the library that pages are made with. It escapes texts and values of attributes, and nothing else.
const elements = "maragu.dev/gomponents"

func TestWhatPagesAreGivenBecomesNoCode(t *testing.T) {
	for _, s := range sources(t) {
		report(t, checkMarkup(s))
	}
}

// checkMarkup wants the names of elements and attributes to be constants, and what is not escaped to be a file of ours.
func checkMarkup(s *source) (complaints []string) {
	library := map[string]bool{} // under the names that it has here
	for _, spec := range s.tree.Imports {
		imported := strings.Trim(spec.Path.Value, "`\"")
		if imported != elements && !strings.HasPrefix(imported, elements+"/") || s.test {
			continue
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			complaints = append(complaints, s.complain(spec, "import it by a name, so that what is not escaped can be seen"))
		}
		library[name] = true
	}
	lawful := map[ast.Expr]bool{}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			lawful[n.Fun] = len(n.Args) > 0 && ours(s, n.Args[0])
		case *ast.SelectorExpr:
			from, name, _ := strings.Cut(qualified(n), ".")
			switch {
			case !library[from] || lawful[n] && name != "Rawf":
			case name == "Raw" || name == "Rawf":
				complaints = append(complaints, s.complain(n, "%s.%s does not escape: give it a file that is embedded here", from, name))
			case name == "El" || name == "Attr" || name == "Aria" || name == "Data":
				complaints = append(complaints, s.complain(n, "%s.%s does not escape names: write the name as a constant", from, name))
			}
		}
		return true
	})
	return complaints
}

// ours reports whether e is a string of the source's own: written there, or a file that it embeds.
func ours(s *source, e ast.Expr) bool {
	if literal, ok := e.(*ast.BasicLit); ok {
		return literal.Kind == token.STRING
	}
	id, ok := e.(*ast.Ident)
	found := false
	eachGlobal(s, func(d *ast.GenDecl, spec *ast.ValueSpec, i int) {
		found = found || ok && spec.Names[i].Name == id.Name && (embedded(d.Doc) || embedded(spec.Doc))
	})
	return found
}

func TestMarkupCheckerCanFail(t *testing.T) {
	f := complaining(t, checkMarkup)
	page := func(body string) string {
		return "package a\n import (g \"maragu.dev/gomponents\"; \"maragu.dev/gomponents/html\")\n" +
			"//go:embed a.css\nvar style string\nvar other = style\nfunc f(s string) g.Node { return " + body + " }"
	}
	f("a/x.go", page(`g.El("p", g.Attr("id", s), html.Data("of", s), g.Text(s), g.Raw(style), g.Raw("<br>"))`), "")
	f("a/x.go", page(`g.El("p", g.Attr("id", s), g.Raw(s))`), "g.Raw does not escape")
	f("a/x.go", page(`g.Raw(other)`), "g.Raw does not escape")
	f("a/x.go", page(`g.Raw(style + s)`), "g.Raw does not escape")
	f("a/x.go", page(`g.Rawf(style, s)`), "g.Rawf does not escape")
	f("a/x.go", page(`g.Rawf("<b>%s</b>", s)`), "g.Rawf does not escape")
	f("a/x.go", page(`g.Map([]string{s}, g.Raw)`), "g.Raw does not escape")
	f("a/x.go", page(`g.El(s)`), "g.El does not escape names")
	f("a/x.go", page(`g.El("p", g.Attr("on"+s, s))`), "g.Attr does not escape names")
	f("a/x.go", page(`html.P(html.Aria(s, s))`), "html.Aria does not escape names")
	f("a/x.go", `package a; import . "maragu.dev/gomponents"; var _ = Raw`, "import it by a name")
	f("a/x_test.go", page(`g.Raw(s)`), "")
	f("a/x.go", `package a; import g "b"; func f(s string) { g.Raw(s) }`, "")
}
