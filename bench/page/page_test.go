package page

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"epitome/bench/replay/figures"
	"epitome/bench/report"
)

const hostile = `</script><img src=x onerror=alert(1)>"'&{{.}}` + "\x00\x1b[2J\u202e\xff"

// fullReport returns a report with everything in it: names that would break out of a page, policies without figures, a
// conversation of one request, one far too long for its window.
func fullReport() *figures.Report {
	share := func(v float64) *float64 { return &v }
	r := &figures.Report{
		Subjects: []string{"it"}, Conversations: 3, Requests: 6, RawTokens: 100,
		Faults: []string{hostile + ": it, window 1000"}, Skipped: []string{"cannot read " + hostile + "\twith\ttabs"},
		Notes: []string{hostile},
		Courses: []figures.Course{
			{Conversation: "short.json", Requests: 1, Raw: figures.Series{Tokens: []int{12}},
				Sent: []figures.SentSeries{{Window: 1000, Policy: "it", Series: figures.Series{Tokens: []int{12}}}}},
			{Conversation: hostile, Requests: 4, Raw: figures.Series{Tokens: []int{100, 900, 9000, 12345}},
				Sent: []figures.SentSeries{
					{Window: 1000, Policy: "it", Series: figures.Series{Tokens: []int{100, 900, 400, 600}}, Decided: 1,
						Decisions: []int{3}},
					{Window: 1000, Policy: hostile, Series: figures.Series{Tokens: []int{100, 900, 1000, 1200}}},
				}},
			{Conversation: "thin.json", Requests: 9, Raw: figures.Series{At: []int{1, 5, 9}, Tokens: []int{10, 50, 90}},
				Sent: []figures.SentSeries{}},
		},
	}
	for _, window := range []int{1000, 64_000} {
		r.Rows = append(r.Rows, figures.Row{Window: window, Policy: "send everything", Cost: share(1),
			Recall: share(12)},
			figures.Row{Window: window, Policy: "it", Cost: share(0.5), Recall: share(90)},
			figures.Row{Window: window, Policy: "as good", Cost: share(0.5), Recall: share(90), Died: 1},
			figures.Row{Window: window, Policy: hostile})
	}
	r.Floors = []report.Floor{{Name: "conversations", Unit: "read", Value: 3, Limit: 1}}
	r.Goals = []report.Goal{{Name: "died, it, window 1000", Unit: "conversations", Value: share(1)}}
	return r
}

// made is how the pages of tests came to be.
var made = About{Version: "1.2.3" + hostile, Time: time.Date(2026, 11, 21, 9, 5, 0, 0, time.UTC), Command: "epitome bench " + hostile}

func pageOf(t *testing.T, r *figures.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, made); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// elements walks a page and wants each element closed, in order.
func elements(t *testing.T, page string, each func(html.Token)) (words string) {
	t.Helper()
	void := []string{"meta", "link", "br", "img", "input", "!doctype"}
	var open []string
	var said strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) || len(open) > 0 {
				t.Errorf("%v, open are %q", z.Err(), open)
			}
			return said.String()
		case html.StartTagToken:
			each(token)
			if !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> closes %q", token.Data, open)
			}
			open = open[:len(open)-1]
		case html.TextToken:
			said.WriteString(token.Data + "\n")
		case html.SelfClosingTagToken, html.CommentToken:
			t.Errorf("%s is not expected", token)
		}
	}
}

