package house_test

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	maxMethods = 20 // of a type, or of an interface
	maxFields  = 15 // of a struct
	maxWide    = 5  // structs with more that are no records
)

// records are the structs that only carry values, each with what it carries. They may have any number of fields, for
// nothing is done with the fields together; a record that holds what does something is none.
var records = map[string]string{
	"Compaction":         "an event: what became of one compaction",
	"Config":             "configuration: the keys of one section of the file",
	"Exchange":           "an event: what became of one exchange",
	"Effective":          "limits: what they come to at a window",
	"Limits":             "limits: the thresholds of the ladder, each a key of the configuration",
	"Row":                "a report: the figures of one policy, as JSON",
	"Report":             "a report: the figures of one request, of one demo, or of a replay",
	"Form":               "a stored form: what is written of one item, field by field as JSON",
	"event.Shaping":      "an event: what shaping made of one request",
	"Sums":               "a report: what became of some exchanges, as JSON",
	"story.Conversation": "a report: one conversation in numbers, as JSON",
	"tally":              "a report: what is counted of one conversation",
}

// wide are the structs with more fields that are no records, each with the reason it may be; maxWide of them at most.
var wide = map[string]string{}

func TestTypesAreSmall(t *testing.T) {
	all := sources(t)
	settle(t, "methods", checkMethods(all))
	settle(t, "fields", checkFields(all, records, wide))
	settle(t, "embedding", checkEmbedding(all))
}

func TestWideStructsAreFew(t *testing.T) {
	report(t, checkReasons("records", records))
	report(t, checkReasons("wide", wide))
	if len(wide) > maxWide {
		t.Errorf("%d structs are wide, at most %d may be", len(wide), maxWide)
	}
	found := map[string]int{} // the most fields of a struct of that name
	eachType(sources(t), func(s *source, spec *ast.TypeSpec) {
		if structure, ok := spec.Type.(*ast.StructType); ok {
			for _, name := range names(s.dir, spec.Name.Name) {
				found[name] = max(found[name], structure.Fields.NumFields())
			}
		}
	})
	for _, table := range []map[string]string{records, wide} {
		for name := range table {
			if found[name] <= maxFields {
				t.Errorf("%s has %d fields and needs no exception: take it out of the table", name, found[name])
			}
		}
	}
}

// names are what a table may call a type: its name, or that with the last folder of its package, where another type is
// called the same.
func names(dir, name string) []string { return []string{name, path.Base(dir) + "." + name} }

func listed(table map[string]string, dir, name string) bool {
	return slices.ContainsFunc(names(dir, name), func(n string) bool { return table[n] != "" })
}

// checkReasons wants a reason for every exception in a table.
func checkReasons(table string, reasons map[string]string) (complaints []string) {
	for name, why := range reasons {
		if strings.TrimSpace(why) == "" {
			complaints = append(complaints, fmt.Sprintf("%s in the table %s has no reason", name, table))
		}
	}
	slices.Sort(complaints)
	return complaints
}

// eachType calls do for every type that is declared outside tests, within functions too.
func eachType(all []*source, do func(s *source, spec *ast.TypeSpec)) {
	for _, s := range all {
		if s.test {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				do(s, spec)
			}
			return true
		})
	}
}

// checkMethods holds the number of methods of each type and each interface.
func checkMethods(all []*source) (breaches []breach) {
	type owner struct{ folder, name string }
	count := map[owner]int{}
	var order []owner
	for _, s := range all {
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && !s.test {
				o := owner{s.dir, receiver(f)}
				if count[o]++; count[o] == 1 {
					order = append(order, o)
				}
			}
		}
	}
	eachType(all, func(s *source, spec *ast.TypeSpec) {
		if i, ok := spec.Type.(*ast.InterfaceType); ok {
			o := owner{s.dir, spec.Name.Name}
			count[o] += i.Methods.NumFields()
			order = append(order, o)
		}
	})
	for _, o := range order {
		if n := count[o]; n > maxMethods {
			breaches = append(breaches, breach{"methods", o.folder, o.name,
				fmt.Sprintf("%s: type %s has %d methods, at most %d: find the second noun in it, or make functions of them", o.folder, o.name, n, maxMethods)})
		}
	}
	return breaches
}

// checkFields holds the number of fields of each struct.
func checkFields(all []*source, records, wide map[string]string) (breaches []breach) {
	eachType(all, func(s *source, spec *ast.TypeSpec) {
		structure, ok := spec.Type.(*ast.StructType)
		if !ok {
			return
		}
		name, n := spec.Name.Name, structure.Fields.NumFields()
		isRecord, isWide := listed(records, s.dir, name), listed(wide, s.dir, name)
		switch acts := active(structure); {
		case isRecord && acts != "":
			breaches = append(breaches, breach{"fields", s.dir, name,
				s.complain(spec, "%s holds a %s: it does more than carry values, and is no record", name, acts)})
		case n > maxFields && !isRecord && !isWide:
			breaches = append(breaches, breach{"fields", s.dir, name,
				s.complain(spec, "%s has %d fields, at most %d: make a struct of what belongs together",
					name, n, maxFields)})
		}
	})
	return breaches
}

