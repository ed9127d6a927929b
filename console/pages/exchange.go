package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"epitome/console/access"
	"epitome/console/markup"
	"epitome/console/pages/drawing"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
	"epitome/console/story"
	"epitome/event"
)

// exchangePage is the page of one exchange.
type exchangePage struct {
	Exchange       event.Exchange
	What, Why      string
	Parts          []drawing.Part
	Edits          []seenEdit
	All            int // edits, of which Edits are some
	Messages       int // that all of them are about
	New            int // of these, those of which it was decided here
	Missing        string
	Pages          []markup.Choice
	Earlier, Later uint64 // numbers of the exchanges beside it in its conversation; 0: none is kept
	frame.Reader
}

// editsPage is how many edits stand on the page of an exchange.
const editsPage = 100

// exchange makes the page of one exchange.
func (p *Pages) exchange(r *http.Request) (*frame.Page, error) {
	e, err := p.find(r)
	if err != nil {
		return nil, err
	}
	x := exchangePage{Exchange: e, Parts: drawing.PartsOf(e.TokensBefore, e.TokensAfter),
		Reader: p.reader(r)}
	var told story.Story
	if e.Conversation != "" {
		told, _ = p.plugs.Source.Conversation(e.Conversation) // an exchange may be kept longer than its conversation
	}
	x.beside(told.Exchanges)
	d := newDeed(e, told)
	x.What, x.Why = d.What, d.Why
	edits := p.edits(r, e)
	x.Missing, x.All = edits.Missing, len(edits.List)
	x.Messages = countMessages(edits.List)
	x.New = countMessages(slices.DeleteFunc(slices.Clone(edits.List), func(e story.Edit) bool { return !e.New }))
	from, _ := strconv.Atoi(r.URL.Query().Get("edits"))
	from = max(0, min(from, len(edits.List)-1))
	for _, edit := range newFirst(edits.List)[from:min(len(edits.List), from+editsPage)] {
		x.Edits = append(x.Edits, seenEdit{Edit: edit, Seq: e.Seq, Watched: words.Watched(e)})
	}
	for at := 0; at < len(edits.List) && len(edits.List) > editsPage; at += editsPage {
		last := min(at+editsPage, len(edits.List))
		to := frame.ToExchange(e.Seq).With("edits", strconv.Itoa(at)).To("edits")
		x.Pages = append(x.Pages, markup.Choice{Text: fmt.Sprintf("%d to %d", at+1, last), To: to, Here: from == at})
	}
	return &frame.Page{Title: fmt.Sprintf("Exchange %d", e.Seq), Here: "conversations", Body: x.view()}, nil
}

// find returns the exchange that a path names.
func (p *Pages) find(r *http.Request) (event.Exchange, error) {
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil {
		return event.Exchange{}, story.ErrUnknown
	}
	return p.plugs.Source.Exchange(seq)
}

// beside finds the exchanges beside x.
func (x *exchangePage) beside(turns []event.Exchange) {
	for i := range turns {
		if turns[i].Seq != x.Exchange.Seq {
			continue
		}
		if i > 0 {
			x.Earlier = turns[i-1].Seq
		}
		if i+1 < len(turns) {
			x.Later = turns[i+1].Seq
		}
	}
}

// countMessages is how many messages some edits are about. One may be about several, and a message may have several.
func countMessages(edits []story.Edit) (count int) {
	sorted := slices.SortedFunc(slices.Values(edits), func(a, b story.Edit) int { return cmp.Compare(a.Item, b.Item) })
	behind := 0 // the last one that was counted
	for _, e := range sorted {
		if from := max(e.Item, behind); e.Last >= from {
			count += e.Last - from + 1
			behind = e.Last + 1
		}
	}
	return count
}

// newFirst puts what was decided here before the rest.
func newFirst(all []story.Edit) (sorted []story.Edit) {
	for _, fresh := range [...]bool{true, false} {
		for _, e := range all {
			if e.New == fresh {
				sorted = append(sorted, e)
			}
		}
	}
	return sorted
}

// edits returns in what forms the items of an exchange were sent, for its owner; for others, and where there is nothing
// to read, none.
func (p *Pages) edits(r *http.Request, e event.Exchange) story.Edits {
	if e.Decision == "" || !access.Owner(r) || p.plugs.Edits == nil {
		return story.Edits{}
	}
	edits, err := p.plugs.Edits(e.Decision)
	if err != nil {
		return story.Edits{Missing: err.Error()}
	}
	if edits.Missing != "" && words.Watched(e) {
		edits.Missing = "mode observe keeps no decisions for longer than epitome runs"
	}
	return edits
}
