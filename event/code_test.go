package event

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// constants are the codes that stand in code.go, with their names.
func constants(t *testing.T) map[Code]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[Code]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Code" {
			//nolint:forcetypeassert // a code is written as a string
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil || all[Code(text)] != "" {
				t.Fatalf("%s is written as %q, as %s is: %v", spec.Names[0].Name, text, all[Code(text)], err)
			}
			all[Code(text)] = spec.Names[0].Name
		}
		return true
	})
	return all
}

// Each code has a sentence, no two have the same one, and nothing else has.
func TestEachCodeHasASentence(t *testing.T) {
	all := constants(t)
	delete(all, NoCode)
	if got := slices.Collect(Codes()); len(all) < 40 || len(got) != len(all) {
		t.Fatalf("%d codes are declared, %d have a sentence", len(all), len(got))
	}
	said := map[string]Code{}
	for _, c := range slices.Sorted(maps.Keys(all)) {
		s := c.Sentence()
		if len(s) < 10 || len(s) > MostText || !strings.HasSuffix(s, ".") || strings.ToUpper(s[:1]) != s[:1] {
			t.Errorf("%s is told as %q", c, s)
		}
		if said[s] != NoCode {
			t.Errorf("%s and %s are told in the same words", c, said[s])
		}
		if said[s] = c; strings.Trim(string(c), "abcdefghijklmnopqrstuvwxyz_") != "" {
			t.Errorf("%q is no word for a label", c)
		}
	}
	for _, c := range []Code{NoCode, "unheard_of"} {
		if c.Sentence() != "" {
			t.Errorf("%q is told as %q", c, c.Sentence())
		}
	}
}

// The page of the API has each code with its sentence.
func TestEachCodeIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for c := range Codes() {
		if row := "| `" + string(c) + "` | " + c.Sentence() + " |\n"; !strings.Contains(string(text), row) {
			t.Errorf("docs/api.md lacks the row %s", row)
		}
	}
}
