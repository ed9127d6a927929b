// Command mutationtest changes the code of packages in one place at a time, runs their tests, and prints the changes
// that no test notices. Each is a comparison or an operator turned, a number raised, or a statement left out. No file
// is changed: the compiler reads the changed ones in their place. Changes are tried by chance until the time is up.
//
//	go run ./internal/mutationtest [-for 15m] [-seed N] FILE.go...
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

var turned = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=",
	token.NEQ: "==", token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*"}

// mutation is a change of the bytes [start, end) of a file.
type mutation struct {
	file, with       string
	start, end, line int
}

func mutationsOf(file string) (list []mutation) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, nil, 0)
	if err != nil {
		panic(err)
	}
	add := func(at token.Pos, length int, with string) {
		p := files.Position(at)
		list = append(list, mutation{file, with, p.Offset, p.Offset + length, p.Line})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if with := turned[n.Op]; with != "" {
				add(n.OpPos, len(n.Op.String()), with)
			}
		case *ast.BasicLit:
			if n.Kind == token.INT || n.Kind == token.FLOAT {
				add(n.Pos(), len(n.Value), "(1+"+n.Value+"*3/2)")
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt:
			add(n.Pos(), int(n.End()-n.Pos()), "")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add(n.Pos(), int(n.End()-n.Pos()), "")
			}
		}
		return true
	})
	return list
}

// test runs the package's tests with the change, and returns what they print, and an error unless all pass.
func (m mutation) test(folder string, source []byte) (out []byte, err error) {
	changed, overlay := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	_ = os.WriteFile(changed, slices.Concat(source[:m.start], []byte(m.with), source[m.end:]), 0o600)
	_ = os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace":{%q:%q}}`, m.file, changed), 0o600) // else nothing builds
	test := exec.Command("go", "test", "-short", "-timeout=1m", "-overlay", overlay, "./"+filepath.Dir(m.file))
	return test.CombinedOutput()
}

func main() {
	limit := flag.Duration("for", 15*time.Minute, "how long to try changes")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the order of the changes")
	flag.Parse()
	folder, err := os.MkdirTemp("", "mutation")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	var all []mutation
	for _, file := range flag.Args() {
		if !strings.HasSuffix(file, "_test.go") {
			all = append(all, mutationsOf(file)...)
		}
	}
	rand.New(rand.NewPCG(*seed, 1)).Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	fmt.Printf("%d changes, seed %d; no test notices\n", len(all), *seed)
	end, tried, survived := time.Now().Add(*limit), 0, 0
	for k := 0; k < len(all) && time.Now().Before(end); k++ {
		m := all[k]
		source, _ := os.ReadFile(m.file) // it was parsed
		out, err := m.test(folder, source)
		if bytes.Contains(out, []byte("[build failed]")) {
			continue
		}
		tried++
		if err == nil {
			survived++
			fmt.Printf("%s:%d %q becomes %q\n", m.file, m.line, source[m.start:m.end], m.with)
		}
	}
	fmt.Printf("%d of %d\n", survived, tried)
}
