package house_test

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// maxRoles is how many roles a name may have in one package. There are three: it is declared for the whole package (a
// type, a function, a constant or a variable), as a method, or as a field. Whoever meets a name has to find out each
// time which of them is meant. A field of the type that it is called after, and a method that returns it, mean the
// same as the type and are no role of their own: "Limits Limits" and "Kind() Kind" are normal Go.
const maxRoles = 2

// participles are words that say what something is, or what was done to it. As a method's name such a word leaves
// open what the method does, and what it returns: name a method with a verb, or with the noun that it returns. What
// Go's own library calls its methods (Closed, Done, Empty, Failed, Full, Open, Ready) is left out.
const participles = `adopted appended applied asked based called carried caught chosen cleared cold compacted counted
	covered decided declared deferred derived dropped due early ended enough expired foreign found fresh given gone
	grown handled hard heard held hot inner joined kept known large last late later leased left linked listed long lost
	loud made measured met missing moved named narrow new newer noted offered old older ordered own owned paid parted
	passed past paused placed plain played pressed priced quick quiet raw recent recorded refused released replaced
	replayed rested rewritten right said screened seen sent settled shaped short shown silent small soft spared spelled
	spent squeezed stable stale standing started stated still stored stricken struck strong sunk summarised taken thin
	timed told touched tried turned typed unknown wanted weighed whole wide woken wrapped written wrong young`

func TestNames(t *testing.T) {
	for _, s := range sources(t) {
		report(t, checkTypeNames(s))
	}
}

func TestNamesMeanOneThing(t *testing.T) {
	settle(t, "homonyms", checkHomonyms(sources(t)))
	settle(t, "participles", checkParticiples(sources(t)))
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
				complaints = append(complaints,
					s.complain(spec, "type %s: %q says nothing, find the noun", spec.Name.Name, word))
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
		begins := !unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])
		starts := unicode.IsUpper(runes[i]) && begins
		if starts || runes[i] == '_' {
			all = append(all, strings.Trim(string(runes[start:i]), "_"))
			start = i
		}
	}
	return append(all, strings.Trim(string(runes[start:]), "_"))
}

// checkHomonyms holds the number of roles that one name has in a package, tests aside.
func checkHomonyms(all []*source) (breaches []breach) {
	type key struct{ folder, name string }
	roles := map[key]map[string]bool{}
	for _, s := range all {
		if s.test {
			continue
		}
		eachDeclared(s, func(role, name string) {
			k := key{s.dir, name}
			if roles[k] == nil {
				roles[k] = map[string]bool{}
			}
			roles[k][role] = true
		})
	}
	for k, as := range roles {
		if len(as) > maxRoles {
			list := strings.Join(slices.Sorted(maps.Keys(as)), ", of a ")
			breaches = append(breaches, breach{"homonyms", k.folder, k.name,
				fmt.Sprintf("%s: %s is the name of a %s: give it one meaning", k.folder, k.name, list)})
		}
	}
	slices.SortFunc(breaches, func(a, b breach) int { return strings.Compare(a.complaint, b.complaint) })
	return breaches
}

// eachDeclared calls do for each name that is declared for the whole package or for a type, with the role it has.
func eachDeclared(s *source, do func(role, name string)) {
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				do("function", d.Name.Name)
			} else if !returnsItsName(s, d) {
				do("method", d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				eachSpecified(spec, do)
			}
		}
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if structure, ok := n.(*ast.StructType); ok {
			for _, field := range structure.Fields.List {
				eachField(s, field, do)
			}
		}
		return true
	})
}

// returnsItsName tells whether a method returns the type that it is called after.
func returnsItsName(s *source, method *ast.FuncDecl) bool {
	results := method.Type.Results
	return results.NumFields() > 0 && s.typeName(results.List[0].Type) == global(s.dir, method.Name.Name)
}

func eachSpecified(spec ast.Spec, do func(role, name string)) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		do("type", spec.Name.Name)
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			do("constant or variable", name.Name)
		}
	}
}

func eachField(s *source, field *ast.Field, do func(role, name string)) {
	for _, name := range field.Names {
		if s.typeName(field.Type) != global(s.dir, name.Name) {
			do("field", name.Name)
		}
	}
}

// checkParticiples refuses methods that are named by nothing but a participle or an adjective.
func checkParticiples(all []*source) (breaches []breach) {
	refused := strings.Fields(participles)
	for _, s := range all {
		for _, d := range s.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || s.test {
				continue
			}
			if word := strings.ToLower(f.Name.Name); slices.Contains(refused, word) {
				breaches = append(breaches, breach{"participles", s.dir, f.Name.Name,
					s.complain(f, "method %s says neither what it does nor what it returns: name it with a verb or a noun", f.Name.Name)})
			}
		}
	}
	return breaches
}

func TestHomonymCheckerCanFail(t *testing.T) {
	f := breaking(t, checkHomonyms)
	const two = "package a; type cut struct{ cut int }\n"
	f("", "a/x.go", two)
	f("cut", "a/x.go", two, "a/y.go", "package a; func (t) cut() int { return 0 }")
	f("said", "a/x.go", "package a; func said() {}; type t struct { said bool }; func (t) said() {}")
	f("most", "a/x.go", "package a; const most = 1; type t struct { a, most bool }; func (*t) most() {}")
	f("", "a/x.go", two+"func f(cut int) { cut := 1 }", "b/y.go", "package b; func (t) cut() {}")
	f("", "a/x.go", two, "a/y_test.go", "package a; func (t) cut() {}")
	f("", "a/x.go", "package a; type Kind int; type t struct { Kind Kind }; func (t) Kind() Kind { return 0 }")
	f("Kind", "a/x.go", "package a; type Kind int; type t struct { Kind int }; func (t) Kind() []Kind { return nil }")
	f("", "a/x.go", "package a; type t struct { len int }; func (t) len() int { return 0 }")
}

func TestParticipleCheckerCanFail(t *testing.T) {
	f := breaking(t, checkParticiples)
	f("told Kept", "a/x.go", "package a; func (t) told() {}; func (t) Kept() {}")
	f("", "a/x.go", "package a; func (t) tell() {}; func told() {}; func (t) toldAll() {}; func (t) Done() {}")
	f("", "a/x_test.go", "package a; func (t) told() {}")
}
