package house_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// No text of a conversation, a model, a log or a configuration becomes a part of a page's code: it goes through an
// escape of gomponents', and what does not is written in the code as a constant, or embedded there as a file.

// unescaped are names of gomponents that write what they are given as it is, or put it where it may run. The pages
// under /-/ need none of them: the browser takes nothing inline there.
var unescaped = map[string]string{
	"Raw":       "it writes code as it is: make it of elements",
	"Rawf":      "it writes code as it is: make it of elements",
	"NodeFunc":  "it writes what it wants: make it of elements",
	"StyleEl":   "the browser takes nothing inline: write it into console.css",
	"Style":     "the browser takes nothing inline: write it into console.css",
	"StyleAttr": "the browser takes nothing inline: write it into console.css",
	"IFrame":    "pages hold no other page",
	"Base":      "addresses are of epitome's own pages",
}

// addressed are names of gomponents, and of attributes, that take an address.
var addressed = strings.Fields("Action CiteAttr FormAction Href Poster Src SrcSet " +
	"action cite data formaction href poster src srcset style xlink:href")

// named are functions of gomponents whose first argument is a name in a page's code.
var named = strings.Fields("El Attr Aria Data DataAttr")

func TestPagesAreMadeOfElements(t *testing.T) {
	for _, s := range sources(t) {
		report(t, checkMarkup(s))
	}
	report(t, checkReasons("unescaped", unescaped))
}

// checkMarkup wants the names of elements and attributes to be constants, and what is not escaped to be a string or a
// file of the source's own. Below console it refuses what is not escaped at all, and addresses that console/markup has
// not made.
func checkMarkup(s *source) (complaints []string) {
	if s.test {
		return nil
	}
	library := map[string]bool{}
	for _, spec := range s.tree.Imports {
		if name, ok := elements(spec); ok && name == "." {
			complaints = append(complaints, s.complain(spec, "name the package: what is written as it is must be seen"))
		} else if ok {
			library[name] = true
		}
	}
	first := map[ast.Expr]ast.Expr{} // what a function is given first
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if len(n.Args) > 0 {
				first[n.Fun] = n.Args[0]
			}
		case *ast.SelectorExpr:
			if name := of(n, library); name != "" {
				complaints = append(complaints, s.checkUse(n, name, first[n])...)
			}
		}
		return true
	})
	return complaints
}

// checkUse checks the use of a name of gomponents; first is what it is given first, nil if it is not called here.
func (s *source) checkUse(use ast.Expr, name string, first ast.Expr) []string {
	isConsole := s.dir == "console" || strings.HasPrefix(s.dir, "console/")
	switch {
	case slices.Contains(named, name):
		return s.checkNamed(use, name, first, isConsole)
	case isConsole && unescaped[name] != "":
		return []string{s.complain(use, "%s: %s", name, unescaped[name])}
	case isConsole && slices.Contains(addressed, name) && s.dir != "console/markup":
		return []string{s.complain(use, "%s takes any address: use console/markup's", name)}
	case name == "Raw" && !isOwn(s, first), name == "Rawf":
		return []string{s.complain(use, "%s does not escape: give it a string or an embedded file of this source", name)}
	}
	return nil
}

// checkNamed wants the name of an element or an attribute to stand in the code, and below console to be of none that
// runs what it is given, or leads to it.
func (s *source) checkNamed(use ast.Expr, function string, first ast.Expr, isConsole bool) []string {
	literal, ok := first.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return []string{s.complain(use, "the name that %s is given is no constant", function)}
	}
	name, err := strconv.Unquote(literal.Value)
	name = strings.ToLower(name)
	runs := slices.Contains([]string{"script", "style", "iframe", "object", "embed", "base"}, name)
	switch {
	case !isConsole:
	case err != nil || function == "El" && runs:
		return []string{s.complain(use, "<%s> runs what it is given", name)}
	case function == "Attr" && (strings.HasPrefix(name, "on") || slices.Contains(addressed, name)):
		return []string{s.complain(use, "%s takes code, or any address: use console/markup's", name)}
	}
	return nil
}

