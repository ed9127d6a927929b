package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
)

// quote is a user's message.
type quote struct {
	item       int // behind the head
	text, note string
	tokens     int
	media      string // pictures and the like in it, in words; empty if there are none
}

// users are the user's messages in the span, as many as fit, none of them cut, and the items of the others. The latest
// one comes first, if no newer one stands behind the span; then the first, where it is the task and went with the span;
// then those that set rules, and then the newest.
func (r *writer) users(b Budgets) (list []quote, more []int) {
	all, latest := userItems(r)
	room := b.Users
	take := func(q quote) {
		room -= q.tokens
		list = append(list, q)
	}
	rest := all[:0:0]
	for k, q := range all {
		last := k == len(all)-1
		switch {
		case q.text == "":
			more = append(more, q.item)
		case last && latest && q.tokens <= b.Latest:
			room += q.tokens // it has its own room
			q.note += ", the newest so far" + followedBy(r, q.item) + ": go on with it unless it is done"
			take(q)
		case k == 0 && r.from == 0 && q.tokens <= room:
			q.note += ", the first: it is the task"
			take(q)
		default:
			rest = append(rest, q)
		}
	}
	slices.Reverse(rest)
	others, looked := rest[:0], 0
	for _, q := range rest {
		if q.tokens > room {
			more = append(more, q.item)
			continue
		}
		if looked += len(q.text); looked <= mostRuling && ruling.MatchString(q.text) {
			take(q)
		} else {
			others = append(others, q)
		}
	}
	for _, q := range others {
		if q.tokens <= room {
			take(q)
		} else {
			more = append(more, q.item)
		}
	}
	slices.SortFunc(list, func(a, b quote) int { return a.item - b.item })
	slices.Sort(more)
	return list, more
}

// followedBy tells where the assistant's next message stands behind the user's one in item i, if it says something.
func followedBy(r *writer, i int) string {
	for ; i < r.p.End; i++ {
		if r.p.Req.Items[r.p.Req.Head+i].Role != conversation.Assistant {
			continue
		}
		switch {
		case strings.TrimSpace(r.p.TextOf(i)) == "":
			return ""
		case i >= r.to:
			return "; what you said next stands behind this summary"
		}
		return fmt.Sprintf("; what you said next is message %d", plan.NumberOf(r.p, i))
	}
	return ""
}

// mostRuling is how many bytes of the user's newest messages are searched for rules.
const mostRuling = 1 << 20

// ruling finds what is said of all the work and not of one step of it. It only decides what stays where there is no
// room for all.
var ruling = pattern.Of(`(?i)\b(never|always|must|don't|do not|dont|only|from now on|whenever|every time|rule|` +
	`prefer|remember|make sure|important|note that|nie|niemals|immer|jamais|toujours|nunca|siempre)\b|绝不|必须|总是|不要|永远`)

// userItems are the user's messages in the span, in their order, without what the client put beside them. latest says
// that there is no newer one behind it.
func userItems(r *writer) (all []quote, latest bool) {
	latest = true
	for i := r.to; i < r.p.End; i++ {
		latest = latest && !plan.UserSpeaks(r.p, i)
	}
	for i := r.from; i < r.to; i++ {
		if words := plan.OwnWords(r.p, i); plan.UserSpeaks(r.p, i) {
			q := quote{item: i, text: words, tokens: sizeOf(r.p, i, words), media: mediaOf(r.p, i)}
			if q.media != "" {
				q.note = ", with " + q.media + " that only the whole text has"
			}
			all = append(all, q)
		}
	}
	return saidOnce(all), latest
}

// mediaOf says in words which pictures and the like item i has; empty if it has none.
func mediaOf(p *plan.Plan, i int) string {
	return history.MediaIn(p.Req, p.Req.Items[p.Req.Head+i].Content)
}

// sizeOf is how many tokens the user's item i takes with these words of it alone.
func sizeOf(p *plan.Plan, i int, words string) int {
	if words == p.TextOf(i) {
		return p.Hist.Sizes[i] - p.Hist.Media[i]
	}
	return plan.MessageTokens(p, words)
}

// saidOnce leaves of equal messages the newest, and says how often it was said. What came with a picture is no other
// message's equal.
func saidOnce(all []quote) (list []quote) {
	times := map[string]int{}
	for _, q := range all {
		if q.media == "" {
			times[q.text]++
		}
	}
	left := map[string]int{}
	for _, q := range all {
		if q.text == "" || q.media != "" {
			list = append(list, q)
			continue
		}
		if left[q.text]++; left[q.text] < times[q.text] {
			continue
		}
		if n := times[q.text]; n > 1 {
			q.note = fmt.Sprintf(", said %d times", n)
		}
		list = append(list, q)
	}
	return list
}
