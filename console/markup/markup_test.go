package markup

import (
	"io"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

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

func TestTextsFromOutsideAreBoundedAndSeen(t *testing.T) {
	for _, hostile := range append(hostiles, strings.Repeat("x", 3*mostText)) {
		for _, n := range []g.Node{h.B(Text(hostile)), Foreign(hostile), Code(Shown(hostile)), Unknown(Shown(hostile)),
			ShortID(hostile), Datum("1", Shown(hostile), Shown(hostile)), Derived("1", Shown(hostile), Shown(hostile))} {
			element, within := first(t, n)
			all := within
			for _, a := range element.Attr {
				all += a.Val
			}
			if len([]rune(within)) > mostText || !utf8.ValidString(all) ||
				strings.ContainsAny(all, "\x00\x01\x7f\r\n\t\u202e") {
				t.Errorf("%.40q is shown as %.40q with %.80q", hostile, within, element.Attr)
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

func TestAddressesSayWhatTheyAreMadeOf(t *testing.T) {
	f := func(to Address, want string) {
		t.Helper()
		if to.String() != want || to.Leads() != (want != "") {
			t.Errorf("%q, want %q", to, want)
		}
	}
	f(Address{}, "")
	f(At(), "/-/")
	f(At("conversations"), "/-/conversations")
	f(At("exchanges", "60", "edits", "2"), "/-/exchanges/60/edits/2")
	f(At("artifacts", "a/b c").With("find", "a&b=c d").With("from", "7").To("L7"), "/-/artifacts/a%2Fb%20c?find=a%26b%3Dc+d&from=7#L7")
	f(Here("main"), "#main")
	f(At("x").To("turns"), "/-/x#turns")
	f(At(strings.Repeat("x", 500)), "/-/"+strings.Repeat("x", mostSegment-1)+"%E2%80%A6")
	for _, hostile := range hostiles {
		led, err := url.Parse(At("x").With("match", hostile).String())
		if err != nil || led.Query().Get("match") != hostile {
			t.Errorf("%q arrives as %q (%v)", hostile, led.Query().Get("match"), err)
		}
	}
}

func TestLinesStandBelowOneAnother(t *testing.T) {
	f := func(n g.Node, want string) {
		t.Helper()
		if got := rendered(t, n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	a, b := g.Text("a"), h.B(g.Text("b"))
	f(Lines{}, "\n")
	f(Lines{nil, a, g.If(false, b), b}, "\na\n<b>b</b>\n")
	f(Lines{a, Lines{}, Lines{b, Lines{a}, nil}, a}, "\na\n<b>b</b>\na\na\n")
	f(h.P(h.Class("x"), Lines{a}), "<p class=\"x\">\na\n</p>")
	f(h.Ul(Each([]int{1, 2}, func(n int) g.Node { return h.Li(Count(n)) })),
		"<ul>\n<li><data value=\"1\">1</data></li>\n<li><data value=\"2\">2</data></li>\n</ul>")
}

func TestNumbersAreShownWithWhatTheyAre(t *testing.T) {
	f := func(n g.Node, want string) {
		t.Helper()
		if got := rendered(t, n); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	f(Tokens(uint16(41_234)), `<data value="41234" title="41,234 tokens">41k</data>`)
	f(Made(int32(-1_500), "a-b"), `<data value="-1500" data-made="a-b">-1.5k</data>`)
	f(Saving(-4_200_000), `<span class="bad">extra cost <data value="-4200000">$0.0042</data></span>`)
	f(MadeSaving(-4_200_000, "a-b"),
		`<span class="bad">extra cost <data value="-4200000" data-made="a-b">$0.0042</data></span>`)
	f(MadeSaving(0, "a-b"), `<data value="0" data-made="a-b">$0.00</data>`)
	f(Percent(1, 0, "a/b"), `<span class="soft">unknown</span>`)
	f(Share(-1), `<span class="soft">unknown</span>`)
	f(Signed(24_000), `<data value="24000">+2.4 %</data>`)
	f(Unknown("why"), `<span class="soft" title="why">unknown</span>`)
}

// A name of which nothing can be seen would leave a row without a head.
func TestWhatHasNoNameThatCanBeSeenIsNamed(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got := rendered(t, Named(name, "no model")); got != "<bdi>"+want+"</bdi>" {
			t.Errorf("%q is shown as %s, want %s", name, got, want)
		}
	}
	f("gpt-5.2", "gpt-5.2")
	f("", "no model")
	f(" \u00a0\u2003", "no model")
}