// elements is the name of gomponents' packages in a file.
func elements(spec *ast.ImportSpec) (name string, ok bool) {
	const root = "maragu.dev/gomponents"
	imported := strings.Trim(spec.Path.Value, "`\"")
	if imported != root && !strings.HasPrefix(imported, root+"/") {
		return "", false
	}
	if spec.Name != nil {
		return spec.Name.Name, true
	}
	return imported[strings.LastIndex(imported, "/")+1:], true
}

// of is the name that e has in one of some packages; empty if it is of none.
func of(e ast.Expr, library map[string]bool) string {
	if from, name, _ := strings.Cut(qualified(e), "."); library[from] {
		return name
	}
	return ""
}

// isOwn reports whether e is a string of the source's own: written there, or a file that it embeds.
func isOwn(s *source, e ast.Expr) bool {
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
	f := func(dir, code, want string) {
		t.Helper()
		complaining(t, checkMarkup)(dir+"/x.go", "package a\nimport (\n\tg \"maragu.dev/gomponents\"\n"+
			"\t\"maragu.dev/gomponents/html\"\n)\n//go:embed a.css\nvar style string\nvar other = style\nvar _ = "+code, want)
	}
	f("console/pages", `g.Raw("<b>")`, "it writes code as it is")
	f("console/markup", `g.Rawf("<b>%d", 1)`, "it writes code as it is")
	f("console/pages", `g.Map(all, g.Raw)`, "it writes code as it is")
	f("console/pages", `g.NodeFunc(write)`, "it writes what it wants")
	f("console/pages", `html.Style("color:" + c)`, "console.css")
	f("console/pages", `html.StyleAttr("color:" + c)`, "console.css")
	f("console/pages", `html.Href(to)`, "takes any address")
	f("console/markup", `html.Href(to)`, "")
	f("console/pages", `g.Attr("href", to)`, "takes code, or any address")
	f("console/pages", `g.Attr("onClick", "x")`, "takes code, or any address")
	f("console/pages", `g.Attr(name, "x")`, "is no constant")
	f("console/pages", `html.Aria("a" + name, "x")`, "is no constant")
	f("console/pages", `html.DataAttr("a" + name, "x")`, "is no constant")
	f("console/pages", `g.El("s" + name)`, "is no constant")
	f("console/pages", `g.El("Script", g.Text("x"))`, "runs what it is given")
	f("console/pages", `g.El("svg", g.Attr("viewBox", box), g.Text(text), html.Class(c))`, "")
	f("console/pages", `other.Raw(text)`, "")
	complaining(t, checkMarkup)("console/x.go", "package a\nimport . \"maragu.dev/gomponents\"\nvar _ = Raw(x)", "name the package")

	f("a", `g.El("p", g.Attr("id", s), html.Data("of", s), g.Text(s), g.Raw(style), g.Raw("<br>"))`, "")
	f("a", `g.El("p", g.Attr("id", s), g.Raw(s))`, "Raw does not escape")
	f("a", `g.Raw(other)`, "Raw does not escape")
	f("a", `g.Raw(style + s)`, "Raw does not escape")
	f("a", `g.Rawf("<b>%s</b>", s)`, "Rawf does not escape")
	f("a", `g.Map([]string{s}, g.Raw)`, "Raw does not escape")
	f("a", `g.Map([]string{s}, g.El)`, "is no constant")
	f("a", `g.El("p", g.Attr("on"+s, s))`, "is no constant")
	f("a", `html.P(html.Aria(s, s))`, "is no constant")
	complaining(t, checkMarkup)("a/x_test.go", "package a\nimport g \"maragu.dev/gomponents\"\nvar _ = g.Raw(x)", "")
}
