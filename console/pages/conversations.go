package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"epitome/console/story"
)

// conversationsList is the page with all conversations.
type conversationsList struct {
	story.Page[story.Conversation]
	Match   string
	Columns []heading
	NextTo  string // where the next page is; empty at the end
	FirstTo string // where the first page is; empty on it
}

// heading is a column that can be sorted by.
type heading struct {
	Text, Title string // Title says what it is
	To          string // the list sorted by it; empty: it cannot be
	Sort        string // aria-sort, if it is
	Number      bool
}

// conversations makes the page with all conversations, a hundred at a time.
func (p *Pages) conversations(r *http.Request) (*page, error) {
	q := r.URL.Query()
	asked := story.Listing{Cursor: q.Get("cursor"), Match: q.Get("match"), Rising: q.Get("rising") != "",
		Sort: cmp.Or(q.Get("sort"), story.SortLast)}
	columns := headings(asked)
	if !slices.ContainsFunc(columns, func(h heading) bool { return h.Sort != "" }) { // there is no such column
		asked.Sort = story.SortLast
		columns = headings(asked)
	}
	found, err := p.plugs.Source.Conversations(asked)
	if err != nil {
		return nil, err
	}
	list := conversationsList{Page: found, Match: asked.Match, Columns: columns}
	at := func(cursor string) string {
		next := asked
		next.Cursor = cursor
		return listAddress(next)
	}
	if found.Next != "" {
		list.NextTo = at(found.Next)
	}
	if asked.Cursor != "" {
		list.FirstTo = at("")
	}
	return &page{Template: "conversations", Title: "Conversations", Here: "conversations", Body: list}, nil
}

// listAddress is where a list is.
func listAddress(l story.Listing) string {
	q := url.Values{}
	for name, value := range map[string]string{"cursor": l.Cursor, "match": l.Match, "sort": l.Sort} {
		if value != "" && (name != "sort" || value != story.SortLast) {
			q.Set(name, value)
		}
	}
	if l.Rising {
		q.Set("rising", "1")
	}
	if len(q) == 0 {
		return "/-/conversations"
	}
	return "/-/conversations?" + q.Encode()
}

func headings(asked story.Listing) (all []heading) {
	for _, h := range []struct {
		sort string
		heading
	}{
		{story.SortLast, heading{Text: "last used", Title: "when its last exchange was"}},
		{"", heading{Text: "conversation", Title: "its id, as in the header x-epitome-conversation"}},
		{"", heading{Text: "model", Title: "that the newest request names"}},
		{story.SortTurns, heading{Text: "turns", Title: "exchanges", Number: true}},
		{story.SortTokens, heading{Text: "now", Title: "tokens of the newest request, as it was sent", Number: true}},
		{story.SortShare, heading{Text: "of window", Title: "share of what the model can hold", Number: true}},
		{story.SortCached, heading{Text: "cached", Title: "share of the input that the provider's cache had", Number: true}},
		{story.SortBilled, heading{Text: "billed", Title: "price of what the provider counted", Number: true}},
		{story.SortSaved, heading{Text: "saved",
			Title: "estimated cost as it came, less estimated cost as it was sent, less summaries", Number: true}},
		{"", heading{Text: "last decision", Title: "what was newly taken out, and when"}},
	} {
		if h.sort != "" {
			turned := h.sort == asked.Sort && !asked.Rising
			h.To = listAddress(story.Listing{Match: asked.Match, Sort: h.sort, Rising: turned})
		}
		switch {
		case h.sort != asked.Sort:
		case asked.Rising:
			h.Sort = "ascending"
		default:
			h.Sort = "descending"
		}
		all = append(all, h.heading)
	}
	return all
}
