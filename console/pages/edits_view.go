package pages

import (
	"cmp"
	"fmt"
	"slices"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/console/story"
)

// editsTable lists what was sent in another form than it came in.
func editsTable(all []seenEdit) g.Node {
	return markup.Lines{editsRemark(all), markup.Region(h.Aria("label", "Edits"), markup.Stacked("stack", []markup.Column{
		{Text: "message", Title: "its place in the request, counted from 0"},
		{Text: "form", Words: true},
		{Text: "came → sent", Title: "tokens as it came, and in the form in which it is sent"},
		{Text: "why", Words: true},
		{Text: "what is put there", Words: true},
		{Text: "what stood there", Words: true},
	}, markup.Each(all, seenEdit.row)))}
}

// editsRemark says why rows of a summary tell of more than their decision took out; nil where there are none.
func editsRemark(all []seenEdit) g.Node {
	if !slices.ContainsFunc(all, func(e seenEdit) bool { return e.Rung == "compact" && e.Last > e.Item }) {
		return nil
	}
	return markup.Remark(g.Text("Came counts each message as the agent sent it. Of what a summary stands for, much had been" +
		" shortened before, or stood in an earlier summary: its decision took out less."))
}

func (e seenEdit) row() g.Node {
	put := g.Text("nothing: the summary stands for it")
	if first := firstLine(e.Text); first != "" {
		put = g.El("bdi", g.Text(first))
	}
	address := frame.ToEdit(e.Seq, e.Item)
	return h.Tr(g.If(e.New, h.Class("new")),
		markup.RowHead(markup.Link(address, g.Text(message(e.Edit))),
			g.If(e.Turn != 0, g.Group{g.Text(" "), h.Small(g.Text(e.came()))})),
		markup.Wording(g.Text(words.Rung(e.Edit, e.Watched))),
		markup.Cell(tokensBefore(e.Edit), g.Text(" → "), markup.Tokens(e.After)),
		markup.Wording(markup.Foreign(e.Reason)),
		h.Td(h.Class("text quote"), put),
		markup.Wording(e.stood()))
}

// came says when a message came, or the first of several.
func (e seenEdit) came() string {
	if e.Last > e.Item {
		return fmt.Sprintf("came from turn %d on", e.Turn)
	}
	return fmt.Sprintf("came in turn %d", e.Turn)
}

// tokensBefore shows how many tokens an item had as it came.
func tokensBefore(e story.Edit) g.Node {
	if e.Before == 0 {
		return markup.Unknown("not recorded")
	}
	return markup.Tokens(e.Before)
}

// isBehind reports whether nothing was taken out: what is put there stands behind what the message says.
func (e seenEdit) isBehind() bool {
	return e.Artifact == "" && e.Readable == "" && e.Text != "" && e.Last == e.Item
}

// stood leads to what stood there.
func (e seenEdit) stood() g.Node {
	if e.Watched {
		return markup.Soft("mode observe keeps none")
	}
	thought := g.If(e.Thinking != "", g.Group{g.Text(" "),
		markup.Link(frame.ToArtifact(e.Thinking, e.Seq), g.Text("with what was thought"))})
	switch name := cmp.Or(e.Readable, e.Artifact); {
	case name != "":
		return g.Group{markup.Link(frame.ToArtifact(name, e.Seq), g.Text("read")), thought}
	case e.isBehind():
		return g.Group{markup.Soft("all of it is sent, with this behind it"), thought}
	case e.Thinking == "":
		return markup.Soft("not recorded")
	}
	return thought
}
