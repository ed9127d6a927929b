package spoken

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
	"epitome/rewrite/sentence"
)

// Quote is what the user says in one item.
type Quote struct {
	Item int    // behind the head
	Note string // what is to be known beside
	Lead string // lines of the agent's that are answered, quoted; empty if there are none
	Text string

	next     string // what of the note says where the agent's next message stands
	spoke    int    // the item up to which the agent spoke that this may answer; -1 if there is none
	tokens   int
	media    string // pictures and the like in it, in words; empty if there are none
	isAnswer bool   // it stands in the result of a tool
	isFirst  bool   // nothing of the user's stands before it
	form     string // of a short one
	isAgain  bool   // many newer ones are of its form
	from     source
}

// cost is how many tokens it takes, about, with the line above it.
func (q *Quote) cost() int { return q.tokens + frameOfQuote }

// frameOfQuote is how many tokens the line takes, about, that says where the user said something. A message by itself
// has some of them.
const frameOfQuote = 10

// Room is what may be told of what the user said, in tokens: of all, of the newest message as long as nothing newer
// stays, and of lines of the agent's that short replies answer.
type Room struct{ All, Latest, Asked int }

// What stands beside what the user said.
const (
	noteLead    = ", in answer to the lines with >"
	noteRefused = ", said by the user, who refused the call behind >"
	noteBody    = ", put in by your client: not the user's words"
)

// Untold are the items of what the user says that is not told. Alike differ from what is told in names and numbers.
type Untold struct{ Others, Alike []int }

// Users are the user's messages and answers in the span, as many as fit, none of them cut, and the items of the others.
// The latest message comes first, if no newer one stands behind the span; then the first, where it is the task and went
// with the span; then answers and those that set rules, then the newest, then those of which many newer ones have the
// form, in a part of the room, and then what the newest command stands for.
func (s *Span) Users(room Room) (list []Quote, more Untold) {
	const shareOfAlike = 8
	all, latest := s.quotes()
	left, leftOfAlike := room.All, room.All/shareOfAlike
	take := func(q Quote) {
		left -= q.cost()
		list = append(list, q)
	}
	rest := all[:0:0]
	newest := newestOf(all)
	for k, q := range all {
		switch {
		case q.Text == "":
			more.Others = append(more.Others, q.Item)
		case k == newest && latest && q.tokens <= room.Latest:
			left += q.cost() // it has its own room
			q.next = s.followedBy(q.Item)
			q.Note += ", the newest so far" + q.next + ": go on with it unless it is done"
			take(q)
		case q.isFirst && s.From == 0 && q.cost() <= left:
			q.Note += ", the first: it is the task"
			take(q)
		default:
			rest = append(rest, q)
		}
	}
	told := map[string]bool{} // forms
	s.noteAgain(rest)
	for _, q := range byRank(rest) {
		mine := left
		if q.isAgain {
			mine = min(left, leftOfAlike)
		}
		switch {
		case q.cost() <= mine && (q.from != body || q.tokens <= room.All/2):
			take(q)
			told[q.form] = true
			if q.isAgain {
				leftOfAlike -= q.cost()
			}
		case q.isAgain && told[q.form]:
			more.Alike = append(more.Alike, q.Item)
		case q.from != body:
			more.Others = append(more.Others, q.Item)
		}
	}
	slices.SortStableFunc(list, func(a, b Quote) int { return a.Item - b.Item })
	slices.Sort(more.Others)
	slices.Sort(more.Alike)
	s.lead(list, room.Asked)
	return list, more
}

// newestOf is the place of the newest message; -1 if there is none.
func newestOf(all []Quote) int {
	for k, q := range slices.Backward(all) {
		if !q.isAnswer && q.from != body {
			return k
		}
	}
	return -1
}

// byRank orders what the user said by what goes first where there is no room for all. It turns the list around.
func byRank(rest []Quote) (ordered []Quote) {
	var others, again, last []Quote
	looked := 0
	for _, q := range slices.Backward(rest) {
		switch {
		case q.from == body:
			last = append(last, q)
		case q.isAgain:
			again = append(again, q)
		case q.isAnswer:
			ordered = append(ordered, q)
		default:
			if looked += len(q.Text); looked <= mostRuling && rules(sentence.WithoutFences(q.Text)) {
				ordered = append(ordered, q)
			} else {
				others = append(others, q)
			}
		}
	}
	return slices.Concat(ordered, others, again, last)
}

