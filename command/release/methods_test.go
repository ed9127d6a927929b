package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The linker leaves out methods that nobody calls, unless a function in the program asks for one by a name or a number
// that is known only when it runs (docs/decisions/0041-what-the-linker-can-leave-out.md).
func TestNothingAsksForMethodsByName(t *testing.T) {
	program := filepath.Join(t.TempDir(), "epitome")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags="+stripped+" -dumpdep", "-o", program, "epitome")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var reached bytes.Buffer // which symbol reaches which other one
	cmd.Stderr = &reached
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %.2000s", err, reached.String())
	}
	if n := bytes.Count(reached.Bytes(), []byte(" -> ")); n < 10_000 {
		t.Fatalf("the linker tells %d ways from symbol to symbol: it tells them otherwise, and this test finds nothing", n)
	}
	for _, f := range asking(reached.String()) {
		t.Errorf("%s asks for methods by a name that the linker cannot know, so that it keeps all of them", f)
	}
}

// asking are the functions that ask for methods, as the linker tells them, each with who brings it into the program.
// Those of package reflect are kept with all methods, whoever asks: they count where nobody else does.
func asking(reached string) (functions []string) {
	const mark = " <ReflectMethod>"
	by := map[string]string{}
	for line := range strings.Lines(reached) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		if f, ok := strings.CutSuffix(to, mark); ok && by[f] == "" {
			by[f], _, _ = strings.Cut(from, " <")
		}
	}
	own := func(f string, _ string) bool { return strings.HasPrefix(f, "reflect.") }
	others := maps.Clone(by)
	if maps.DeleteFunc(others, own); len(others) == 0 {
		others = by
	}
	for _, f := range slices.Sorted(maps.Keys(others)) {
		functions = append(functions, f+", which is reached by "+by[f]+",")
	}
	return functions
}

func TestAskersAreFound(t *testing.T) {
	f := func(reached string, want ...string) {
		t.Helper()
		if got := asking(reached); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f("main.main -> main.f\nmain.f -> reflect.Value.Field\n")
	f("main.main -> main.f <ReflectMethod>\nmain.f <ReflectMethod> -> fmt.Println\ntype:x <UsedInIface> -> x.g <ReflectMethod>\n"+
		"reflect.a -> reflect.b <ReflectMethod>\n",
		"main.f, which is reached by main.main,", "x.g, which is reached by type:x,")
	f("reflect.a -> reflect.b <ReflectMethod>\n", "reflect.b, which is reached by reflect.a,")
}
