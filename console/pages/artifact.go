package pages

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/figure"
	"epitome/console/markup"
	"epitome/console/pages/frame"
	"epitome/console/pages/lines"
	"epitome/console/pages/words"
)

// artifactPage is what was taken out, as lines.
type artifactPage struct {
	Name   string
	Size   int64
	Count  int // lines; with Partly, those that were read
	Partly bool
	From   int // number of the first line to show
	Find   string
	Found  int // lines that hold Find
	List   []found
	Wrap   bool
	Turn   uint64 // the exchange that one came from; 0 if that is not known
}

// found is a line, cut where what was searched for stands.
type found struct {
	lines.Line
	Before, Hit, After string
}

const (
	linesShown = 500
	bytesShown = 64 << 10 // of all lines of a page
	foundShown = 200
)

// errNoArtifact says that there is nothing to show under a name.
var errNoArtifact = errors.New("there is no such artifact, or it has expired")

// artifact makes the page of what was taken out.
func (p *Pages) artifact(r *http.Request) (*frame.Page, error) {
	who := p.reader(r)
	if !who.Owner {
		return who.ForOwner("Not permitted", "What was taken out of a conversation"), nil
	}
	name := r.PathValue("name")
	content, size, err := p.open(name)
	if err != nil {
		return goneArtifact(who, err), nil
	}
	defer func() { _ = content.Close() }()
	q := r.URL.Query()
	a := &artifactPage{Name: name, Size: size, Find: q.Get("find"), Wrap: q.Get("wrap") != ""}
	a.Turn, _ = strconv.ParseUint(q.Get("seq"), 10, 64)
	from, _ := strconv.Atoi(q.Get("from"))
	a.From = max(1, from)
	if err := a.read(r.Context(), content); err != nil {
		return nil, err
	}
	return &frame.Page{Title: "Artifact", Here: "conversations", Body: a.view()}, nil
}

// open opens what was taken out.
func (p *Pages) open(name string) (content io.ReadCloser, size int64, err error) {
	if p.plugs.Open == nil {
		return nil, 0, errNoArtifact
	}
	return p.plugs.Open(strings.TrimSuffix(name, ".txt")) // the file is called so
}

// goneArtifact is the page for what cannot be opened.
func goneArtifact(r frame.Reader, err error) *frame.Page {
	return r.Notice(http.StatusNotFound, "Not found", "This artifact cannot be shown: "+err.Error(),
		"Artifacts are kept for store.keep after their conversation was last used, within offload.quota.")
}

