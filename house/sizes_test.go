package house_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxFile     = 500  // lines, tests included
	maxFunc     = 80   // lines
	maxTestFunc = 120  // lines
	tailFunc    = 35   // lines that nine functions in ten stay within
	tailFrom    = 20   // functions; a smaller package is not judged by its tail
	maxParams   = 4    // names, without the receiver
	maxDepth    = 3    // control structures around a statement
	maxPackage  = 2500 // lines of a package, without tests
	maxColumns  = 120  // characters of a line; a tab counts as tabColumns
	tabColumns  = 4
)

func TestBudgets(t *testing.T) {
	all := sources(t)
	for _, s := range all {
		report(t, checkSizes(s))
	}
	report(t, checkTail(all))
	settle(t, "package", checkPackageSizes(all))
	settle(t, "columns", checkColumns(all))
}

// checkSizes holds the budgets of one file and of each function in it.
func checkSizes(s *source) (complaints []string) {
	if n := bytes.Count(s.text, []byte("\n")); n > maxFile {
		complaints = append(complaints,
			fmt.Sprintf("%s: %d lines, at most %d: find the second noun in it", s.path, n, maxFile))
	}
	longest := maxFunc
	if s.test {
		longest = maxTestFunc
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := s.lines(n); lines > longest {
				complaints = append(complaints,
					s.complain(n, "%s has %d lines, at most %d", n.Name.Name, lines, longest))
			}
			complaints = append(complaints, checkDepth(s, n, n.Body)...)
		case *ast.FuncLit:
			complaints = append(complaints, checkDepth(s, n, n.Body)...)
		case *ast.FuncType:
			if count := n.Params.NumFields(); count > maxParams && !s.test {
				complaints = append(complaints,
					s.complain(n, "%d parameters, at most %d: make a struct of what belongs together",
						count, maxParams))
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
		return []string{s.complain(function,
			"control structures nest %d deep, at most %d: return early or name the inner part", d, maxDepth)}
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
			complaints = append(complaints,
				fmt.Sprintf("%s: %d of %d functions are longer than %d lines, at most one in ten",
					where, long, len(lens), tailFunc))
		}
	}
	return complaints
}

// checkPackageSizes holds the length of each package.
func checkPackageSizes(all []*source) (breaches []breach) {
	lines := map[string]int{}
	for _, s := range all {
		if !s.test {
			lines[s.dir] += bytes.Count(s.text, []byte("\n"))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		if n := lines[dir]; n > maxPackage {
			breaches = append(breaches, breach{"package", dir, dir,
				fmt.Sprintf("%s: %d lines without tests, at most %d: give the second idea in it a package",
					dir, n, maxPackage)})
		}
	}
	return breaches
}

// checkColumns holds the width of each line. One string literal of a line does not count, so that a sentence that is
// shown to somebody, or a script, stands in one piece and can be searched for; nor does what stands in a literal of
// several lines.
func checkColumns(all []*source) (breaches []breach) {
	for _, s := range all {
		number, literals := 0, s.literals()
		for line := range bytes.Lines(s.text) {
			number++
			if n := columns(bytes.TrimRight(line, "\r\n")) - literals[number]; n > maxColumns {
				breaches = append(breaches, breach{"columns", s.dir, s.path,
					fmt.Sprintf("%s:%d: %d columns beside its longest string literal, at most %d",
						s.path, number, n, maxColumns)})
			}
		}
	}
	return breaches
}

// literals is the width of the longest string literal in each line, by the line's number; more than any line has for
// one of several lines.
func (s *source) literals() map[int]int {
	widths := map[int]int{}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		first, last, width := s.line(literal.Pos()), s.line(literal.End()), columns([]byte(literal.Value))
		if last > first {
			width = 1 << 30
		}
		for i := first; i <= last; i++ {
			widths[i] = max(widths[i], width)
		}
		return true
	})
	return widths
}

func columns(line []byte) int {
	return utf8.RuneCount(line) + (tabColumns-1)*bytes.Count(line, []byte("\t"))
}

func TestPackageSizeCheckerCanFail(t *testing.T) {
	f := breaking(t, checkPackageSizes)
	lines := func(n int) string { return "package a" + strings.Repeat("\n", n) }
	f("", "a/x.go", lines(1500), "a/y.go", lines(1000), "a/x_test.go", lines(1000), "a/b/x.go", lines(1500))
	f("a", "a/x.go", lines(1500), "a/y.go", lines(1001))
}

func TestColumnCheckerCanFail(t *testing.T) {
	f := breaking(t, checkColumns)
	of := func(n int) string { return "package a\n\n//" + strings.Repeat("é", n-2) + "\r\n" }
	f("", "a/x.go", of(120))
	f("a/x.go", "a/x.go", of(121))
	f("a/x_test.go", "a/x_test.go", "package a\n\n\t\t//"+strings.Repeat("x", 111)+"\n")
	f("", "a/x_test.go", "package a\n\n\t\t//"+strings.Repeat("x", 110)+"\n")

	quoted := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	f("", "a/x.go", "package a\n\nconst s = "+quoted(200)+"\n")
	f("", "a/x.go", "package a\n\nconst a, b = "+quoted(105)+", "+quoted(200)+"\n")
	f("a/x.go", "a/x.go", "package a\n\nconst a, b = "+quoted(106)+", "+quoted(200)+"\n")
	f("a/x.go", "a/x.go", "package a\n\nconst "+strings.Repeat("s", 120)+" = `\n`\n\n//"+strings.Repeat("x", 119)+"\n")
	f("", "a/x.go", "package a\n\nconst s = `\n"+strings.Repeat("x", 200)+"\n`\n")
}
