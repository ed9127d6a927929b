package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"epitome/console/access"
	"epitome/console/story"
)

// editPage is one edit: what stood there, and what was sent in its place.
type editPage struct {
	Edit    seenEdit
	Sent    []line   // what is sent in its place
	Missing string   // why what stood there cannot be read
	Changes []change // nil if so
	Kept    int      // lines that are in both
	Left    int      // lines of what stood there that are not compared: from this number on; 0: none
	Name    string   // of what stood there
	View    string   // address of the page that shows it
	Raw     string
}

// edit makes the page of one edit.
func (p *Pages) edit(r *http.Request) (*page, error) {
	e, err := p.find(r)
	if err != nil {
		return nil, err
	}
	title := fmt.Sprintf("An edit of exchange %d", e.Seq)
	if !access.Owner(r) {
		return &page{Status: http.StatusForbidden, Template: "notice", Title: title, Body: notice{
			Text: "What was taken out of a conversation is shown to the owner of this epitome alone.",
			Cure: "To log in, run epitome open as the user who runs epitome."}}, nil
	}
	edits := p.edits(r, e)
	for _, edit := range edits.List {
		if strconv.Itoa(edit.Item) == r.PathValue("item") {
			made := p.editPage(seenEdit{Edit: edit, Seq: e.Seq, Watched: isWatched(e)})
			title = fmt.Sprintf("Exchange %d, %s", e.Seq, message(edit))
			return &page{Template: "edit", Title: title, Here: "conversations", Body: made}, nil
		}
	}
	return &page{Status: http.StatusNotFound, Template: "notice", Title: title, Body: notice{
		Text: cmp.Or(edits.Missing, "This message was sent as it came, or the request has no such message."),
		Cure: "The page of the exchange lists what was changed."}}, nil
}

// editPage compares what stood there with what was sent.
func (p *Pages) editPage(e seenEdit) *editPage {
	after, _, _ := readLines(strings.NewReader(e.Text), mostDiffed) // a text in memory can be read
	made := &editPage{Edit: e, Sent: after, Name: cmp.Or(e.Readable, e.Artifact, e.Thinking)}
	if made.Name == "" {
		made.Missing = "nothing was recorded of what stood there"
		return made
	}
	made.Raw = "/-/artifacts/" + segment(made.Name)
	made.View = made.Raw + "/view?seq=" + strconv.FormatUint(e.Seq, 10)
	content, _, err := p.open(made.Name)
	if err != nil {
		if made.Missing = text(err.Error()); e.Watched {
			made.Missing, made.Name, made.View, made.Raw = "mode observe keeps none", "", "", ""
		}
		return made
	}
	defer func() { _ = content.Close() }()
	before, more, err := readLines(content, mostDiffed)
	if err != nil {
		made.Missing = text(err.Error())
		return made
	}
	changes := compare(before, after)
	if made.Changes = fold(changes); more {
		made.Left = mostDiffed + 1
	}
	for _, c := range changes {
		if c.Kind == "" {
			made.Kept++
		}
	}
	return made
}

// message says which message of a request an edit is about. It counts from 0, as the texts for the model do.
func message(e story.Edit) string {
	if e.Last > e.Item {
		return fmt.Sprintf("messages %d-%d", e.Item, e.Last)
	}
	return fmt.Sprintf("message %d", e.Item)
}

// lookAt is where an artifact is shown.
func lookAt(name string, seq uint64) string {
	return "/-/artifacts/" + segment(name) + "/view?seq=" + strconv.FormatUint(seq, 10)
}

// firstLine is the beginning of what stands in the place of an item.
func firstLine(s string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(s[:min(len(s), 4096)], "\n "), "\n")
	return textWithin(first, 160)
}
