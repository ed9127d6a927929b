package house_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// ARCHITECTURE.md says of each file what it holds, in fenced blocks that begin with ```files:
//
//	```files
//	proxy/               one exchange on the wire
//	  exchange.go        a request and its answer, from the first byte to the record
//	  head.go chunked.go reading and writing heads; bodies in chunks
//	```
//
// A line without indentation names a folder, from the root and with a slash at its end ("./" is the root). An indented
// line names files in it, and says what they hold. Both need words behind the names. Tests are not named.

func TestArchitectureNamesEveryFileOnce(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var code []string
	for _, s := range sources(t) {
		if !s.test {
			code = append(code, s.path)
		}
	}
	settle(t, "architecture", checkMap(string(text), code))
}

// checkMap compares the files that a text names with those that there are. A breach is named after its folder.
func checkMap(text string, code []string) (breaches []breach) {
	named, complaints := readMap(text)
	for _, c := range complaints {
		breaches = append(breaches, breach{"architecture", ".", "format", "ARCHITECTURE.md: " + c})
	}
	about := func(file, format string) {
		folder := file[:max(0, strings.LastIndex(file, "/"))]
		breaches = append(breaches, breach{"architecture",
			folder, folder, fmt.Sprintf("ARCHITECTURE.md: "+format, file)})
	}
	for _, file := range code {
		if named[file] == 0 {
			about(file, "%s is not named: say what it holds")
		}
	}
	for _, file := range slices.Sorted(maps.Keys(named)) {
		if !slices.Contains(code, file) {
			about(file, "%s is named, and there is no such file")
		}
		if named[file] > 1 {
			about(file, "%s is named more than once")
		}
	}
	return breaches
}

// readMap is how often the blocks of a text name each file, and what in them cannot be read.
func readMap(text string) (named map[string]int, complaints []string) {
	named = map[string]int{}
	within, folder := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "```"):
			within, folder = line == "```files", ""
		case !within || len(words) == 0:
		case line[0] != ' ':
			if folder = words[0]; !strings.HasSuffix(folder, "/") || len(words) == 1 {
				complaints = append(complaints, fmt.Sprintf("%q is no folder with its purpose", line))
			}
		default:
			n := 0
			for ; n < len(words) && strings.HasSuffix(words[n], ".go"); n++ {
				named[strings.TrimPrefix(folder, "./")+words[n]]++
			}
			if n == 0 || n == len(words) || folder == "" {
				complaints = append(complaints, fmt.Sprintf("%q is no file with what it holds, below a folder", line))
			}
		}
	}
	return named, complaints
}

func TestMapCheckerCanFail(t *testing.T) {
	code := []string{"main.go", "a/x.go", "a/y.go", "a/b/z.go"}
	good := "# Map\n```files\n./  the program\n  main.go  its beginning\na/  letters\n  x.go y.go  two of them\n\na/b/  more\n  z.go  the last\n```\n"
	f := func(text, want string) {
		t.Helper()
		got := ""
		for _, b := range checkMap(text, code) {
			got += b.complaint + "\n"
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s\ncomplaints %q, want %q", text, got, want)
		}
	}
	change := func(old, now string) string { return strings.Replace(good, old, now, 1) }
	f(good, "")
	f(good+"In prose a/x.go may be named again.\n```\n  x.go too\n```\n", "")
	f(change("x.go y.go", "x.go"), "a/y.go is not named")
	f(change("```files", "```"), "main.go is not named")
	f(change("x.go y.go", "x.go y.go w.go"), "a/w.go is named, and there is no such file")
	f(change("x.go y.go", "x.go y.go x.go"), "a/x.go is named more than once")
	f(change("two of them", ""), `"  x.go y.go" is no file with what it holds`)
	f(change("  x.go", "x.go"), `"x.go y.go  two of them" is no folder`)
	f(change("a/b/  more", "a/b/"), `"a/b/" is no folder with its purpose`)
	f(change("./  the program\n", ""), `"  main.go  its beginning" is no file`)
}
