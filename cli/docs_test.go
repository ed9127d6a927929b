package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents returns the text of each document by its path from this folder.
func documents() map[string]string {
	all := map[string]string{}
	for _, pattern := range []string{"../*.md", "../docs/*.md"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			text, _ := os.ReadFile(path)
			all[path] = string(text)
		}
	}
	return all
}

// Each relative link of a document leads to a file, and to a heading of it where it names one.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	links := regexp.MustCompile(`(?:\]\(|srcset="|src=")([^):"\s]+)[)"\s]`)
	headings, notInAnchors := regexp.MustCompile(`(?m)^#+ (.*)$`), regexp.MustCompile(`[^\pL\pN _-]`)
	docs := documents()
	for path, text := range docs {
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			file, anchor, _ := strings.Cut(link[1], "#")
			target := filepath.Join(filepath.Dir(path), cmp.Or(file, filepath.Base(path)))
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads to no file", path, link[1])
			}
			found := anchor == ""
			for _, heading := range headings.FindAllStringSubmatch(docs[target], -1) {
				id := notInAnchors.ReplaceAllString(strings.ToLower(heading[1]), "")
				found = found || strings.ReplaceAll(id, " ", "-") == anchor
			}
			if !found {
				t.Errorf("%s: %s leads to no heading", path, link[1])
			}
		}
	}
}

// Each command in a document is one of the program, with the flags that it has there.
func TestCommandsOfDocumentsExist(t *testing.T) {
	commands := regexp.MustCompile("(?m)(?:^    |`)(?:(?:\\./)?epitome|go run \\.) ([a-z-][^`#\n|]*)")
	for path, text := range documents() {
		for _, line := range commands.FindAllStringSubmatch(text, -1) {
			root := (&app{}).command()
			root.InitDefaultCompletionCmd()
			given, _, _ := strings.Cut(line[1], " -- ") // and not the flags of an agent
			c, rest, err := root.Find(strings.Fields(given))
			if err != nil || c == root && given[0] != '-' {
				t.Errorf("%s: epitome %s: no such command", path, line[1])
				continue
			}
			for _, word := range rest {
				name, isFlag := strings.CutPrefix(strings.Split(word, "=")[0], "--")
				if isFlag && name != "" && name != "help" && c.Flag(name) == nil {
					t.Errorf("%s: epitome %s: no flag %s", path, line[1], word)
				}
			}
		}
	}
}

// A number of a document that is a constant of the program is a row of testdata/numbers.txt, which has both.
func TestNumbersOfDocumentsAreThoseOfTheCode(t *testing.T) {
	rows, err := os.ReadFile("testdata/numbers.txt")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(rows)) {
		if row[0] == '#' {
			continue
		}
		document, code, _ := strings.Cut(strings.TrimSpace(row), " :: ")
		for _, side := range []string{document, code} {
			path, says, isWhole := strings.Cut(side, ": ")
			text, err := os.ReadFile("../" + path)
			if err != nil || !isWhole {
				t.Errorf("cannot read %q: %v", row, err)
				continue
			}
			plain := strings.ReplaceAll(string(text), "\n#", "\n") // a comment of config.toml is one text
			plain = strings.Join(strings.Fields(plain), " ")
			if !regexp.MustCompile(`(?:^|[^\w.,])` + regexp.QuoteMeta(says) + `(?:$|\W)`).MatchString(plain) {
				t.Errorf("%s does not have %q; change it in both: %s", path, says, row)
			}
		}
	}
}