// noteAgain notes which messages differ from many newer ones only in names and numbers. Long ones are read as what they
// are, and so is what answers something, and what the agent said nothing to before the user went on.
func (s *Span) noteAgain(list []Quote) {
	const longest, most = 160, 8 // bytes, and messages of one form that are newer
	seen := map[string]int{}
	for k := range slices.Backward(list) {
		q := &list[k]
		isPlain := q.from != body && !q.isAnswer && q.media == "" && len(q.Text) <= longest
		if !isPlain || q.Item+1 == s.Plan.End || s.ItemAt(q.Item+1).Role != conversation.Assistant ||
			len(s.leadOf(q)) > 0 {
			continue
		}
		q.form = formOf(q.Text)
		q.isAgain = seen[q.form] >= most
		seen[q.form]++
	}
}

// lead puts before short replies what they answer, the newest first, in at most so many tokens.
func (s *Span) lead(list []Quote, tokens int) {
	for k := range slices.Backward(list) {
		q := &list[k]
		lead := s.leadOf(q)
		if q.isAnswer || len(lead) == 0 {
			continue
		}
		text := Quoted(lead)
		if n := s.Plan.Count(text); n <= tokens {
			q.Lead, tokens = text, tokens-n
			q.Note = noteLead + q.Note
		}
	}
}

// followedBy tells where the assistant's next message stands behind the user's one in item i, if it says something.
func (s *Span) followedBy(i int) string {
	for ; i < s.Plan.End; i++ {
		if s.ItemAt(i).Role != conversation.Assistant {
			continue
		}
		switch {
		case strings.TrimSpace(s.Plan.TextOf(i)) == "":
			return ""
		case i >= s.To:
			return "; what you said next stands behind this summary"
		}
		return fmt.Sprintf("%smessage %d", nextIs, plan.NumberOf(s.Plan, i))
	}
	return ""
}

// nextIs stands before the number of a message of the agent's.
const nextIs = "; what you said next is "

// NoteBeside is what is to be known beside the quote where these are the agent's conclusions: a message that is not
// among them is not named.
func (q *Quote) NoteBeside(conclusions string) string {
	named, isNamed := strings.CutPrefix(q.next, nextIs)
	if conclusions = "\n" + conclusions; !isNamed || strings.Contains(conclusions, "\n"+named+":\n") ||
		strings.Contains(conclusions, "\n"+named+", ") {
		return q.Note
	}
	return strings.Replace(q.Note, q.next, "", 1)
}

// mostRuling is how many bytes of the user's newest messages are searched for rules.
const mostRuling = 1 << 20

// quotes are what the user says in the span, in its order, without what the client put beside it. latest says that
// there is no newer message behind it. Of what commands stand for only the newest is among them.
func (s *Span) quotes() (all []Quote, latest bool) {
	texts, latest := s.textsOfUser(), true
	var stands *Quote // what the newest command stands for
	spoke := -1       // the assistant's newest item that says something, if the user has not answered it
	for i, k := s.From, 0; i < s.Plan.End; i++ {
		from := k
		for k < len(texts) && texts[k].item == i {
			k++
		}
		switch it := s.ItemAt(i); {
		case it.Role == conversation.Assistant:
			spoke = i
		case it.Role == conversation.User:
			q, ok := s.quoteOf(i, texts[from:k])
			if b := bodyIn(texts[from:k]); b != nil && i < s.To {
				stands = &Quote{Item: i, Note: noteBody, Text: b.words, from: body, spoke: -1}
				stands.tokens = plan.MessageTokens(s.Plan, b.words)
			}
			switch {
			case !ok:
				continue
			case i >= s.To:
				latest = false
				continue
			case spoke >= 0 && q.from == typed:
				q.spoke = spoke
			}
			q.isFirst = len(all) == 0
			all, spoke = append(all, q), -1
		case i < s.To:
			all = s.appendAnswer(all, i)
		}
	}
	all = s.saidOnce(all)
	if stands != nil {
		all = append(all, *stands)
		slices.SortStableFunc(all, func(a, b Quote) int { return a.Item - b.Item })
	}
	return all, latest
}

