package house_test

import (
	"strings"
	"testing"
)

// A law that cannot fail holds nothing: each checker meets a source it must
// complain about, and its lawful neighbour.

// complaining runs check over source text at path; want is part of the one complaint, or empty for none.
func complaining(t *testing.T, check func(*source) []string) func(path, text, want string) {
	return func(path, text, want string) {
		t.Helper()
		s, err := parse(path, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(check(s), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: complaints %q, want %q", path, got, want)
		}
	}
}

func TestArrowCheckerCanFail(t *testing.T) {
	table := map[string]room{"a": {"unit", "a is small"}, "unit": {"", "unit is a leaf"}}
	f := complaining(t, func(s *source) []string { return checkArrows(s, table) })
	f("a/x.go", `package a; import "epitome/unit"`, "")
	f("a/x.go", `package a; import "epitome/console"`, "a may not import console: a is small")
	f("unit/x.go", `package unit; import _ "epitome/a"`, "unit is a leaf")
	f("a/x.go", `package a; import "epitome/scripted"`, "a may not import scripted")
	f("a/x_test.go", `package a_test; import ("epitome/scripted"; "epitome/a")`, "")
	f("b/x.go", `package b`, "give it a place in DESIGN's house")
}

func TestBanCheckerCanFail(t *testing.T) {
	f := complaining(t, func(s *source) []string { return checkBans(s, bans) })
	f("proxy/x.go", `package proxy; import "github.com/valyala/fasthttp/fasthttputil"`, "")
	f("console/x.go", `package console; import "github.com/valyala/fasthttp"`, "knows this library")
	f("proxy/x.go", `package proxy; import "github.com/prometheus/client_golang/prometheus"`, "fold over events")
	f("proxy/x.go", `package proxy; import "github.com/dgraph-io/badger/v4"`, "outlive")
	f("scripted/x.go", `package scripted; import "testing/iotest"`, "only test code")
	f("scripted/scriptedtest/x.go", `package scriptedtest; import "testing"`, "")
	f("proxy/x_test.go", `package proxy; import "testing"`, "")
}

func TestSizeCheckerCanFail(t *testing.T) {
	f := complaining(t, checkSizes)
	lines := func(n int) string { return strings.Repeat("\n", n) }
	f("a/x.go", "package a"+lines(maxFile), "")
	f("a/x_test.go", "package a"+lines(maxFile+1), "501 lines")
	f("a/x.go", "package a; func f() {"+lines(maxFunc-1)+"}", "")
	f("a/x.go", "package a; func f() {"+lines(maxFunc)+"}", "f has 81 lines")
	f("a/x_test.go", "package a; func f() {"+lines(maxFunc)+"}", "")
	f("a/x_test.go", "package a; func f() {"+lines(maxTestFunc)+"}", "f has 121 lines")
	f("a/x.go", "package a; type r int; func (r) f(a, b int, c, d string) {}", "")
	f("a/x.go", "package a; func f(a, b int, c, d, e string) {}", "5 parameters")
	f("a/x.go", "package a; type i interface{ m(a, b, c, d, e int) }", "5 parameters")
}

func TestDepthCheckerCanFail(t *testing.T) {
	f := complaining(t, checkSizes)
	body := func(text string) string { return "package a\nfunc f() {" + text + "}" }
	f("a/x.go", body("for { if x { switch { case y: z() } } }"), "")
	f("a/x.go", body("for { if x { switch { case y: if z { } } } }"), "nest 4 deep")
	f("a/x_test.go", body("for { if x { switch { case y: if z { } } } }"), "")
	f("a/x.go", body("for { for { if x { } else if y { } else if z { } else { } } }"), "")
	f("a/x.go", body("for { for { if x { } else if y { for { } } } }"), "nest 4 deep")
	f("a/x.go", body("for { for { select { default: go func() { if x { } }() } } }"), "")
	f("a/x.go", body("g(func() { for { for { for range x { for { } } } } })"), "nest 4 deep")
}

func TestTailCheckerCanFail(t *testing.T) {
	long := "func f() {" + strings.Repeat("\n", tailFunc) + "}\n"
	short := "func g() {}\n"
	f := complaining(t, func(s *source) []string { return checkTail([]*source{s}) })
	f("a/x.go", "package a\n"+strings.Repeat(long, 2)+strings.Repeat(short, 18), "")
	f("a/x.go", "package a\n"+strings.Repeat(long, 3)+strings.Repeat(short, 18), "a: 3 of 21 functions")
	f("a/x.go", "package a\n"+strings.Repeat(long, 3)+short, "")
}

func TestDocCheckersCanFail(t *testing.T) {
	f := complaining(t, func(s *source) []string { return checkPackageDocs([]*source{s}) })
	f("a/x.go", "// Package a is.\npackage a", "")
	f("a/x.go", "package a", "a: no package comment")
	f("a/x_test.go", "// Package a_test is.\npackage a_test", "")

	f = complaining(t, checkExportedDocs)
	f("a/x.go", "package a\nfunc F() {}", "F has no doc comment")
	f("a/x.go", "package a\n// F is.\nfunc F() {}", "")
	f("a/x.go", "package a\nfunc (T[K]) M() {}", "M has no doc comment")
	f("a/x.go", "package a\nfunc (*t) M() {}\nfunc (T) String() string", "")
	f("a/x.go", "package a\ntype T int", "T has no doc comment")
	f("a/x.go", "package a\n// The kinds.\nconst (\nA = 1\nB = 2\n)", "")
	f("a/x.go", "package a\nvar (\nA = 1 // one\nB = 2\n)", "B has no doc comment")
	f("a/x_test.go", "package a\nfunc F() {}", "")
}

func TestNameCheckerCanFail(t *testing.T) {
	f := complaining(t, checkTypeNames)
	f("a/x.go", "package a; type PoolManager struct{}", `"Manager"`)
	f("a/x.go", "package a; func f() { type httpInfo struct{} }", `"Info"`)
	f("a/x.go", "package a; type HTTPDataURL string", `"Data"`)
	f("a/x_test.go", "package a; type util_set int", `"util"`)
	f("a/x.go", "package a; type Database int; type Informer int; type Metadata int", "")
}

func TestGlobalCheckersCanFail(t *testing.T) {
	f := complaining(t, func(s *source) []string { return checkGlobals(s, map[string]string{"a.fine": "reason"}) })
	f("a/x.go", "package a; func init() {}", "func init")
	f("a/x_test.go", "package a; func init() {}", "func init")
	f("a/x.go", "package a; type t int; func (t) init() {}", "")
	f("a/x.go", "package a; var n int", "n can change")
	f("a/x.go", "package a; var hook = func() {}", "hook can change")
	f("a/x.go", "package a; var pool = sync.Pool{}", "pool can change")
	f("a/x.go", "package a; var p = &T{}", "p can change")
	f("a/x.go", "package a; var c = http.NewClient()", "c can change")
	f("a/x.go", "package a; var fine int; var _ I = (*t)(nil); var table = map[string]int{}", "")
	f("a/x.go", "package a; var E, e2 = errors.New(`x`), fmt.Errorf(`y`); var r = regexp.MustCompile(`z`)", "")
	f("a/x.go", "package a; var b = []byte(`x`); var s = `x` + `y`", "")
	f("a/x.go", "package a\n\n//go:embed x.toml\nvar file string", "")

	f = complaining(t, func(s *source) []string {
		return checkAssigned([]*source{s},
			map[string]string{"a.fine": "reason"})
	})
	f("a/x.go", "package a; var t = []int{1}; func f() { t[0]++ }", "t is a package-level table")
	f("a/x.go", "package a; var t = T{}; func f() { t.x.y = 1 }", "t is a package-level table")
	f("a/x.go", "package a; var t = map[int]int{}; func f() { delete(t, 1) }", "t is a package-level table")
	f("a/x.go", "package a; var _ I = T{}; var t, fine = T{}, 1; func h() { _ = 1 }; func f() { t := 1; t = 2; fine = t }; func g(t int) { t++ }", "")
}

func TestWorkplaceCheckerCanFail(t *testing.T) {
	f := func(name, text, want string) {
		t.Helper()
		got := strings.Join(checkWorkplace(name, []byte(text)), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: complaints %q, want %q", name, got, want)
		}
	}
	f("README.md", "see .."+"/shared/corpus", "names")
	f("a/x_test.go", "see .."+"/shared/corpus/x", "")
	f("a/atest/x.go", "see .."+"/shared/corpus/x", "")
	f("a/x_test.go", "see .."+"/shared/facts", "names")
	f("go.sum", "proxy.golang"+".org", "names")
	f("README.md", "this workplace shares nothing", "")
}
