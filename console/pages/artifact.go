package pages

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"epitome/console/access"
)

// artifactPage is what was taken out, as lines.
type artifactPage struct {
	Name     string
	Raw      string // address of it as it is
	Size     int64
	Count    int // lines; with Partly, those that were read
	Partly   bool
	Find     string
	Found    int // lines that hold Find
	List     []found
	Wrap     bool
	Turn     uint64 // the exchange that one came from; 0 if that is not known
	Earlier  string
	Later    string
	WrapTo   string
	LaterOne int // number of the first line that Later shows
}

// found is a line, cut where what was searched for stands.
type found struct {
	line
	Before, Hit, After string
	To                 string // where it stands among the others
	More               string // address of the whole line; empty if it is all here
}

const (
	linesShown = 500
	bytesShown = 64 << 10 // of all lines of a page
	foundShown = 200
)

// errNoArtifact says that there is nothing to show under a name.
var errNoArtifact = errors.New("there is no such artifact, or it has expired")

// artifact makes the page of what was taken out.
func (p *Pages) artifact(r *http.Request) (*page, error) {
	if !access.Owner(r) {
		return &page{Status: http.StatusForbidden, Template: "notice", Title: "Not permitted", Body: notice{
			Text: "What was taken out of a conversation is shown to the owner of this epitome alone.",
			Cure: "To log in, run epitome open as the user who runs epitome."}}, nil
	}
	name := r.PathValue("name")
	content, size, err := p.open(name)
	if err != nil {
		return goneArtifact(err), nil
	}
	defer func() { _ = content.Close() }()
	q := r.URL.Query()
	a := &artifactPage{Name: text(name), Raw: "/-/artifacts/" + segment(name), Size: size, Find: q.Get("find"),
		Wrap: q.Get("wrap") != ""}
	a.Turn, _ = strconv.ParseUint(q.Get("seq"), 10, 64)
	from, _ := strconv.Atoi(q.Get("from"))
	if err := a.read(r.Context(), content, max(1, from)); err != nil {
		return nil, err
	}
	a.address(q, max(1, from))
	return &page{Template: "artifact", Title: "Artifact", Here: "conversations", Body: a}, nil
}

// open opens what was taken out.
func (p *Pages) open(name string) (content io.ReadCloser, size int64, err error) {
	if p.plugs.Open == nil {
		return nil, 0, errNoArtifact
	}
	return p.plugs.Open(strings.TrimSuffix(name, ".txt")) // the file is called so
}

// goneArtifact is the page for what cannot be opened.
func goneArtifact(err error) *page {
	return &page{Status: http.StatusNotFound, Template: "notice", Title: "Not found", Body: notice{
		Text: "This artifact cannot be shown: " + text(err.Error()),
		Cure: "Artifacts are kept for store.keep after their conversation was last used, within offload.quota."}}
}

// read takes up the lines to show, from one on or those with what is searched for, and counts the others.
func (a *artifactPage) read(ctx context.Context, content io.Reader, from int) error {
	held, find := 0, strings.ToLower(a.Find)
	for l := newLines(content); ; {
		next, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if a.Partly = err == nil && ctx.Err() != nil; err != nil || a.Partly {
			return err
		}
		a.Count++
		shown := found{line: next}
		if find != "" && !shown.search(find) {
			continue
		}
		a.Found++
		most := linesShown
		if find != "" {
			most = foundShown
		} else if next.Number < from {
			continue
		}
		if len(a.List) < most && held < bytesShown {
			held += len(next.Text)
			a.List = append(a.List, shown)
		}
	}
}

// search cuts a line where find, in lower case, stands first; false if it does not.
func (f *found) search(find string) bool {
	at := strings.Index(strings.ToLower(f.raw), find)
	if at < 0 || at+len(find) > len(f.raw) {
		return at >= 0
	}
	f.Before, f.Hit, f.After = visible(f.raw[:at]), visible(f.raw[at:at+len(find)]), visible(f.raw[at+len(find):])
	return true
}

// address says where the other lines are.
func (a *artifactPage) address(q url.Values, from int) {
	page := a.Raw + "/view"
	at := func(from int, wrap, find bool) string {
		v := url.Values{}
		if from > 1 {
			v.Set("from", strconv.Itoa(from))
		}
		if wrap {
			v.Set("wrap", "1")
		}
		if find && a.Find != "" {
			v.Set("find", a.Find)
		}
		if a.Turn > 0 {
			v.Set("seq", q.Get("seq"))
		}
		return page + "?" + v.Encode()
	}
	a.WrapTo = at(from, !a.Wrap, true)
	for i := range a.List {
		f := &a.List[i]
		number := strconv.Itoa(f.Number)
		if f.To = "#L" + number; a.Find != "" {
			f.To = at(max(1, f.Number-20), a.Wrap, false) + "#L" + number
		}
		if f.Cut > 0 {
			f.More = a.Raw + "?lines=" + number + "-" + number
		}
	}
	if a.Find != "" || len(a.List) == 0 {
		return
	}
	if from > 1 {
		a.Earlier = at(max(1, from-linesShown), a.Wrap, false)
	}
	if last := a.List[len(a.List)-1].Number; last < a.Count {
		a.Later, a.LaterOne = at(last+1, a.Wrap, false), last+1
	}
}
