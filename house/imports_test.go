package house_test

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// ban keeps a library where it belongs. It does not reach test files.
type ban struct {
	library string // import path; what stands below it is meant too
	allowed string // folders, separated by spaces
	why     string
}

var bans = []ban{
	{"github.com/valyala/fasthttp", "proxy proxy/wire bench/lineup",
		"only the proxy knows this library and its traps; bench/lineup needs a bare fasthttp proxy as its baseline"},
	{"github.com/dgraph-io/badger", "store/disk", "facts must outlive the choice of a database"},
	{"github.com/redis", "store/shared store/shared/sharedtest", "facts must outlive the choice of a server"},
	{"github.com/prometheus", "console/metrics",
		"metrics are a fold over events; counters on the request path would be a second truth"},
	{"go.opentelemetry.io", "console/traces", "spans are a fold over events; a context of tracing on the way of a request " +
		"would be a second truth"},
	{"github.com/minio", "", "it takes a fifth of a start, for everybody; only tests hold our signature to its own"},
	{"github.com/modelcontextprotocol", "console/recall", "the protocol changes twice a year, and is one way among several"},
	{"maragu.dev/gomponents", "bench/page console/markup console/pages console/pages/amounts console/pages/drawing console/pages/frame" +
		" console/pages/troubles",
		"what is no page needs no elements; who makes some keeps texts out of their code"},
	{"golang.org/x/term", "console/terminal", "what is done to a terminal is undone in one place"},
	{"html/template", "", keepsAll},
	{"text/template", "", keepsAll},
	{"testing", "bench/lineup/lineuptest command/commandtest house/missing scripted/scriptedtest store/shared/sharedtest store/storetest " +
		"proxy/certificate/certificatetest proxy/wire/wiretest rewrite/rewritetest sdk/sdktest",
		"package testing registers flags and weighs on the program; only test code needs it"},
}

// keepsAll is what a library of templates does.
const keepsAll = "it asks for methods by names that nobody knows before, and so every method of the program stays in it; pages " +
	"are made with maragu.dev/gomponents"

// checkLawful wants a reason for every arrow and every ban.
func checkLawful(house map[string]room, bans []ban) (complaints []string) {
	for dir, place := range house {
		if strings.TrimSpace(place.why) == "" {
			complaints = append(complaints, fmt.Sprintf("the arrows of %s have no reason", dir))
		}
	}
	for _, b := range bans {
		if strings.TrimSpace(b.why) == "" {
			complaints = append(complaints, fmt.Sprintf("the ban of %s has no reason", b.library))
		}
	}
	slices.Sort(complaints)
	return complaints
}

func TestEveryBanHasAReason(t *testing.T) {
	report(t, checkLawful(house, bans))
	for dir := range house {
		if !slices.ContainsFunc(sources(t), func(s *source) bool { return s.dir == dir }) {
			t.Errorf("the table of arrows has %s, where no Go file is: take it out", dir)
		}
	}
	got := checkLawful(map[string]room{"a": {"", "reason"}, "b": {"a", ""}},
		[]ban{{"x", "a", ""}, {"y", "a", "reason"}})
	if want := []string{"the arrows of b have no reason", "the ban of x has no reason"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestImportArrows(t *testing.T) {
	for _, s := range sources(t) {
		report(t, checkArrows(s, house))
	}
}

func TestLibrariesStayInTheirPlace(t *testing.T) {
	for _, s := range sources(t) {
		report(t, checkBans(s, bans))
	}
}

// An arrow that nobody follows any more is a way that stands open for no reason.
func TestEveryArrowIsUsed(t *testing.T) {
	report(t, checkUsed(sources(t), house))
	way := &source{dir: "a", tree: &ast.File{Imports: []*ast.ImportSpec{{Path: &ast.BasicLit{Value: `"epitome/b"`}}}}}
	got := checkUsed([]*source{way}, map[string]room{"a": {"b c", "reason"}})
	if want := []string{"a may import c, and does not: take the arrow out"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// checkUsed wants every arrow to be followed by a file of its folder.
func checkUsed(all []*source, house map[string]room) (complaints []string) {
	used := map[[2]string]bool{}
	for _, s := range all {
		for _, spec := range s.tree.Imports {
			used[[2]string{s.dir, strings.TrimPrefix(strings.Trim(spec.Path.Value, "`\""), "epitome/")}] = true
		}
	}
	for dir, place := range house {
		for to := range strings.FieldsSeq(place.imports) {
			if !used[[2]string{dir, to}] {
				complaints = append(complaints, fmt.Sprintf("%s may import %s, and does not: take the arrow out", dir, to))
			}
		}
	}
	slices.Sort(complaints)
	return complaints
}

// checkArrows holds the imports inside the project.
func checkArrows(s *source, house map[string]room) (complaints []string) {
	place, ok := house[s.dir]
	if !ok {
		return []string{fmt.Sprintf("%s: the package folder %s is not in the table: give it a place in DESIGN's house",
			s.path, s.dir)}
	}
	allowed := strings.Fields(place.imports)
	if s.test {
		allowed = append(append(allowed, strings.Fields(forTests)...), s.dir)
	}
	for _, spec := range s.tree.Imports {
		imported := strings.Trim(spec.Path.Value, "`\"")
		folder, inside := strings.CutPrefix(imported, "epitome/")
		if inside && !slices.Contains(allowed, folder) {
			complaints = append(complaints, s.complain(spec, "%s may not import %s: %s", s.dir, folder, place.why))
		}
	}
	return complaints
}

// checkBans holds the libraries in the packages they belong to.
func checkBans(s *source, bans []ban) (complaints []string) {
	for _, spec := range s.tree.Imports {
		imported := strings.Trim(spec.Path.Value, "`\"")
		for _, b := range bans {
			under := imported == b.library || strings.HasPrefix(imported, b.library+"/")
			if under && !s.test && !slices.Contains(strings.Fields(b.allowed), s.dir) {
				complaints = append(complaints, s.complain(spec, "%s may not import %s: %s", s.dir, imported, b.why))
			}
		}
	}
	return complaints
}
