package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// hostiles are texts that would break out of a page, or break it.
var hostiles = map[string]string{
	"html":      `</td></script><script>alert(1)</script><img src=x onerror=alert(1)>"'&`,
	"template":  `{{.}}{{template "top" .}}{{printf "%s" .Body}}`,
	"attribute": `" onmouseover="alert(1)" style="x`,
	"url":       `javascript:alert(1)//../../-/x?y#z`,
	"quotes":    "'`\"=/>\x00\r\n<b>&amp;&#34;&quot; onfocus=alert(1) autofocus ",
	"endings":   "</title></svg></pre></bdi></a><!-- --!> <![CDATA[ ]]> &lt;script&gt;",
	"scheme":    "\tJAVASCRIPT&colon;alert(1)//",
	"host":      `//evil.example/\\evil.example`,
	"controls":  "\x00\x01\x1b[2J\x1b]0;title\x07\r\n\t\x7f\u0085",
	"bidi":      "\u202e\u2066\u200f\u200b\ufeffgnp.exe",
	"broken":    "\xff\xfe\xc3(\xed\xa0\x80",
	"long":      strings.Repeat("<b>m\u202e", 200_000),
	"empty":     "",
}

// poison puts a text into every string within v.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Elem().CanSet() {
			poison(v.Elem(), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Map:
		poisonMap(v, text)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				poison(field, text)
			}
		}
	}
}

func poisonMap(v reflect.Value, text string) {
	if v.Type().Key().Kind() != reflect.String || v.Len() == 0 {
		return
	}
	value := v.MapIndex(v.MapKeys()[0])
	v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), value)
}

func TestHostileTextsAreShownAndNothingElse(t *testing.T) {
	for name, hostile := range hostiles {
		m := session()
		poisonSession(m, hostile)
		id := url.PathEscape(hostile)
		for _, path := range []string{"/-/", "/-/?span=" + url.QueryEscape(hostile) + "&by=" + url.QueryEscape(hostile),
			"/-/conversations", "/-/conversations?match=" + url.QueryEscape(hostile[:min(len(hostile), 9_000)]) + "&sort=" +
				url.QueryEscape(hostile), "/-/conversations/" + id, "/-/exchanges/60", "/-/exchanges/66",
			"/-/exchanges/60/edits/70", "/-/artifacts/" + id + "/view", "/-/artifacts/" + id + "/view?find=" +
				url.QueryEscape(hostile), "/-/config", "/-/troubles", "/-/memory"} {
			if strings.Contains(path+"/", "//") || len(path) > 1<<20 {
				continue // no request comes so far
			}
			status, page := get(t, m, path, true)
			if status >= http.StatusInternalServerError {
				t.Errorf("%s: %.60s: %d %.300s", name, path, status, page)
			}
			if status == http.StatusMovedPermanently {
				continue
			}
			readerSees(t, page)
			if !utf8.ValidString(page) {
				t.Errorf("%s: %.60s is no sound UTF-8", name, path)
			}
			if strings.ContainsAny(page, "\x00\x1b\u202e\u2066\u200f\ufeff") || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
				at := strings.IndexAny(page, "\x00\x1b\u202e\u2066\u200f\ufeff")
				t.Errorf("%s: %.60s shows what cannot be seen, or ends early: %.200q", name, path, page[max(0, at-100):])
			}
			if len(page) > 1<<20 {
				t.Errorf("%s: %.60s has %d bytes", name, path, len(page))
			}
		}
	}
}

// Whatever texts say, a page has the same elements with the same attributes: none of them becomes a part of its code.
func TestNoTextBecomesAPartOfThePage(t *testing.T) {
	code := func(text, path string, owner bool) string {
		m := session()
		poisonSession(m, text)
		for by := range m.summary.Total.Codes { // a map has no first key to poison
			if string(by) != text {
				delete(m.summary.Total.Codes, by)
			}
		}
		oneLine := strings.ReplaceAll(text, "\n", " ")
		m.contents[strings.TrimSuffix(text, ".txt")] = oneLine + "\n" + oneLine
		_, page := get(t, m, strings.ReplaceAll(path, "ID", url.PathEscape(text)), owner)
		return skeleton(page)
	}
	for name, hostile := range hostiles {
		if hostile == "" || strings.Contains(url.PathEscape(hostile)+"/", "//") || len(hostile) > 1<<16 {
			continue
		}
		for _, path := range []string{"/-/", "/-/conversations", "/-/conversations/ID", "/-/exchanges/60", "/-/exchanges/66",
			"/-/exchanges/95", "/-/config", "/-/troubles", "/-/memory", "/-/artifacts/ID/view?seq=60"} {
			for _, owner := range []bool{true, false} {
				harmless := "words"
				if strings.Contains(hostile, ".") { // a key of the configuration with dots stands in a table
					harmless = "more.words"
				}
				want := code(harmless, path, owner)
				if got := code(hostile, path, owner); got != want {
					t.Errorf("%s: %s as the owner %v is made of\n%s\nwant\n%s", name, path, owner, got, want)
				}
			}
		}
	}
}

// skeleton is what a page is made of, without its texts and the values of its attributes.
func skeleton(page string) string {
	var made strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return made.String()
		case html.TextToken:
		default:
			token := z.Token()
			fmt.Fprintf(&made, "%d %s", kind, token.Data)
			for _, a := range token.Attr {
				made.WriteString(" " + a.Key)
			}
			made.WriteString("\n")
		}
	}
}

// poisonSession puts the text into all that a source says.
func poisonSession(m *madeUp, text string) {
	decision := m.stories[0].Exchanges[59].Decision
	edits := m.edits[decision]
	edits.List = slices.Clone(edits.List)
	poison(reflect.ValueOf(&m.stories).Elem(), text)
	poison(reflect.ValueOf(&m.summary).Elem(), text)
	poison(reflect.ValueOf(&m.settings).Elem(), text)
	poison(reflect.ValueOf(&m.memories).Elem(), text)
	poison(reflect.ValueOf(&edits.List).Elem(), text)
	for i := range m.stories[0].Exchanges {
		m.stories[0].Exchanges[i].Decision = decision
	}
	m.edits[decision] = edits
	m.contents[strings.TrimSuffix(text, ".txt")] = text + "\n" + text
	m.mode = text
}