// lastWords is what the assistant said last up to item i, in its newest message.
func (s *Span) lastWords(i int) string {
	const most = 4 // items
	for k := i; k >= 0 && k > i-most; k-- {
		if s.ItemAt(k).Role != conversation.Assistant {
			return ""
		}
		if text := s.Plan.TextOf(k); strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// bodyIn is what a command stands for, if it is among the texts; else nil.
func bodyIn(texts []utterance) *utterance {
	for k := range texts {
		if texts[k].from == body {
			return &texts[k]
		}
	}
	return nil
}

// quoteOf is what the user says and shows in item i, which has these texts. ok is false if all of it is the client's.
func (s *Span) quoteOf(i int, texts []utterance) (q Quote, ok bool) {
	q = Quote{Item: i, media: MediaOf(s.Plan, i), spoke: -1}
	var words []string
	for _, t := range texts {
		if t.from == typed || t.from == command {
			words, q.from = append(words, t.words), t.from
		}
	}
	q.Text = strings.Join(words, "\n")
	if q.Text == "" && q.media == "" && (len(texts) > 0 || !plan.UserSpeaks(s.Plan, i)) {
		return q, false
	}
	if q.Text == s.Plan.TextOf(i) {
		q.tokens = s.Plan.Hist.Sizes[i] - s.Plan.Hist.Media[i]
	} else {
		q.tokens = plan.MessageTokens(s.Plan, q.Text)
	}
	if q.media != "" {
		q.Note = ", with " + q.media + " that only the whole text has"
	}
	return q, true
}

// appendAnswer appends what the user says in the result in item i, if it is one that holds the user's words.
func (s *Span) appendAnswer(all []Quote, i int) []Quote {
	res, ok := s.isAnswered(i)
	if !ok {
		return all
	}
	a := s.answerIn(res)
	if a.words == "" {
		return all
	}
	q := Quote{Item: i, Note: noteLead, Lead: Quoted(linesOf(a.lead)), Text: a.words, isAnswer: true, spoke: -1}
	if a.refuses {
		q.Note = noteRefused
	}
	q.tokens = plan.MessageTokens(s.Plan, q.Lead+q.Text)
	return append(all, q)
}

// linesOf are the lines of texts.
func linesOf(texts []string) (lines []string) {
	for _, t := range texts {
		lines = append(lines, strings.Split(t, "\n")...)
	}
	return lines
}

// MediaOf says in words which pictures and the like item i has; empty if it has none.
func MediaOf(p *plan.Plan, i int) string {
	return history.MediaIn(p.Req, p.Req.Items[p.Req.Head+i].Content)
}

// leadOf are the lines of the agent's that a quote answers, as far as it is short.
func (s *Span) leadOf(q *Quote) []string {
	if q.spoke < 0 {
		return nil
	}
	return leadOf(s.lastWords(q.spoke), q.Text)
}

// saidOnce leaves of equal messages that answer the same the newest, and says how often it was said. What came with a
// picture or in a result is no other message's equal. What a message answers is only looked for where its text came
// twice: there may be very many messages.
func (s *Span) saidOnce(all []Quote) (list []Quote) {
	isAlike := func(q *Quote) bool { return q.media == "" && !q.isAnswer && q.Text != "" }
	texts := map[string]int{}
	for k := range all {
		if isAlike(&all[k]) {
			texts[all[k].Text]++
		}
	}
	keys, times := make([]string, len(all)), map[string]int{}
	for k := range all {
		if q := &all[k]; isAlike(q) && texts[q.Text] > 1 {
			keys[k] = strings.Join(append([]string{q.Text}, s.leadOf(q)...), "\n")
			times[keys[k]]++
		}
	}
	left := map[string]int{}
	for k, q := range all {
		said := keys[k]
		if said == "" {
			list = append(list, q)
			continue
		}
		if left[said]++; left[said] < times[said] {
			continue
		}
		if n := times[said]; n > 1 {
			q.Note = fmt.Sprintf(", said %d times", n)
		}
		list = append(list, q)
	}
	return list
}
