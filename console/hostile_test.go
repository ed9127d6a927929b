package console

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
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
	"html":     `</td></script><script>alert(1)</script><img src=x onerror=alert(1)>"'&`,
	"template": `{{.}}{{template "layout" .}}{{printf "%s" .Data}}`,
	"url":      `javascript:alert(1)//../../-/x?y#z`,
	"endings":  "</title></svg></pre></bdi></a><!-- --!> <![CDATA[ ]]> &lt;script&gt;",
	"controls": "\x00\x01\x1b[2J\x1b]0;title\x07\r\n\t\x7f\u0085",
	"bidi":     "\u202e\u2066\u200f\u200b\ufeffgnp.exe",
	"broken":   "\xff\xfe\xc3(\xed\xa0\x80",
	"long":     strings.Repeat("<b>m\u202e", 50),
}

// poison puts a text into every string within v, but for texts that choose what a page shows.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := v.MapIndex(key)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if field := v.Field(i); field.CanSet() && name != "Source" && name != "Mode" && name != "Kind" {
				poison(field, text)
			}
		}
	}
}

// poisoned returns a session with the text in the place of all texts, and the paths of its pages.
func poisoned(text string) (*source, []string) {
	s := session()
	for _, v := range []any{&s.exchanges, &s.settings, &s.parts} {
		poison(reflect.ValueOf(v).Elem(), text)
	}
	edits := s.edits["decision"]
	poison(reflect.ValueOf(&edits.List).Elem(), text)
	s.edits[text] = edits
	oneLine := strings.ReplaceAll(text, "\n", " ")
	s.contents[strings.TrimSuffix(text, ".txt")] = oneLine + "\n" + oneLine
	paths := []string{"/-/conversations?filter=" + url.QueryEscape(text)}
	for _, path := range all {
		paths = append(paths, strings.ReplaceAll(path, id, url.PathEscape(text)))
	}
	return s, paths
}

// Whatever texts say, a page has the same elements with the same attributes: none of them becomes a part of its code.
func TestNoTextBecomesAPartOfThePage(t *testing.T) {
	harmless, plain := poisoned("words")
	shown := harmless.serve(t)
	wanted := make(map[string]string)
	for _, path := range plain {
		for _, owner := range []bool{true, false} {
			status, page := get(shown, path, owner)
			wanted[fmt.Sprint(path, owner)] = fmt.Sprint(status, skeleton(page))
		}
	}
	for name, hostile := range hostiles {
		s, paths := poisoned(hostile)
		o := s.serve(t)
		for i, path := range paths {
			if strings.Contains(path, "//") {
				continue // the mux cleans such a path
			}
			for _, owner := range []bool{true, false} {
				status, page := get(o, path, owner)
				if status == http.StatusMovedPermanently {
					continue
				}
				if got, want := fmt.Sprint(status, skeleton(page)), wanted[fmt.Sprint(plain[i], owner)]; got != want {
					t.Errorf("%s: %.60s as the owner %v is made of\n%s\nwant\n%s", name, path, owner, got, want)
				}
				hidden := strings.IndexAny(page, "\x00\x1b\r\u202e\u2066\u200f\ufeff")
				if hidden >= 0 || !utf8.ValidString(page) || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
					t.Errorf("%s: %.60s shows hidden characters, or ends early: %.200q", name, path, page)
				}
			}
		}
	}
}

// skeleton returns the elements of a page with the names of their attributes, and the values of those that may run or
// lead elsewhere.
func skeleton(page string) string {
	var made strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		token := z.Token()
		if kind == html.ErrorToken {
			return made.String()
		}
		if kind == html.TextToken {
			continue
		}
		fmt.Fprintf(&made, "%d %s", kind, token.Data)
		for _, a := range token.Attr {
			made.WriteString(" " + a.Key)
			leads := slices.Contains([]string{"href", "src", "action", "formaction", "srcset", "poster", "cite"}, a.Key)
			isOwn := strings.HasPrefix(a.Val, "/-/") || strings.HasPrefix(a.Val, "#") || strings.HasPrefix(a.Val, "?")
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || leads && !isOwn {
				made.WriteString("=" + a.Val)
			}
		}
		made.WriteString("\n")
	}
}

// The text of a failure may name files and servers: the log has it, and no answer.
func TestFailuresAreToldInTheLogAlone(t *testing.T) {
	failure := errors.New("open /planted/path: input/output error")
	var log bytes.Buffer
	p := listening("127.0.0.1:7070")
	p.Log = slog.New(slog.NewTextHandler(&log, nil))
	p.Book = withPages(t, Config{}, p.Listen).program.Book
	p.Service = &source{failure: failure}
	o := show(Config{}, p)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":` +
		`{"word":"w","artifact":"` + secretName + `"}}}`
	for target, body := range map[string]string{
		"/-/conversations/1": "", "/-/api/conversations/1/edits": "", "/-/api/find?artifact=" + secretName: "",
		"/-/artifacts/" + secretName: "", "/-/api/handoff": "{}", "/-/mcp": call,
	} {
		log.Reset()
		w := ask(o, "GET", target, proof)
		if body != "" {
			w = send(o, target, body, proof, "Accept: application/json, text/event-stream")
		}
		isTold := strings.Contains(w.Body.String(), "planted") || !strings.Contains(w.Body.String(), "as its log says")
		if isTold || w.Code != 500 && target != "/-/mcp" || !strings.Contains(log.String(), "planted") {
			t.Errorf("%s: %d %s; the log says %s", target, w.Code, w.Body, log.String())
		}
	}
}
