package pages

import (
	"cmp"
	"fmt"
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
	"epitome/console/story"
)

// editPage is one edit: what stood there, and what was sent in its place.
type editPage struct {
	Edit    seenEdit
	Sent    []lines.Line   // what is sent in its place
	Missing string         // why what stood there cannot be read
	Changes []lines.Change // nil if so
	Kept    int            // lines that are in both
	Left    int            // lines of what stood there that are not compared: from this number on; 0: none
	Name    string         // of what stood there; empty: there is nothing to open
}

// edit makes the page of one edit.
func (p *Pages) edit(r *http.Request) (*frame.Page, error) {
	e, err := p.find(r)
	if err != nil {
		return nil, err
	}
	who, title := p.reader(r), fmt.Sprintf("An edit of exchange %d", e.Seq)
	if !who.Owner {
		return who.ForOwner(title, "What was taken out of a conversation"), nil
	}
	edits := p.edits(r, e)
	for _, edit := range edits.List {
		if strconv.Itoa(edit.Item) == r.PathValue("item") {
			made := p.editPage(seenEdit{Edit: edit, Seq: e.Seq, Watched: words.Watched(e)})
			title = fmt.Sprintf("Exchange %d, %s", e.Seq, message(edit))
			return &frame.Page{Title: title, Here: "conversations", Body: made.view()}, nil
		}
	}
	return who.Notice(http.StatusNotFound, title,
		cmp.Or(edits.Missing, "This message was sent as it came, or the request has no such message."),
		"The page of the exchange lists what was changed."), nil
}

// editPage compares what stood there with what was sent.
func (p *Pages) editPage(e seenEdit) *editPage {
	after, _, _ := lines.Read(strings.NewReader(e.Text), lines.MostCompared) // a text in memory can be read
	made := &editPage{Edit: e, Sent: after, Name: cmp.Or(e.Readable, e.Artifact, e.Thinking)}
	if made.Name == "" && e.isBehind() {
		return made
	}
	if made.Name == "" {
		made.Missing = "nothing was recorded of what stood there"
		return made
	}
	content, _, err := p.open(made.Name)
	if err != nil {
		if made.Missing = err.Error(); e.Watched {
			made.Missing, made.Name = "mode observe keeps none", ""
		}
		return made
	}
	defer func() { _ = content.Close() }()
	before, more, err := lines.Read(content, lines.MostCompared)
	if err != nil {
		made.Missing = err.Error()
		return made
	}
	changes := lines.Compare(before, after)
	if made.Changes = lines.Fold(changes); more {
		made.Left = lines.MostCompared + 1
	}
	for _, c := range changes {
		if c.Kind == "" {
			made.Kept++
		}
	}
	return made
}

// view is the page, from top to bottom.
func (d *editPage) view() g.Node {
	would := "is"
	if d.Edit.Watched {
		would = "would be"
	}
	return markup.Lines{
		h.H1(g.Text("Exchange "), markup.Count(d.Edit.Seq), g.Text(", "+message(d.Edit.Edit))),
		d.ways(),
		d.about(would),
		g.If(d.Name != "", markup.Remark(g.Text("What stood there lies under the name "), markup.Code(markup.Shown(d.Name)),
			g.Text("; "), markup.Code("epitome artifact "+markup.Shown(d.Name)), g.Text(" prints it."))),
		h.H2(g.Text("What " + would + " sent " + d.where())),
		d.replacement(),
		d.difference(),
	}
}

// where is the place of what is sent, as seen from the message.
func (d *editPage) where() string {
	if d.Edit.isBehind() {
		return "behind it"
	}
	return "in its place"
}

// ways lead to what the edit is of.
func (d *editPage) ways() g.Node {
	return h.P(markup.Link(frame.ToExchange(d.Edit.Seq), g.Text("To the exchange")), g.If(d.Name != "", g.Group{
		g.Text(" · "), markup.Link(frame.ToArtifact(d.Name, d.Edit.Seq), g.Text("what stood there, by itself")),
		g.Text(" · "), markup.Link(frame.ToContent(d.Name), g.Text("as plain text"))}))
}

