package pages

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"epitome/event"
)

// addresses are of all pages of a session.
var addresses = map[string]string{
	"overview":      "/-/",
	"conversations": "/-/conversations",
	"conversation":  "/-/conversations/c7f3a1b2c3d4e5f60718",
	"exchange":      "/-/exchanges/60",
	"edit":          "/-/exchanges/60/edits/2",
	"artifact":      "/-/artifacts/bbbb2222/view?seq=60",
	"config":        "/-/config",
	"memory":        "/-/memory",
	"troubles":      "/-/troubles",
}

// readerSees returns what a reader sees of a page, and wants each element closed in order and none that may run or lead
// elsewhere.
func readerSees(t *testing.T, page string) string {
	t.Helper()
	void := []string{"meta", "link", "input", "br"}
	known := strings.Fields("html head meta title link script body a header nav p main h1 h2 div dl dt dd table thead " +
		"tbody tr th td span b small code pre bdi data time meter ul li svg g rect line text path polyline polygon form label input button " +
		"defs circle use details summary strong mark del ins")
	var open []string
	var said strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("open are %q", open)
			}
			return regexp.MustCompile(`\s+`).ReplaceAllString(said.String(), " ")
		case html.StartTagToken:
			if !slices.Contains(known, token.Data) {
				t.Errorf("<%s> is not expected", token.Data)
			}
			checkAttributes(t, token)
			if !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> closes %q", token.Data, open)
			}
			open = open[:len(open)-1]
			if slices.Contains([]string{"td", "th", "dt", "dd"}, token.Data) {
				said.WriteString(" ")
			}
		case html.TextToken:
			said.WriteString(token.Data)
		case html.SelfClosingTagToken, html.CommentToken:
			t.Errorf("%s is not expected", token)
		}
	}
}

func checkAttributes(t *testing.T, e html.Token) {
	t.Helper()
	for _, a := range e.Attr {
		outside := slices.Contains([]string{"href", "src", "action", "formaction", "srcset", "poster", "cite"}, a.Key) &&
			!strings.HasPrefix(a.Val, "/-/") && !strings.HasPrefix(a.Val, "#")
		if strings.HasPrefix(a.Key, "on") || a.Key == "style" || outside {
			t.Errorf("<%s %s=%q>", e.Data, a.Key, a.Val)
		}
	}
	if e.Data == "script" && !slices.ContainsFunc(e.Attr, func(a html.Attribute) bool { return a.Key == "src" }) {
		t.Error("a script stands in the page")
	}
}

// says asks for a page and wants texts in what a reader sees of it; those that begin with an exclamation mark must not
// be there.
func says(t *testing.T, m *madeUp, path string, owner bool, wants ...string) {
	t.Helper()
	_, page := get(t, m, path, owner)
	seen := readerSees(t, page)
	for _, want := range wants {
		if not, absent := strings.CutPrefix(want, "!"); absent && strings.Contains(page, not) {
			t.Errorf("%s says %q", path, not)
		} else if !absent && !strings.Contains(seen, want) {
			t.Errorf("%s does not say %q in %s", path, want, seen)
		}
	}
}

// Names and contents are the owner's: nobody else is told one, on whatever page.
func TestStrangersAreToldNoNames(t *testing.T) {
	m := session()
	for _, path := range append([]string{"/-/exchanges/60/edits/70", "/-/exchanges/60/edits/2",
		"/-/artifacts/aaaa1111/view"}, slicesOf(addresses)...) {
		_, page := get(t, m, path, false)
		for _, secret := range []string{"lies in aaaa1111", "/artifacts/aaaa1111/view?seq", "TestLedger", "ledger fixed", "make test",
			"decision-60"} {
			if strings.Contains(page, secret) {
				t.Errorf("%s tells %q to a stranger", path, secret)
			}
		}
	}
	says(t, m, addresses["conversation"], false, "run epitome open", "tokens fewer", "log in")
	says(t, m, "/-/exchanges/60", false, "run epitome open")
	if status, _ := get(t, m, "/-/exchanges/60/edits/2", false); status != http.StatusForbidden {
		t.Error(status)
	}
}

func slicesOf(m map[string]string) (all []string) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// Only the owner sees what sessions have learned; a page is led to where conversations are told of it.
func TestWhatSessionsLearnedIsTheOwnersToSee(t *testing.T) {
	m := session()
	says(t, m, "/-/memory", true, "/home/me/shop", "pitfall", "The tests need Redis.", "begins with abcdefgh.", "!are off")
	says(t, m, "/-/memory", false, "to the owner of this epitome alone", "!Redis", "!8080")
	says(t, m, "/-/", true, "Memory")
	m.memories = known{Off: true}
	says(t, m, "/-/memory", true, "Memories are off", "Nothing is known of any project")
	says(t, m, "/-/", true, `!"/-/memory"`)
}

func TestEachPageSaysWhatItIsOf(t *testing.T) {
	m := session()
	for name, want := range map[string]string{"overview": "gpt-5.2", "conversations": "gpt-5.2", "conversation": "gpt-5.2",
		"exchange": "/v1/chat/completions", "edit": "bbbb2222", "artifact": "fix the ledger", "config": "rewrite.preset",
		"memory": "The port is 8080.", "troubles": "Nothing"} {
		if status, _ := get(t, m, addresses[name], true); status != http.StatusOK {
			t.Errorf("%s: %d", name, status)
		}
		says(t, m, addresses[name], true, want)
	}
	says(t, &madeUp{mode: event.ModeOn}, "/-/", true, "no request has come")
	for path, want := range map[string]int{"/-/exchanges/77777": 404, "/-/conversations/none": 404, "/-/nowhere": 404} {
		if status, _ := get(t, m, path, true); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}
