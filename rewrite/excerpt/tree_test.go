package excerpt

import (
	"fmt"
	"strings"
	"testing"
)

// pageOf is a page as a tool writes it that drives a browser, line by line: what stands around its main part, much of
// that, and what stands behind it. form writes a line of a depth, a role and a name.
func pageOf(head string, form func(depth int, role, name string) string, parts ...string) string {
	var s strings.Builder
	s.WriteString(head)
	for k := range 120 {
		s.WriteString(form(2, "link", fmt.Sprintf("Department %d", k)))
	}
	s.WriteString(form(1, "main", ""))
	for k := range 200 {
		s.WriteString(form(2, "cell", fmt.Sprintf("Invoice %d of the till", k)))
		if len(parts) > 0 && k == 99 {
			s.WriteString(strings.Join(parts, ""))
		}
	}
	for k := range 90 {
		s.WriteString(form(2, "link", fmt.Sprintf("Imprint %d", k)))
	}
	return s.String()
}

// Of a page a model has to see where it stands, its main part, and what it is about to use: not what stands around each
// page.
func TestAPageIsShownByItsMainPart(t *testing.T) {
	count := func(s string) int { return (len(s) + 3) / 4 }
	f := func(name, text string, want ...string) {
		t.Helper()
		e, ok := Page(text, Budget{Tokens: 900, Count: count}, "[epitome: ")
		shown := e.Join(false)
		if !ok || count(shown) > 900 {
			t.Errorf("%s: %v, %d tokens", name, ok, count(shown))
		}
		for _, w := range want {
			if !strings.Contains(shown, w+"\n") {
				t.Errorf("%s: %q is not shown of it: %s", name, w, shown)
			}
		}
		if n := strings.Count(shown, "Department "); n > 16 {
			t.Errorf("%s: %d links that stand around", name, n)
		}
		if n := strings.Count(shown, "Invoice "); n < 40 {
			t.Errorf("%s: %d lines of the main part", name, n)
		}
	}
	gym := func(depth int, role, name string) string {
		return fmt.Sprintf("%s[%d] %s '%s'\n", strings.Repeat("\t", depth), depth*7, role, name)
	}
	const head = "url: https://till.example/invoices\nRootWebArea 'Invoices', focused\n"
	f("BrowserGym", pageOf(head, gym), "RootWebArea 'Invoices', focused", "\t\t[14] cell 'Invoice 0 of the till'")
	f("of it what has the focus", pageOf(head, gym, "\t\t[9] textbox 'Amount', focused\n", "\t\t[10] option '12,50'\n"),
		"\t\t[9] textbox 'Amount', focused", "\t\t[10] option '12,50'", "\t\t[14] cell 'Invoice 98 of the till'")
	f("of it what calls out", pageOf(head, gym, "\t\t[9] alert ''\n", "\t\t\tStaticText 'Amount is missing'\n"),
		"\t\t[9] alert ''", "\t\t\tStaticText 'Amount is missing'")
	yaml := func(depth int, role, name string) string {
		if name == "" {
			return fmt.Sprintf("%s- %s [ref=e%d]:\n", strings.Repeat("  ", depth), role, depth)
		}
		return fmt.Sprintf("%s- %s \"%s\" [ref=e%d]\n", strings.Repeat("  ", depth), role, name, depth)
	}
	f("Playwright", pageOf("### Page\n- Page URL: https://till.example/invoices\n- Page Title: Invoices\n### Snapshot\n```yaml\n"+
		"- generic [active] [ref=e1]:\n", yaml, "    - textbox \"Amount\" [active] [ref=e9]\n"),
		"- Page Title: Invoices", "    - textbox \"Amount\" [active] [ref=e9]", "    - cell \"Invoice 0 of the till\" [ref=e2]")
	chrome := func(depth int, role, name string) string {
		return fmt.Sprintf("%suid=1_%d %s \"%s\"\n", strings.Repeat("  ", depth), depth, role, name)
	}
	f("Chrome's tools", pageOf("uid=1_0 RootWebArea \"Invoices\" url=\"https://till.example\"\n", chrome),
		"    uid=1_2 cell \"Invoice 0 of the till\"")
}

func TestWhatIsNoPageIsNotShownAsOne(t *testing.T) {
	for _, text := range []string{"", strings.Repeat("ok\n", 500), "main:\n" + strings.Repeat("- main: x\n", 500),
		"The root is called RootWebArea \"Cart\" in a tree.\n" + strings.Repeat("words\n", 500),
		"url: https://till.example\nRootWebArea 'Invoices', focused\n" + strings.Repeat("\t[1] link 'x'\n", 500)} { // without a main part
		if _, ok := Page(text, Budget{Tokens: 100, Count: func(s string) int { return len(s) / 4 }}, "[epitome: "); ok {
			t.Errorf("%.60q passes for a page", text)
		}
	}
}
