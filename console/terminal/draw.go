package terminal

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"epitome/console/chart"
	"epitome/console/figure"
	"epitome/console/story"
)

// Print writes the list without bounds, once.
func (t *Top) Print() string {
	lines := append([]string{t.title(), ""}, t.list().lines(0)...)
	if len(t.page.Items) == 0 {
		lines = append(lines, t.nothing())
	}
	return strings.Join(lines, "\n") + "\n"
}

// frame is the screen: at most height lines of at most width characters.
func (t *Top) frame(width, height int) []string {
	var body []string
	switch {
	case t.helping:
		body = wrapped(help(), width)
	case t.opened != nil:
		body = t.turns(width)
	default:
		body = t.rows(width, height)
	}
	body = slices.Insert(body, 0, chart.Shortened(t.title(), width))
	if most := max(height-1, 0); len(body) > most {
		body = body[:most]
	}
	return append(body, chart.Shortened(t.foot(), width))
}

func (t *Top) title() string {
	live := 0
	for _, c := range t.page.Items {
		if c.Live {
			live++
		}
	}
	title := fmt.Sprintf("epitome on %s · %s, %d live · %s", t.name, number(int64(t.page.Total), "conversation"), live,
		t.now().Format("15:04:05"))
	if t.listing.Match != "" && !t.typing {
		title += " · only those with " + plain(t.listing.Match)
	}
	return title
}

func (t *Top) foot() string {
	switch {
	case t.typing:
		return "filter by id, model or upstream: " + plain(t.listing.Match) + "_"
	case t.err != nil:
		return "not of now: " + plain(t.err.Error())
	case t.opened != nil:
		return "↑↓ move  esc back  ? help  q quit"
	}
	return "↑↓ choose  enter open  s sort  / filter  ? help  q quit"
}

func help() []string {
	return []string{
		"",
		"↑ ↓         choose a conversation, or move in the one that is open; page up and down too",
		"enter       open the one that is chosen, turn by turn",
		"esc         back to the list; there, take the filter away",
		"s           sort by the next column; r turns the order round",
		"/           show only those whose id, model or upstream has what you type",
		"q, Ctrl-C   quit",
		"",
		"NOW is the newest request in tokens as it was sent, of its model's window. CACHED is the share of all requests",
		"that the provider's cache had. SAVED is estimated, and negative where epitome cost more than it saved;",
		"what summaries cost is taken off there, and is not in BILLED.",
		"",
		"Any key goes back.",
	}
}

// helpIndent is where what keys do begins, in characters.
const helpIndent = 12

// wrapped breaks lines that are too long at their spaces. What a key does goes on where it began.
func wrapped(lines []string, width int) (all []string) {
	for _, line := range lines {
		indent := ""
		if strings.Contains(line, "  ") {
			indent = strings.Repeat(" ", helpIndent)
		}
		for utf8.RuneCountInString(line) > width && width > 2*helpIndent {
			head, rest := broken(line, width)
			all, line = append(all, head), indent+rest
		}
		all = append(all, chart.Shortened(line, width))
	}
	return all
}

// broken breaks a line at the last space that leaves at most width characters before it, or else behind these.
func broken(line string, width int) (head, rest string) {
	runes := []rune(line)
	at := width
	for at > helpIndent && runes[at] != ' ' {
		at--
	}
	if at == helpIndent {
		at = width
	}
	return strings.TrimRight(string(runes[:at]), " "), strings.TrimLeft(string(runes[at:]), " ")
}

// list is the table of conversations.
func (t *Top) list() table {
	list := table{
		sorted: 1 + slices.Index(orders(), t.listing.Sort), rising: t.listing.Rising,
		columns: []column{
			{title: "CONVERSATION", left: true, most: 16},
			{title: "USED"}, {title: "TURNS", rank: 5}, {title: "NOW"}, {title: "FULL", rank: 1},
			{title: "CACHED", rank: 3}, {title: "BILLED", rank: 4}, {title: "SAVED", rank: 2},
			{title: "WINDOW", left: true, rank: 8}, {title: "MODEL", left: true, most: 24, rank: 6},
			{title: "LAST DECISION", left: true, most: 48, rank: 7},
		},
	}
	for _, c := range t.page.Items {
		list.rows = append(list.rows, t.row(c))
	}
	return list
}

func (t *Top) row(c story.Conversation) []string {
	now, full, window := figure.Tokens(int64(c.Tokens)), unknown, ""
	if c.Window > 0 {
		now += "/" + figure.Tokens(int64(c.Window))
		full, window = share(c.Share), bar(c.Share)
	}
	return []string{
		plain(c.ID), ago(t.now().Sub(c.Last)), figure.Thousands(int64(c.Turns)), now, full, share(c.Cached),
		billed(c.Sums.Money), saved(c.Sums.Money), window, plain(c.Model), lastDecision(c.Latest),
	}
}

// besides is how many lines of a screen are no conversations.
const besides = 3

// rows are the list's lines, as many as there is room for, the chosen one among them.
func (t *Top) rows(width, height int) []string {
	list := t.list()
	lines := list.lines(width)
	if len(t.page.Items) == 0 {
		return append(lines, chart.Shortened(t.nothing(), width))
	}
	t.sights = nil
	for _, place := range list.fit(list.widths(), width) {
		if at := place - 1; at >= 0 && at < len(orders()) { // the first column is the id
			t.sights = append(t.sights, orders()[at])
		}
	}
	at, room := max(t.place(), 0), max(height-besides, 1)
	lines[at+1] = reversed(lines[at+1])
	from := max(at-room+1, 0)
	return append(lines[:1:1], lines[1+from:]...)
}

// nothing says why the list is empty.
func (t *Top) nothing() string {
	if t.listing.Match != "" {
		return "no conversation has " + plain(t.listing.Match) + " in its id, model or upstream: esc takes the filter away"
	}
	return "no conversation yet: requests through epitome make one"
}

// turns are the lines of the conversation that is opened, the newest turn first.
func (t *Top) turns(width int) []string {
	s := t.opened
	lines := []string{"", chart.Shortened(fmt.Sprintf("conversation %s · %s at %s · %s", plain(s.ID), plain(s.Model),
		plain(s.Upstream), number(int64(s.Turns), "turn")), width)}
	lines = append(lines, chart.Shortened(fmt.Sprintf("billed %s%s · saved %s · cached %s · taken out %s tokens",
		billed(s.Sums.Money), besideBilled(s.Sums.Money), saved(s.Sums.Money), share(s.Cached),
		figure.Tokens(s.Sums.TakenOut)), width), "")
	turns := table{sorted: -1, columns: []column{
		{title: "TURN"}, {title: "AGO"}, {title: "STATUS", rank: 3}, {title: "CAME"}, {title: "SENT"},
		{title: "CACHED", rank: 2}, {title: "BILLED", rank: 4}, {title: "DONE", left: true, most: 32, rank: 1},
		{title: "WHY", left: true, most: 100, rank: 5},
	}}
	for _, e := range s.Exchanges[min(t.first, len(s.Exchanges)):] {
		turns.rows = append(turns.rows, []string{
			fmt.Sprint(e.Turn), ago(t.now().Sub(e.Start.Add(e.Duration))), fmt.Sprint(e.Status),
			figure.Tokens(int64(e.TokensBefore.Total())), figure.Tokens(int64(e.TokensAfter.Total())),
			cached(e.Usage), cost(e.Bill), changes(e), whyOf(e),
		})
	}
	return append(lines, turns.lines(width)...)
}