// read takes up the lines to show, those from one on or those with what is searched for, and counts the others.
func (a *artifactPage) read(ctx context.Context, content io.Reader) error {
	held, find := 0, strings.ToLower(a.Find)
	for l := lines.NewReader(content); ; {
		next, err := l.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if a.Partly = err == nil && ctx.Err() != nil; err != nil || a.Partly {
			return err
		}
		a.Count++
		shown := found{Line: next}
		if find != "" && !shown.search(find) {
			continue
		}
		a.Found++
		most := linesShown
		if find != "" {
			most = foundShown
		} else if next.Number < a.From {
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
	raw := f.Raw
	at := strings.Index(strings.ToLower(raw), find)
	if at < 0 || at+len(find) > len(raw) {
		return at >= 0
	}
	end := at + len(find)
	f.Before, f.Hit, f.After = lines.Visible(raw[:at]), lines.Visible(raw[at:end]), lines.Visible(raw[end:])
	return true
}

// at is the page from a line on, with lines wrapped or not.
func (a *artifactPage) at(from int, find string, wrap bool) markup.Address {
	at := frame.ToArtifact(a.Name, a.Turn)
	if find != "" {
		at = at.With("find", find)
	}
	if from > 1 {
		at = at.With("from", strconv.Itoa(from))
	}
	if wrap {
		at = at.With("wrap", "1")
	}
	return at
}

// view is the page, from top to bottom.
func (a *artifactPage) view() g.Node {
	return markup.Lines{
		h.H1(g.Text("Artifact "), markup.Foreign(a.Name)),
		a.about(),
		a.search(),
		a.outcome(),
		a.earlierLines(),
		a.list(),
		a.laterLines(),
	}
}

func (a *artifactPage) about() g.Node {
	wrap := "Wrap lines"
	if a.Wrap {
		wrap = "Do not wrap lines"
	}
	return h.P(g.Text("What epitome took out of a conversation: "), markup.Count(a.Count), g.Text(" line"+words.Plural(a.Count)),
		g.If(a.Partly, g.Text(" were read, and there are more")), g.Text(", "), markup.Size(a.Size), g.Text(". "),
		markup.Link(frame.ToContent(a.Name), g.Text("As plain text")), g.Text(" · "),
		markup.Link(a.at(a.From, a.Find, !a.Wrap), g.Attr("data-wrap"), g.Text(wrap)),
		g.If(a.Turn != 0, g.Group{g.Text(" · "), markup.Link(frame.ToExchange(a.Turn), g.Text("To the exchange"))}))
}

func (a *artifactPage) search() g.Node {
	return h.Form(h.Role("search"), markup.Action(frame.ToArtifact(a.Name, 0)),
		h.Label(h.For("find"), g.Text("Find in lines")), g.Text(" "),
		h.Input(h.ID("find"), h.Name("find"), h.Type("search"), h.Value(markup.Shown(a.Find))),
		g.If(a.Wrap, h.Input(h.Type("hidden"), h.Name("wrap"), h.Value("1"))),
		g.If(a.Turn != 0, h.Input(h.Type("hidden"), h.Name("seq"), h.Value(strconv.FormatUint(a.Turn, 10)))), g.Text(" "),
		h.Button(g.Text("Find")))
}

// outcome says what was found.
func (a *artifactPage) outcome() g.Node {
	all := markup.Link(frame.ToArtifact(a.Name, 0), g.Text("Show all lines"))
	hold := "s hold"
	if a.Found == 1 {
		hold = " holds"
	}
	switch {
	case a.Find == "" && a.Count == 0:
		return markup.Nothing(g.Text("It is empty."))
	case a.Find == "":
		return nil
	case a.Found == 0:
		return h.P(h.Role("status"), g.Text("No line holds it. "), all)
	}
	return h.P(h.Role("status"), markup.Count(a.Found), g.Text(" line"+hold+" it"),
		g.If(a.Found > len(a.List), g.Group{g.Text("; the first "), markup.Count(len(a.List)), g.Text(" are shown")}),
		g.Text(". A number leads to its place. "), all)
}

func (a *artifactPage) list() g.Node {
	if len(a.List) == 0 {
		return nil
	}
	class := "lines"
	if a.Wrap {
		class += " wrap"
	}
	return markup.Region(h.Aria("label", "Lines"),
		h.Table(h.Class(class), h.TBody(markup.Each(a.List, a.line))))
}

// line is a line with its number, which leads to its place among the others.
func (a *artifactPage) line(f found) g.Node {
	number := strconv.Itoa(f.Number)
	id := "L" + number
	to := markup.Here(id)
	if a.Find != "" {
		const above = 20 // lines, so that it stands among others
		to = a.at(max(1, f.Number-above), "", a.Wrap).To(id)
	}
	text := g.Group{g.Text(f.Text)}
	if f.Hit != "" {
		text = g.Group{g.Text(f.Before), h.Mark(g.Text(f.Hit)), g.Text(f.After)}
	}
	if f.Cut > 0 {
		whole := frame.ToContent(a.Name).With("lines", number+"-"+number)
		text = append(text, g.Text(" "), markup.Link(whole, g.Text("… "+figure.Thousands(f.Cut)+" bytes more")))
	}
	return h.Tr(h.ID(id), markup.RowHead(markup.Link(to, g.Text(number))), markup.Cell(text))
}

func (a *artifactPage) earlierLines() g.Node {
	if a.Find != "" || len(a.List) == 0 || a.From == 1 {
		return nil
	}
	to := a.at(max(1, a.From-linesShown), "", a.Wrap)
	return h.P(h.A(h.Rel("prev"), markup.Href(to), g.Text("Earlier lines")))
}

func (a *artifactPage) laterLines() g.Node {
	if a.Find != "" || len(a.List) == 0 || a.List[len(a.List)-1].Number >= a.Count {
		return nil
	}
	next := a.List[len(a.List)-1].Number + 1
	return h.P(h.A(h.Rel("next"), markup.Href(a.at(next, "", a.Wrap)), g.Textf("Later lines, from %d on", next)))
}
