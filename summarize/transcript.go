package summarize

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/offload/excerpt"
)

// Transcript returns items [first, end) as lines to search and read: each item below a heading with the number and role
// of its message, or for a result with its call. It is the same for the same items, whatever follows them in the request.
// source names the artifact that has the same items as JSON.
func Transcript(r *conversation.Request, calls []activity.Call, first, end int, source string) (text []byte) {
	id := idBefore(r, end)
	calls = activity.Before(end, calls)
	text = make([]byte, 0, r.Items[end-1].Span.End-r.Items[first].Span.Start) // mostly enough
	text = fmt.Appendf(text,
		"[%s: messages %d-%d of a conversation as text; the JSON is in %s.txt in the same folder]\n\n",
		id, r.Items[first].Number, r.Items[end-1].Number, source)
	for i := first; i < end; i++ {
		for _, e := range spoken(r, calls, i) {
			if e.Text != "" && !strings.HasSuffix(e.Text, "\n") {
				e.Text += "\n"
			}
			text = fmt.Appendf(text, "[%s: %s]\n%s\n", id, e.Speaker, searchable(e.Text))
		}
	}
	return text
}

// searchable returns a text with signs in the place of bytes for which grep takes a file for a binary one: it would show
// no line of it.
func searchable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "␀"), "\ufffd")
}

// spoken returns what was said in item i: a thought, a message or result, and calls with the results that no item has.
func spoken(r *conversation.Request, calls []activity.Call, i int) (list []Entry) {
	it := &r.Items[i]
	said := Entry{Speaker: it.Role.String(), IsTool: it.Role == conversation.Tool, Text: r.LinesOf(it)}
	if c := callOf(r, calls, i); c != nil {
		said.Speaker = "result of " + excerpt.OneLine(c.String(), 1_000) + ", " + c.State()
	}
	said.Speaker = fmt.Sprintf("message %d: %s", it.Number, said.Speaker)
	if media := r.Media(it); media != "" {
		said.Text += "\n(with " + media + ")"
	}
	if thought := r.Thought(it); thought != "" {
		list = append(list, Entry{said.Speaker + ", thinking", true, thought})
	}
	list = append(list, said)
	made := callsOf(calls, i)
	for k, call := range slices.Concat(it.Calls, it.Hosted) {
		e := Entry{"call of " + excerpt.OneLine(call.Name, 80), true, activity.Texts(r.Body, &call)}
		if made[k].Result <= i { // no item below says how it ended
			e.Speaker += ", " + made[k].State()
			e.Text = strings.TrimSuffix(e.Text, "\n") + "\n" + made[k].ResultText(r)
		}
		list = append(list, e)
	}
	return list
}

// callOf returns the call whose result is an item; nil if there is none.
func callOf(r *conversation.Request, calls []activity.Call, item int) *activity.Call {
	if r.Callers()[item] < 0 {
		return nil
	}
	return &calls[r.Answered[item]]
}

// callsOf returns the calls of an item, in the order of its Calls and Hosted.
func callsOf(calls []activity.Call, item int) []activity.Call {
	before := func(item int) int {
		return sort.Search(len(calls), func(k int) bool { return calls[k].Item >= item })
	}
	return calls[before(item):before(item+1)]
}

// Entries returns items [first, end) for a model that is asked about them, below the user's messages in the head. Notes
// of clients are left out.
func Entries(r *conversation.Request, calls []activity.Call, first, end int) (list []Entry) {
	for i := range r.Items[:end] {
		it := &r.Items[i]
		isUsers := it.Role == conversation.User
		if i < first && !(isUsers && i < r.Head) {
			continue
		}
		for _, e := range spoken(r, calls, i) {
			if isUsers {
				typed, others := r.Said(i)
				e.Text = strings.Join(typed, "\n")
				if len(others) > 0 {
					e := Entry{e.Speaker + "'s role, but not the user", true, strings.Join(others, "\n")}
					list = append(list, e)
				}
			}
			if e.Text != "" || e.IsTool { // an empty result says that the call ended, and how
				list = append(list, e)
			}
		}
	}
	return list
}

// Handoff returns a conversation as it is sent, as text for another agent that is to go on with it.
func Handoff(r *conversation.Request, calls []activity.Call) string {
	tag, end := idBefore(r, len(r.Items)), len(r.Items)
	return prompt{Tag: tag, Record: turnsOf(Entries(r, calls, r.Head, end), tag, uncut)}.render("handoff")
}

// Carried is a conversation of which its client drops all, or all but the user's messages, for a text in its place.
// Tokens are those of the vocabulary.
type Carried struct {
	Client  *conversation.Request // as the client sent it
	Request *conversation.Request // as it would be sent: with the same items before First
	Calls   []activity.Call       // of Request
	First   int                   // the items from here on are in the text, and what the user says before
	Summary string                // is sent for older ones; empty if there is none
	Earlier string                // the text of the compaction before, which the client drops, too; or empty
	Where   string                // says where to read the transcript of the items (no full stop)
	Room    int                   // tokens that the text is to take; the summary is whole even if it has more
	Count   func(text string) int // counts tokens
}

var carriedIntro = prompt{}.render("carried intro")

// Text returns the text: the earlier one, the user's words, the summary, and the items as quotes. All but the summary
// become excerpts where the room is too small.
func (c *Carried) Text() string {
	end := len(c.Request.Items)
	id := idBefore(c.Request, end)
	var newest strings.Builder
	for i := c.First; i < end; i++ {
		for _, e := range spoken(c.Request, c.Calls, i) {
			if strings.TrimSpace(e.Text) != strings.TrimSpace(c.Summary) { // it may be one of the items
				fmt.Fprintf(&newest, "[%s: %s]\n%s", id, e.Speaker, quote(e.Text))
			}
		}
	}
	said := c.fit(c.usersWords(), c.Room/4)
	older := strings.Replace(c.Summary, intro, "", 1)
	free := c.Room - c.Count(older) - c.Count(said)
	last := c.fit(newest.String(), max(free, c.Room/3))
	earlier := c.fit(strings.ReplaceAll(c.Earlier, carriedIntro, ""), max(free-c.Count(last), c.Room/3))

	b := &summary{id: id}
	fmt.Fprintf(&b.text, "%s the client compacted the conversation; text %s stands for what was left out]\n%s",
		excerpt.Mark, id, carriedIntro)
	b.section("from before the last compaction", earlier)
	b.section("the user's messages before the first answer", said)
	b.section("summary", older)
	b.section("the newest messages, behind all others", last)
	fmt.Fprintf(&b.text, "[end of text %s. %s]", id, c.Where)
	return strings.ToValidUTF8(b.text.String(), "\ufffd")
}

// usersWords returns the messages of the user before First, as quotes; those that Earlier has are left out.
func (c *Carried) usersWords() string {
	var words strings.Builder
	for i := range c.Client.Items[:c.First] {
		it := &c.Client.Items[i]
		said := quote(c.Client.OwnWords(i))
		earlier := "\n" + c.Earlier + "\n"
		isKnown := strings.Contains(earlier, "\n"+said) || strings.Contains(earlier, "\n"+c.Client.TextOf(it)+"\n")
		if it.Role == conversation.User && !isKnown {
			words.WriteString(said)
		}
	}
	return words.String()
}

// fit returns a text, or an excerpt of it if it has more than room tokens.
func (c *Carried) fit(text string, room int) string {
	if c.Count(text) <= room {
		return text
	}
	short, _ := excerpt.Lines(text, false, room, c.Count)
	return short
}
