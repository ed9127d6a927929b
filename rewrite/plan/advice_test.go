package plan_test

import (
	"testing"

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
	const cannot = "Kept as artifact name, which you cannot read from here"
	f(path, plan.Content{Lines: 40, Tokens: 400}, "Full output: /a/name.txt")
	f(path, plan.Content{Lines: 4_000, Tokens: 40_000}, "Full output: /a/name.txt; grep it or read a range")
	f(path, plan.Content{Tokens: 40_000, File: "the file"},
		"Read the file again. As it was then: /a/name.txt; grep it or read a range")
	f(path, plan.Content{Tokens: 400, Readable: "other"}, "Full output: /a/name.txt (as it came: /a/name.txt)")
	f(path, plan.Content{InParts: true, Media: "a picture"}, "Full output: /a/name.txt (JSON)")
	f(url, plan.Content{Tokens: 400}, "Full output: "+url)
	f(url, plan.Content{Tokens: 40_000}, "Full output: "+url+"; fetch it and search it")
	f("", plan.Content{Tokens: 400}, cannot)
	f("", plan.Content{File: "the file"}, "Read the file again. "+cannot)
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
	f(plan.Content{Tokens: 400}, "Full output: artifact name; read it with epitome's tool recall")
	f(plan.Content{Tokens: 40_000}, "Full output: artifact name; grep it or read a range with epitome's tool recall")
}
