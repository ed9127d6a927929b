package markup

import (
	"io"
	"net/url"
	"strings"
	"testing"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"golang.org/x/net/html"
)

// hostiles are texts that would break out of an attribute or an element, or lead elsewhere.
var hostiles = []string{
	"", " ", "plain words", "javascript:alert(1)", "\tjava\nscript:alert(1)", "JAVASCRIPT&colon;alert(1)", "data:text/html,x",
	"//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example/", ".", "..", "../..", "%2e%2e/", "?x=1&y=2#z",
	`" onmouseover="alert(1)`, `' onfocus='alert(1)`, "` onload=`alert(1)", "<script>alert(1)</script>", "</a></title><b>",
	"<!-- -->", "&amp;&#34;&quot;&lt;", "a=b c=d", "\x00\x01\x7f", "\r\n\t", "\u202eexe", "\xff\xc3(", "ä…𝄞", strings.Repeat("<\"", 500),
}

func rendered(t *testing.T, n g.Node) string {
	t.Helper()
	var text strings.Builder
	if err := n.Render(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// first reads the first element of a node, and the text within.
func first(t *testing.T, n g.Node) (element html.Token, within string) {
	t.Helper()
	text := rendered(t, n)
	z := html.NewTokenizer(strings.NewReader(text))
	if z.Next() != html.StartTagToken {
		t.Fatalf("%q is no element", text)
	}
	element = z.Token()
	kind := z.Next()
	if kind == html.TextToken {
		within = z.Token().Data
		kind = z.Next()
	}
	end := z.Token()
	if kind != html.EndTagToken || end.Data != element.Data || z.Next() != html.ErrorToken || z.Err() != io.EOF {
		t.Errorf("%q is more than one element with a text", text)
	}
	return element, within
}

// read is a text as a browser reads it that was escaped: without NUL, and with one kind of line ends.
func read(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD").Replace(text)
}

func TestTextsAndValuesStayWhatTheyAre(t *testing.T) {
	for _, hostile := range hostiles {
		for _, n := range []g.Node{
			h.Span(h.Title(hostile), g.Text(hostile)),
			h.Span(g.Attr("data-x", hostile), g.Textf("%s", hostile)),
			g.El("data", h.Aria("label", hostile), g.Text(hostile)),
		} {
			element, within := first(t, n)
			if len(element.Attr) != 1 || element.Attr[0].Val != read(hostile) || within != read(hostile) {
				t.Errorf("%q is read as %q with %q", hostile, element.Attr, within)
			}
		}
	}
}

// Whatever an address is made of, it leads to epitome's own pages.
func TestLinksLeadNowhereElse(t *testing.T) {
	page, err := url.Parse("http://127.0.0.1:7070/-/conversations/x?y=z")
	if err != nil {
		t.Fatal(err)
	}
	for _, hostile := range hostiles {
		for name, to := range map[string]Address{
			"a segment": At("conversations", hostile), "alone": At(hostile), "the middle": At("exchanges", hostile, "edits"),
			"a value": At("conversations").With("match", hostile).With("sort", "saved"), "a name": At().With(hostile, "x"),
			"a place": At("exchanges", "1").To(hostile), "here": Here(hostile),
			"everywhere": At(hostile, hostile).With(hostile, hostile).With(hostile, hostile).To(hostile),
		} {
			for attribute, n := range map[string]g.Node{"href": Link(to, g.Text("x")), "src": h.Script(Src(to)),
				"action": h.Form(Action(to))} {
				element, _ := first(t, n)
				if len(element.Attr) != 1 || element.Attr[0].Key != attribute {
					t.Fatalf("%s, %q: %v", name, hostile, element)
				}
				got := element.Attr[0].Val
				led, err := page.Parse(got)
				if err != nil || led.Scheme != "http" || led.Host != page.Host || !strings.HasPrefix(led.Path, "/-/") ||
					!strings.HasPrefix(got, "/-/") && !strings.HasPrefix(got, "#") ||
					strings.ContainsAny(got, "\"'<>` \\\x00\r\n\t") {
					t.Errorf("%s, %q: %s=%q leads to %v (%v)", name, hostile, attribute, got, led, err)
				}
			}
		}
	}
}