// about says what was done, and why.
func (d *editPage) about(would string) g.Node {
	e := d.Edit
	decided := " It was decided before, and is repeated."
	if e.New {
		decided = " It was decided in this exchange."
	}
	return h.P(g.Text(words.Rung(e.Edit, e.Watched)+". It came with "), tokensBefore(e.Edit),
		g.Text(" tokens and "+would+" sent with "), markup.Tokens(e.After), g.Text("."), g.If(e.Reason != "", g.Group{
			g.Text(" "), h.B(g.Text("Why:")), g.Text(" "), g.El("bdi", g.Text(words.Unstopped(e.Reason))), g.Text(".")}),
		g.Text(decided))
}

func (d *editPage) replacement() g.Node {
	if len(d.Sent) == 0 {
		return markup.Nothing(g.Text("Nothing: it is left out, and the summary stands for it."))
	}
	return markup.Region(h.Aria("label", "What is sent "+d.where()),
		h.Pre(h.Class("content"), g.Map(d.Sent, func(l lines.Line) g.Node {
			return g.Group{g.Text(l.Text), rest(l), g.Text("\n")}
		})))
}

// rest says how much of a line is not shown.
func rest(l lines.Line) g.Node {
	if l.Cut == 0 {
		return nil
	}
	return g.Group{g.Text(" "), h.Small(h.Class("soft"), g.Text("… "+figure.Thousands(l.Cut)+" bytes more"))}
}

// difference shows what stood there against what is sent.
func (d *editPage) difference() g.Node {
	if d.Name == "" && d.Edit.isBehind() {
		return markup.Remark(g.Text("Nothing is missing: all of the message itself is sent, and this stands behind it."))
	}
	if d.Missing != "" {
		return markup.Note(g.Text("What stood there cannot be shown: "), markup.Foreign(d.Missing))
	}
	kept := "No line is in both."
	if d.Kept > 0 {
		kept = "Lines without a sign are in both."
	}
	return markup.Lines{
		h.H2(g.Text("What stood there (−) against what is sent (+)")),
		markup.Remark(g.Text(kept), g.If(d.Left != 0, g.Group{g.Text(" The first 2,000 lines are compared; "),
			markup.Link(d.from(d.Left), g.Text("those behind them")), g.Text(" stood there too.")})),
		markup.Region(h.Aria("label", "Difference"), h.Pre(h.Class("content diff"), g.Map(d.Changes, d.change))),
	}
}

// from is what stood there, from a line on.
func (d *editPage) from(line int) markup.Address {
	return frame.ToArtifact(d.Name, d.Edit.Seq).With("from", strconv.Itoa(line))
}

// change is a line of the difference.
func (d *editPage) change(c lines.Change) g.Node {
	signed := func(sign string) g.Node {
		return g.Group{h.Span(h.Class("sign"), g.Text(sign)), g.Text(" " + c.Text), rest(c.Line)}
	}
	line := h.Span(signed(" "))
	switch c.Kind {
	case "del":
		line = h.Del(signed("−"))
	case "ins":
		line = h.Ins(signed("+"))
	case "skip":
		line = markup.Link(d.from(c.Number), g.Text("− "+figure.Thousands(int64(c.Left))+" more lines that stood there"))
	}
	return g.Group{line, g.Text("\n")}
}

// message says which message of a request an edit is about. It counts from 0, as the texts for the model do.
func message(e story.Edit) string {
	if e.Last > e.Item {
		return fmt.Sprintf("messages %d-%d", e.Item, e.Last)
	}
	return fmt.Sprintf("message %d", e.Item)
}

// firstLine is the beginning of what stands in the place of an item.
func firstLine(s string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(s[:min(len(s), 4096)], "\n "), "\n")
	return markup.ShownWithin(first, 160)
}