func TestPageIsSelfContainedAndEscaped(t *testing.T) {
	page := pageOf(t, fullReport())
	count := map[string]int{}
	words := elements(t, page, func(e html.Token) {
		count[e.Data]++
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Key, "on") || slices.Contains([]string{"href", "src", "action", "xlink:href"},
				a.Key) {
				t.Errorf("<%s %s=%q>", e.Data, a.Key, a.Val)
			}
		}
	})
	for name, want := range map[string]int{"html": 1, "script": 1, "style": 1, "img": 0, "link": 0, "table": 6,
		"figure": 2 + 2 + 2} {
		if count[name] != want {
			t.Errorf("%d <%s>, want %d", count[name], name, want)
		}
	}
	if regexp.MustCompile(`url\(|@import|https?://`).MatchString(page) {
		t.Error("the page refers to something outside")
	}
	shown := `</script><img src=x onerror=alert(1)>"'&{{.}}` + "\u2400\u241b[2J\uFFFD\uFFFD"
	if n := strings.Count(words, shown); n < 10 || strings.ContainsAny(page, "\x00\x1b\u202e") {
		t.Errorf("the name is shown %d times", n)
	}
	for _, want := range []string{"Window of 64000 tokens", "Bill, in M tokens", "MISSED", "FAULT ", "SKIPPED ",
		"NOTE ", "short.json (1 requests)", "as sent by the client up to 12.3k"} {
		if !strings.Contains(words, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
}

// What a report says becomes text and values of attributes: whatever it is, a page is made of these elements and
// attributes, and its code is ours to the byte.
func TestPageIsMadeOfItsOwnElements(t *testing.T) {
	const tags = " html head meta title style body h1 h2 p code ul li b bdi div figure figcaption strong svg line text rect g " +
		"circle polyline label select option table thead tbody tr th td dl dt dd script "
	const attributes = " lang charset name content http-equiv class viewbox role aria-label x y x1 x2 y1 y2 dx dy width height " +
		"rx cx cy r points id hidden value data-talk data-window scope title "
	page := pageOf(t, fullReport())
	elements(t, page, func(e html.Token) {
		if !strings.Contains(tags, " "+e.Data+" ") {
			t.Errorf("<%s> is none of the page's elements", e.Data)
		}
		for i, a := range e.Attr {
			if !strings.Contains(attributes, " "+a.Key+" ") ||
				slices.ContainsFunc(e.Attr[:i], func(b html.Attribute) bool { return b.Key == a.Key }) {
				t.Errorf("<%s %s=%q> is none of its attributes, or there twice", e.Data, a.Key, a.Val)
			}
		}
	})
	for _, code := range []string{"<style>" + styleSheet + "</style>", "<script>" + script + "</script>"} {
		if strings.Count(page, code) != 1 {
			t.Errorf("the page does not have this once: %s", code)
		}
	}
}

func TestChartsAreSoundXML(t *testing.T) {
	page := pageOf(t, fullReport())
	charts := 0
	for _, figure := range regexp.MustCompile(`(?s)<figure.*?</figure>`).FindAllString(page, -1) {
		chart := figure[strings.Index(figure, "<svg"):strings.Index(figure, "</figure>")]
		charts++
		for d := xml.NewDecoder(strings.NewReader(chart)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, chart)
			}
			e, starts := token.(xml.StartElement)
			for _, a := range e.Attr {
				if starts && (strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || a.Value == "") {
					t.Errorf("<%s %s=%q>", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
	if charts != 6 {
		t.Errorf("%d charts", charts)
	}
}

func TestChartsShowTheReportsFigures(t *testing.T) {
	page := pageOf(t, fullReport())
	for _, want := range []string{
		`<rect class="f1" x="190" y="28.0" width="79.0"`, // half of what sending everything costs
		`<circle class="f1" cx="216.0" cy="33.1" r="5"`,
		// in the middle between 0 and 1, at 90 between 10 and 100
		`<text class="on" x="224.0" y="37.1">2</text>`,                // its number
		`<text class="on" x="195.0" y="37.1">3</text>`,                // that of another one at the same place stands before it
		`without <bdi>&lt;/script&gt;`,                                // what cannot be drawn is named
		`<line class="mark s1" x1="274.0" x2="274.0" y1="162.0"`,      // the third of four requests
		`points="174.0,148.5 174.0,148.5"`,                            // one request is a dot; the scale, to 1200, is made for the window
		`figure data-talk="0" data-window="1k"><figcaption><bdi>&lt;`, // the longest comes first
		`<strong>64k</strong>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// As many policies as a replay has by default are told apart: each has a colour of its own, and a number beside its dot
// that covers none, however near to one another they are.
func TestPoliciesAreToldApart(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	r := &figures.Report{Conversations: 1}
	var policies []string
	for i := range 12 {
		policy := fmt.Sprint("policy ", i)
		policies = append(policies, policy)
		r.Rows = append(r.Rows, figures.Row{Window: 1000, Policy: policy, Cost: share(0.6 + 0.02*float64(i%4)),
			Recall: share(94 + float64(i%3))})
	}
	seen := map[int]bool{}
	dots := newScatter(r, 1000, policies).Dots
	at := func(x, y string) (s spot) {
		if _, err := fmt.Sscan(x+" "+y, &s.x, &s.y); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for i, d := range dots {
		if style := fmt.Sprintf(".f%d{fill:var(--c%d)}", d.Color, d.Color); seen[d.Color] || !strings.Contains(styleSheet, style) {
			t.Errorf("dot %d has colour %d, which another has, or the page has not", i, d.Color)
		}
		seen[d.Color] = true
		label := at(d.LabelX, d.Label)
		for k, other := range dots {
			if label.covers(at(other.X, other.Y)) || k < i && label.meets(at(other.LabelX, other.Label)) {
				t.Errorf("the number of dot %d at %v covers dot %d at %s, %s or its number", i, label, k, other.X, other.Y)
			}
		}
	}
	if len(dots) != len(policies) {
		t.Errorf("%d dots of %d policies", len(dots), len(policies))
	}
}

func TestOneReportMakesOnePage(t *testing.T) {
	first := pageOf(t, fullReport())
	text, err := json.Marshal(fullReport())
	if err != nil {
		t.Fatal(err)
	}
	if pageOf(t, fullReport()) != first {
		t.Error("the page differs from the one before")
	}
	var again figures.Report
	if err = json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if got := pageOf(t, &again); strings.Count(got, "<figure") != strings.Count(first, "<figure") ||
		strings.Count(got, "points=") != strings.Count(first, "points=") {
		t.Error("the report as JSON does not have what the charts need")
	}
	elements(t, pageOf(t, &figures.Report{}), func(html.Token) {})
}

func TestPageDrawsTheLongest(t *testing.T) {
	r := &figures.Report{}
	for i := range mostFigures + 2 {
		r.Courses = append(r.Courses, figures.Course{Conversation: fmt.Sprint("talk", i), Requests: 1,
			Raw:  figures.Series{Tokens: []int{i + 1}},
			Sent: []figures.SentSeries{{Window: 1000, Policy: "it", Series: figures.Series{Tokens: []int{1}}}}})
	}
	page := pageOf(t, r)
	if !strings.Contains(page, "The 40 longest of 42 conversations are drawn") || strings.Contains(page, "talk1 ") ||
		!strings.Contains(page, "talk2 ") {
		t.Error(page)
	}
}
