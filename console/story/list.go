package story

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// errSort says what conversations may be sorted by.
var errSort = errors.New("cannot sort so: sort is one of last, turns, tokens, share, cached, billed and saved")

// pageSize is how many conversations a page has unless a Listing says otherwise, and at most.
const pageSize = 100

// ranked is a conversation with what it is sorted by.
type ranked struct {
	rank int64
	Conversation
}

// compare puts the greater rank first, and among equals the lesser id.
func (r ranked) compare(s ranked) int {
	return cmp.Or(cmp.Compare(s.rank, r.rank), cmp.Compare(r.ID, s.ID))
}

// Conversations returns the next page of those that fit. An error says what to ask for; of a cursor that cannot be read
// it is ErrUnknown.
func (b *Book) Conversations(l Listing) (Page[Conversation], error) {
	rank, err := rankOf(l.Sort)
	if err != nil {
		return Page[Conversation]{}, err
	}
	if up := rank; l.Rising {
		rank = func(c *Conversation) int64 { return -up(c) }
	}
	behind, err := parseCursor(l.Cursor)
	if err != nil {
		return Page[Conversation]{}, err
	}
	limit := pageSize
	if l.Limit > 0 {
		limit = min(l.Limit, pageSize)
	}
	b.Settle()
	all := b.matching(l, rank)
	page := Page[Conversation]{Items: []Conversation{}, Total: len(all)}
	slices.SortFunc(all, ranked.compare)
	for _, r := range all {
		switch {
		case behind != nil && r.compare(*behind) <= 0:
		case len(page.Items) == limit:
			page.Next = cursorOf(page.Items[limit-1], rank)
			return page, nil
		default:
			page.Items = append(page.Items, r.Conversation)
		}
	}
	return page, nil
}

func (b *Book) matching(l Listing, rank func(*Conversation) int64) (all []ranked) {
	match := strings.ToLower(l.Match)
	b.past.RLock()
	defer b.past.RUnlock()
	now := b.plugs.Now()
	for _, t := range b.past.talks {
		text := strings.ToLower(t.line.ID + "\n" + t.line.Model + "\n" + t.line.Upstream)
		if t.line.Turns > 0 && strings.Contains(text, match) && (!l.Live || isLive(t, now)) {
			c := t.view(now)
			all = append(all, ranked{rank(&c), c})
		}
	}
	return all
}

// rankOf is what conversations are sorted by.
func rankOf(order string) (func(*Conversation) int64, error) {
	switch order {
	case "", SortLast:
		return func(c *Conversation) int64 { return c.Last.UnixNano() }, nil
	case SortTurns:
		return func(c *Conversation) int64 { return int64(c.Turns) }, nil
	case SortTokens:
		return func(c *Conversation) int64 { return int64(c.Tokens) }, nil
	case SortShare:
		return func(c *Conversation) int64 { return int64(c.Share * million) }, nil
	case SortBilled:
		return func(c *Conversation) int64 { return c.Sums.Money.Billed }, nil
	case SortSaved:
		return func(c *Conversation) int64 { return c.Sums.Money.Saved }, nil
	case SortCached:
		return func(c *Conversation) int64 { return int64(c.Cached * million) }, nil
	}
	return nil, errSort
}

// cursorOf names the place behind a conversation.
func cursorOf(c Conversation, rank func(*Conversation) int64) string {
	return strconv.FormatInt(rank(&c), 10) + "." + c.ID
}

// parseCursor reads a cursor; an empty one is nil.
func parseCursor(cursor string) (*ranked, error) {
	if cursor == "" {
		return nil, nil //nolint:nilnil // there is none, which is no error
	}
	number, id, found := strings.Cut(cursor, ".")
	rank, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil {
		return nil, ErrUnknown
	}
	return &ranked{rank, Conversation{ID: id}}, nil
}
