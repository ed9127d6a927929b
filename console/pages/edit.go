package pages

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"epitome/console"
	"epitome/console/story"
	"epitome/event"
)

// textShown is how many bytes of a text a page shows.
const textShown = 256 << 10

// editPage is the data of the page of an edit: the text of its messages, and what was sent in its place.
type editPage struct {
	story.Edit
	ID       string         // of the conversation
	Exchange event.Exchange // that it was sent in
	Original string
	More     int    // bytes of it that are not shown
	Missing  string // why it cannot be shown
}

func (p *Pages) edit(r *http.Request) (any, error) {
	c, err := p.loadConversation(r)
	if err != nil {
		return nil, err
	}
	edits, err := p.Edits(c.Turn.Decision)
	if err == nil && edits.Missing != "" {
		err = errors.New(edits.Missing)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range edits.List {
		if strconv.Itoa(e.Item) == r.PathValue("item") {
			page := &editPage{Edit: e, ID: c.ID, Exchange: c.Turn.Exchange}
			page.readOriginal(p.Artifacts)
			return page, nil
		}
	}
	return nil, story.ErrUnknown
}

// readOriginal reads the beginning of the artifact that has the text of the messages.
func (p *editPage) readOriginal(get console.ReadArtifact) {
	if p.Name() == "" {
		p.Missing = "nothing was taken out here, or it was not kept"
		return
	}
	text, err := get(strings.TrimSuffix(p.Name(), ".txt")) // its file is called so
	if err != nil {
		p.Missing = err.Error()
		return
	}
	shown := text[:min(len(text), textShown)]
	p.Original, p.More = string(shown), len(text)-len(shown)
}
