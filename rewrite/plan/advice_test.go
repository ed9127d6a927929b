package plan_test

import (
	"strings"
	"testing"

	"epitome/rewrite/outline"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
)

// addressed is a shelf whose addresses are what a test says.
type addressed struct {
	*plantest.Cupboard
	at string
}

func (a addressed) Address(string) string { return a.at }

func TestAdviceFitsTheContent(t *testing.T) {
	p := plantest.NewDesk(t).Plan(t, plantest.Body())
	f := func(at string, c plan.Content, want string) {
		t.Helper()
		p.Shelf = addressed{plantest.NewCupboard(), at}
		if got := p.Advice("name", c); got != want {
			t.Errorf("%+v at %q: %q, want %q", c, at, got, want)
		}
	}
	const path, url = "/a/name.txt", "https://host/-/artifacts/name"
	f(path, plan.Content{Lines: 40, Tokens: 400}, "Read it in /a/name.txt")
	f(path, plan.Content{Lines: 4_000, Tokens: 40_000}, "Search it in /a/name.txt with grep, or read some of its lines")
	f(path, plan.Content{Lines: 1, Tokens: 40_000}, "It is one long line in /a/name.txt. Read parts of it with cut -c")
	f(path, plan.Content{Kind: outline.JSON, Queryable: true, Lines: 1, Tokens: 40_000}, "Query it in /a/name.txt with jq")
	f(path, plan.Content{Kind: outline.JSON, Queryable: true, Lines: 90, Tokens: 40_000},
		"Query it in /a/name.txt with jq, or search it with grep")
	f(path, plan.Content{Lines: 4_000, Tokens: 40_000, File: "src/a.go"},
		"Read src/a.go again. As it was then, it is in /a/name.txt")
	f(path, plan.Content{Kind: outline.JSON, Queryable: true, Lines: 1, Tokens: 40_000, Readable: "other"},
		"Search it in /a/name.txt with grep, or read some of its lines: there each value has a line. "+
			"As it came, it is in /a/name.txt, for jq")
	f(url, plan.Content{Kind: outline.JSON, Queryable: true, Lines: 1, Tokens: 40_000, Readable: "other"},
		"Fetch it from "+url+" and search it: there each value has a line. As it came, it is at "+url)
	f(path, plan.Content{Kind: outline.Source, Lines: 900, Tokens: 9_000, File: "src/a.go", Numbered: true},
		"Read the lines that you need from src/a.go, by their numbers. As it was then, it is in /a/name.txt")
	f(path, plan.Content{Kind: outline.Source, Lines: 900, Tokens: 9_000, File: "src/a.go"},
		"Read the lines that you need in /a/name.txt")
	f(url, plan.Content{Lines: 40, Tokens: 400}, "Read it in "+url)
	f(url, plan.Content{Lines: 4_000, Tokens: 40_000}, "Fetch it from "+url+" and search it: it is long")
	parts := plan.Content{InParts: true, Readable: "other", Lines: 40, Tokens: 400}
	f(path, parts, "Read it in /a/name.txt. As it came, it is in /a/name.txt, as JSON")
	f(url, parts, "Read it in "+url+". As it came, it is at "+url+", as JSON")
	f("", parts, "Kept as artifact name, which you cannot read from here")
	parts.Media, parts.Tokens = "a picture", 40_000
	f(path, parts, "Search it in /a/name.txt with grep, or read some of its lines. As it came, with a picture, it is in /a/name.txt, as JSON")
	f(path, plan.Content{InParts: true, Media: "a picture"}, "It is in /a/name.txt, as JSON")
	f(url, plan.Content{InParts: true, Media: "a picture", File: "a.png"},
		"Read a.png again. As it was then, it is at "+url+", as JSON")
	f("", plan.Content{Lines: 40, Tokens: 400}, "Kept as artifact name, which you cannot read from here")
	f("", plan.Content{File: "src/a.go"}, "Kept as artifact name, which you cannot read from here. Read src/a.go again")
}

func TestAdviceNamesTheToolWhereAModelHasIt(t *testing.T) {
	p := plantest.NewDesk(t).Plan(t, plantest.Body())
	p.Case.ByTool = true
	f := func(c plan.Content, want string) {
		t.Helper()
		if got := p.Advice("name", c); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
	f(plan.Content{Lines: 40, Tokens: 400}, "Read artifact name with epitome's tool recall")
	f(plan.Content{Lines: 4_000, Tokens: 40_000},
		"Search artifact name with epitome's tool recall, or read some of its lines")
	f(plan.Content{Lines: 1, Tokens: 40_000}, "It is one long line. Search artifact name with epitome's tool recall")
	f(plan.Content{Kind: outline.JSON, Queryable: true, Lines: 90, Tokens: 40_000},
		"Give epitome's tool recall a path in artifact name, or grep")
	f(plan.Content{Lines: 4_000, Tokens: 40_000, File: "src/a.go"},
		"Read src/a.go again. As it was then, epitome's tool recall reads it: artifact name")
	f(plan.Content{Kind: outline.JSON, Queryable: true, Lines: 1, Tokens: 40_000, Readable: "other"},
		"Search artifact other with epitome's tool recall, or read some of its lines: there each value has a line. "+
			"As it came, it is artifact name")
	f(plan.Content{Kind: outline.Source, Lines: 900, Tokens: 9_000, File: "src/a.go", Numbered: true},
		"Read the lines that you need from src/a.go, by their numbers. As it was then, epitome's tool recall reads it: "+
			"artifact name")
	f(plan.Content{Kind: outline.Source, Lines: 900, Tokens: 9_000, File: "src/a.go"},
		"Read the lines that you need of artifact name with epitome's tool recall")
	parts := plan.Content{InParts: true, Readable: "other", Lines: 40, Tokens: 400, Media: "a picture"}
	f(parts, "Read artifact other with epitome's tool recall. As it came, with a picture, it is artifact name, as JSON")
	f(plan.Content{InParts: true, Tokens: 400, Media: "a picture"}, "It is artifact name, as JSON")
	f(plan.Content{InParts: true, Media: "a picture", File: "a.png"},
		"Read a.png again. It is artifact name, as JSON")
}

// What would be cut again when it is read back is never to be read whole.
func TestNothingIsToBeReadWholeThatWouldNotComeThrough(t *testing.T) {
	p := plantest.NewDesk(t).Plan(t, plantest.Body())
	for tokens := 1; tokens < 1<<20; tokens *= 2 {
		advice := p.Advice("name", plan.Content{Lines: tokens, Tokens: tokens})
		if strings.HasPrefix(advice, "Read it in ") && tokens > p.Limits.Recall {
			t.Errorf("%d tokens, of which %d come through: %s", tokens, p.Limits.Recall, advice)
		}
	}
}
