package terminal

import (
	"errors"
	"slices"
	"time"

	"epitome/console/story"
)

// Source answers what a Top shows.
type Source interface {
	Conversations(asked story.Listing) (story.Page[story.Conversation], error)
	Conversation(id string) (story.Story, error)
}

// Top is the conversations of an epitome as a screen: a list, and one of them turn by turn. Make one with NewTop.
type Top struct {
	name    string // of the epitome
	source  Source
	now     func() time.Time
	listing story.Listing
	page    story.Page[story.Conversation]
	chosen  string // id of the conversation that keys act on
	opened  *story.Story
	first   int // turn that stands first, of the one that is opened; the newest is 0
	typing  bool
	helping bool
	sights  []string // what the list may be sorted by: the columns that are in sight
	err     error    // why what is shown is not of now
}

// orders are what a list may be sorted by, in the order in which a key goes through them.
func orders() []string {
	return []string{
		story.SortLast, story.SortTurns, story.SortTokens, story.SortShare, story.SortCached, story.SortBilled,
		story.SortSaved,
	}
}

// NewTop makes one of the epitome of that name, the conversation used last first.
func NewTop(name string, source Source, now func() time.Time) *Top {
	return &Top{name: plain(name), source: source, now: now, listing: story.Listing{Sort: story.SortLast}}
}

// Refresh asks for what is true now. An error leaves what was true before.
func (t *Top) Refresh() error {
	page, err := t.source.Conversations(t.listing)
	if err == nil {
		t.page = page
		if t.place() < 0 {
			t.chosen = ""
		}
		if t.chosen == "" && len(page.Items) > 0 {
			t.chosen = page.Items[0].ID
		}
	}
	if err == nil && t.opened != nil {
		err = t.open(t.opened.ID)
	}
	t.err = err
	return err
}

// place is where the chosen conversation stands in the list; -1 if it does not.
func (t *Top) place() int {
	return slices.IndexFunc(t.page.Items, func(c story.Conversation) bool { return c.ID == t.chosen })
}

// open shows a conversation turn by turn. One that is not kept any more is closed.
func (t *Top) open(id string) error {
	s, err := t.source.Conversation(id)
	if errors.Is(err, story.ErrUnknown) {
		t.opened = nil
		return nil
	}
	if err == nil {
		slices.Reverse(s.Exchanges)
		t.opened = &s
	}
	return err
}

// press does what a key asks for. quits says that it asks for the end, and asks that what is shown is not of now.
func (t *Top) press(k key) (quits, asks bool) {
	switch {
	case k == keyQuit:
		return true, false
	case t.typing:
		return false, t.filter(k)
	case t.helping:
		t.helping = false
		return false, false
	}
	switch k {
	case 'q':
		return true, false
	case '?':
		t.helping = true
	case keyEscape:
		return false, t.back()
	case keyUp, 'k':
		t.move(-1)
	case keyDown, 'j':
		t.move(1)
	case keyPageUp:
		t.move(-pageRows)
	case keyPageDown:
		t.move(pageRows)
	default:
		return false, t.ask(k)
	}
	return false, false
}

// pageRows is how far the keys for a page go.
const pageRows = 10

// ask changes what is asked for, if the key means that.
func (t *Top) ask(k key) (asks bool) {
	switch {
	case k == keyEnter && t.opened == nil && t.chosen != "":
		t.first = 0
		t.err = t.open(t.chosen)
		return false
	case t.opened != nil:
		return false
	case k == 's':
		t.listing.Sort = t.nextOrder()
	case k == 'r':
		t.listing.Rising = !t.listing.Rising
	case k == '/':
		t.typing = true
		return false
	default:
		return false
	}
	return true
}

// nextOrder is what the list may be sorted by behind what it is sorted by, of what can be seen.
func (t *Top) nextOrder() string {
	all := orders()
	at := slices.Index(all, t.listing.Sort)
	for _, order := range slices.Concat(all[at+1:], all[:at]) {
		if len(t.sights) == 0 || slices.Contains(t.sights, order) {
			return order
		}
	}
	return t.listing.Sort
}

// mostFilter bounds, in characters, what is typed.
const mostFilter = 60

// filter takes a key of the text by which the list is filtered.
func (t *Top) filter(k key) (asks bool) {
	typed := []rune(t.listing.Match)
	switch {
	case k == keyEnter:
		t.typing = false
		return false
	case k == keyEscape:
		t.typing, typed = false, nil
	case k == keyBack:
		typed = typed[:max(len(typed)-1, 0)]
	case k >= ' ' && k < keyUp && len(typed) < mostFilter:
		typed = append(typed, rune(k))
	}
	t.listing.Match = string(typed)
	return true
}

// back leaves the conversation that is opened, or else the filter.
func (t *Top) back() (asks bool) {
	if t.opened != nil {
		t.opened = nil
		return false
	}
	asks = t.listing.Match != ""
	t.listing.Match = ""
	return asks
}

// move goes down by some rows, or up.
func (t *Top) move(by int) {
	if t.opened != nil {
		t.first = min(max(t.first+by, 0), max(len(t.opened.Exchanges)-1, 0))
		return
	}
	if n := len(t.page.Items); n > 0 {
		t.chosen = t.page.Items[min(max(t.place()+by, 0), n-1)].ID
	}
}
