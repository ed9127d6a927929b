package house_test

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
)

// maxEntries of the root folder that git tracks are shown before the README.
const maxEntries = 36

func TestRootIsAFrontDoor(t *testing.T) {
	tracked := files(t)
	settle(t, "root", append(checkEntries(tracked), checkRootCode(tracked)...))
}

// checkEntries holds how much stands in the root folder.
func checkEntries(tracked []string) (breaches []breach) {
	entries := map[string]bool{}
	for _, name := range tracked {
		entry, _, _ := strings.Cut(name, "/")
		entries[entry] = true
	}
	if n := len(entries); n > maxEntries {
		breaches = append(breaches, breach{"root", ".", "entries",
			fmt.Sprintf("the root folder has %d entries, at most %d: put what belongs together in a folder",
				n, maxEntries)})
	}
	return breaches
}

// checkRootCode wants no Go file in the root but the program's beginning.
func checkRootCode(tracked []string) (breaches []breach) {
	for _, name := range tracked {
		if strings.HasSuffix(name, ".go") && !strings.Contains(name, "/") && name != "main.go" &&
			name != "main_test.go" {
			breaches = append(breaches, breach{"root", ".", name, name + " stands in the root: give it a package"})
		}
	}
	return breaches
}

const maxReadme = 900 // words of README.md: who looks for a proxy reads no more

func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkReadme(string(text)))
}

// checkReadme holds how long the README is; all else has a page in docs.
func checkReadme(text string) (complaints []string) {
	if n := len(strings.Fields(text)); n >= maxReadme {
		complaints = append(complaints, fmt.Sprintf("README.md has %d words, fewer than %d are allowed", n, maxReadme))
	}
	return complaints
}

func TestRootCheckersCanFail(t *testing.T) {
	if got := checkReadme(strings.Repeat("word ", maxReadme-1)); len(got) != 0 {
		t.Errorf("a short README: %q", got)
	}
	if got := checkReadme(strings.Repeat("word ", maxReadme)); len(got) != 1 {
		t.Errorf("a long README: %q", got)
	}
	entries := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("folder%d/a.go", i), fmt.Sprintf("folder%d/b.go", i))
		}
		return all
	}
	if got := checkEntries(entries(maxEntries)); len(got) != 0 {
		t.Errorf("%d entries: %q", maxEntries, got)
	}
	if got := checkEntries(append(entries(maxEntries), "README.md")); len(got) != 1 {
		t.Errorf("%d entries: %q", maxEntries+1, got)
	}
	if got := checkRootCode([]string{"main.go", "main_test.go", "a/b.go", "go.mod"}); len(got) != 0 {
		t.Errorf("the program's beginning: %q", got)
	}
	if got := checkRootCode([]string{"main.go", "serve.go", "serve_test.go"}); len(got) != 2 {
		t.Errorf("two files too many: %q", got)
	}
}

// TestNamesNoWorkplace keeps the repository usable anywhere: no path and no host of the place it was written at.
func TestNamesNoWorkplace(t *testing.T) {
	for _, name := range files(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a tracked file that is being moved or removed
		}
		report(t, checkWorkplace(name, text))
	}
}

// checkWorkplace looks for the names of the place this was written at. They are put together here so that this file
// does not hold them.
func checkWorkplace(name string, text []byte) (complaints []string) {
	beside := "../" + "shared"
	// Tests, and what only they use.
	if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(path.Dir(name), "test") {
		text = bytes.ReplaceAll(text, []byte(beside+"/corpus"), nil) // a test may look there and must do without
	}
	for _, place := range []string{
		"/work/" + "main", "/work/" + ".library", "farm" + "-", beside,
		"proxy.golang" + ".org", "registry.npmjs" + ".org", "deb.debian" + ".org", "repo.maven.apache" + ".org", "docker" + ".io/",
	} {
		if bytes.Contains(text, []byte(place)) {
			complaints = append(complaints, fmt.Sprintf("%s names %q, which exists at one workplace only", name, place))
		}
	}
	return complaints
}