// active is what in a struct does something, and carries no value: a function, a channel, a lock. Empty if there is
// none.
func active(structure *ast.StructType) (what string) {
	ast.Inspect(structure, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			what = "function"
		case *ast.ChanType:
			what = "channel"
		case *ast.SelectorExpr:
			if library, _, _ := strings.Cut(qualified(n), "."); library == "sync" || library == "atomic" {
				what = qualified(n)
			}
		}
		return what == ""
	})
	return what
}

// checkEmbedding refuses a struct that embeds a struct which itself embeds something: where a method comes from must be
// found with one look.
func checkEmbedding(all []*source) (breaches []breach) {
	embeds := map[string][]string{} // folder.Type to what it embeds, in the same form
	eachType(all, func(s *source, spec *ast.TypeSpec) {
		structure, ok := spec.Type.(*ast.StructType)
		if !ok {
			return
		}
		for _, field := range structure.Fields.List {
			if len(field.Names) == 0 {
				name := global(s.dir, spec.Name.Name)
				embeds[name] = append(embeds[name], s.typeName(field.Type))
			}
		}
	})
	eachType(all, func(s *source, spec *ast.TypeSpec) {
		for _, inner := range embeds[global(s.dir, spec.Name.Name)] {
			if deeper := embeds[inner]; len(deeper) > 0 {
				breaches = append(breaches, breach{"embedding", s.dir, spec.Name.Name,
					s.complain(spec, "%s embeds %s, which embeds %s: make one of them a field",
						spec.Name.Name, inner, deeper[0])})
			}
		}
	})
	return breaches
}

// typeName is a type's name with the folder of its package, or with the package's name if that is none of this module.
func (s *source) typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return s.typeName(e.X)
	case *ast.IndexExpr:
		return s.typeName(e.X)
	case *ast.IndexListExpr:
		return s.typeName(e.X)
	case *ast.Ident:
		return global(s.dir, e.Name)
	case *ast.SelectorExpr:
		library, name, _ := strings.Cut(qualified(e), ".")
		for _, spec := range s.tree.Imports {
			folder, inside := strings.CutPrefix(strings.Trim(spec.Path.Value, "`\""), "epitome/")
			if inside && (folder == library || strings.HasSuffix(folder, "/"+library)) {
				return folder + "." + name
			}
		}
		return library + "." + name
	}
	return ""
}

// breaking runs check over sources, of which each is a path and a text, and wants the names of what breaks the rule.
func breaking(t *testing.T, check func([]*source) []breach) func(want string, pathsAndTexts ...string) {
	return func(want string, pathsAndTexts ...string) {
		t.Helper()
		var all []*source
		for i := 0; i < len(pathsAndTexts); i += 2 {
			s, err := parse(pathsAndTexts[i], []byte(pathsAndTexts[i+1]))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
		var got []string
		for _, b := range check(all) {
			got = append(got, b.name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q break the rule, want %q", pathsAndTexts, got, want)
		}
	}
}

func TestMethodCheckerCanFail(t *testing.T) {
	f := breaking(t, checkMethods)
	methods := func(n int) string { return "package a\n" + strings.Repeat("func (t *T[K]) m() {}\n", n) }
	f("", "a/x.go", methods(20))
	f("T", "a/x.go", methods(21))
	f("T", "a/x.go", methods(11), "a/y.go", methods(10))
	f("", "a/x.go", methods(11), "b/y.go", methods(10), "a/x_test.go", methods(30))
	f("I", "a/x.go", "package a; type I interface {\n"+strings.Repeat("m()\n", 21)+"}")
}

func TestFieldCheckerCanFail(t *testing.T) {
	f := breaking(t, func(all []*source) []breach {
		return checkFields(all, map[string]string{"Record": "values", "b.Other": "values"},
			map[string]string{"Wide": "reason"})
	})
	of := func(name string, n int, also string) string {
		return "package a; type " + name + " struct {\n" + strings.Repeat("a, b int\n", n/2) + also + "\n}"
	}
	f("", "a/x.go", of("T", 14, "c int"))
	f("T", "a/x.go", of("T", 14, "c int; E"))
	f("", "a/x.go", of("Record", 40, "at time.Time"), "a/x_test.go", of("T", 40, ""))
	f("Record", "a/x.go", of("Record", 40, "mu sync.Mutex"))
	f("Record", "a/x.go", of("Record", 40, "do map[string]func()"))
	f("Other", "a/x.go", of("Other", 40, ""), "a/b/x.go", of("Other", 40, ""))
	f("", "a/x.go", of("Wide", 40, "mu sync.Mutex"))
}

func TestEmbeddingCheckerCanFail(t *testing.T) {
	f := breaking(t, checkEmbedding)
	f("", "a/x.go", "package a; type A struct { B }; type B struct { c C }; type C struct { net.Conn }")
	f("A", "a/x.go", "package a; type A struct { *B }; type B struct { net.Conn }")
	f("A", "a/x.go", `package a; import "epitome/x/b"; type A struct { b.B }`, "x/b/x.go",
		"package b; type B struct { C }; type C struct{}")
	f("", "a/x.go", "package a; type A struct { B }", "b/x.go", "package b; type B struct { C }", "a/x_test.go",
		"package a; type B struct { C }")
}

func TestReasonCheckerCanFail(t *testing.T) {
	got := checkReasons("x", map[string]string{"a": "reason", "b": " "})
	if len(got) != 1 || !strings.HasPrefix(got[0], "b in the table x") {
		t.Errorf("got %q", got)
	}
}
