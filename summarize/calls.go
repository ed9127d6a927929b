package summarize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
	"epitome/offload/excerpt"
)

// inSpan reports whether a call is in the span, and its result, too, if it has one.
func (s *Span) inSpan(c *activity.Call) bool {
	return c.Item >= s.From && c.Item < s.To && c.Result < s.To
}

// listedCall is a call in the list, or some with the same tool and argument.
type listedCall struct {
	call   *activity.Call // the newest
	tool   string         // the heading above the calls of one tool
	text   string         // the call's files or main argument
	quoted string         // lines of its result
	times  int
}

func (l *listedCall) String() string {
	text := l.text + "\n"
	times := ""
	if l.times > 1 && !l.call.Kind.Looks() {
		times = fmt.Sprintf(", %d times", l.times)
	}
	state := l.call.State()
	if state != "ok" || times != "" {
		text += "(" + state + times + ")\n"
	}
	return text + l.quoted
}

// callList is the list of calls in the making, newest first.
type callList struct {
	calls   []*listedCall
	byKey   map[string]*listedCall // by what is equal in calls that are counted as one
	omitted int                    // how many calls do not fit
	room    int                    // bytes that are left
}

// calls lists the calls of the span in budget tokens, oldest first, but for those that set tasks or ask the user, which
// have sections of their own: below the tool's name the main argument of each call, how it ended unless its state is ok,
// and quoted lines of its result. A count stands for older calls that do not fit. files are those of the listed calls
// that ended well.
func (s *summary) calls(budget int) (text string, files []string) {
	if s.Budgets.Work == 0 {
		return "", nil
	}
	list := &callList{byKey: map[string]*listedCall{}, room: bytesFor(budget)}
	s.collectNames()
	for k := range slices.Backward(s.Calls) {
		c := &s.Calls[k]
		isElsewhere := c.Kind == activity.Todo || c.Kind == activity.Ask
		// It only looked or wrote and did not fail, or a newer call is of the same command.
		isPast := c.Kind != activity.Run && !c.Failed() || list.byKey[c.Tool+c.About] != nil
		if s.inSpan(c) && !isElsewhere && !(s.Budgets.State && isPast) {
			s.list(c, list)
		}
	}
	s.addResults(list.calls, list.room)
	var b strings.Builder
	if list.omitted > 0 {
		fmt.Fprintf(&b, "(%d older calls are not listed)\n", list.omitted)
	}
	tool := ""
	for _, l := range slices.Backward(list.calls) {
		if l.tool != tool {
			tool = l.tool
			b.WriteString(tool + ":\n")
		}
		b.WriteString(l.String())
		if l.call.State() == "ok" {
			files = append(files, l.call.Files...)
		}
	}
	return b.String(), files
}

// list adds a call to a list of newer ones: once one does not fit, older ones are only counted. A call that reads like a
// newer one is counted with it, unless it did not fail and has other lines to quote.
func (s *summary) list(c *activity.Call, list *callList) {
	l := &listedCall{call: c, tool: excerpt.OneLine(c.Tool, 80), text: s.argumentOf(c), times: 1}
	key := l.tool + l.text
	if c.Failed() {
		key += c.State()
	}
	same := list.byKey[key]
	isSame := same != nil && c.Failed()
	isFull := list.omitted > 0
	if !isSame && !isFull {
		l.quoted = quote(s.linesToQuote(c))
		isSame = same != nil && l.quoted == ""
	}
	size := len(l.String())
	if n := len(list.calls); n == 0 || list.calls[n-1].tool != l.tool {
		size += len(l.tool + ":\n")
	}
	switch {
	case isSame:
		same.times++
	case isFull || size > list.room:
		list.omitted++
	default:
		list.room -= size
		list.calls = append(list.calls, l)
		list.byKey[key] = l
		s.seen.add(l.String()) // results of older calls, which come next, need not repeat its names
	}
}

// addResults quotes the lines of short results that say something new and fit in room bytes, those of the newest calls
// first: an answer to a question is often a single value, such as a hash, which has more tokens than its bytes say.
func (s *summary) addResults(list []*listedCall, room int) {
	const longest = 240   // bytes
	room = room * 10 / 36 // tokens, as bytesFor has them
	for _, l := range list {
		text := l.call.ResultText(s.Request)
		if l.quoted != "" || len(text) > longest {
			continue
		}
		for line := range strings.Lines(text) {
			if s.seen.newWords(line) < newsOfLine {
				continue
			}
			quoted := quote(line)
			tokens := s.Count(quoted)
			if tokens <= room {
				room -= tokens
				l.quoted += quoted
				s.seen.add(line)
			}
		}
	}
}

// argumentOf returns the files of a call, its main argument or all of its arguments. Of several files that it failed to
// change, it names the first: the next try names them all.
func (s *summary) argumentOf(c *activity.Call) string {
	const maxFiles, maxArguments = 8, 100 // characters
	if c.Failed() && len(c.Files) > 1 {
		return fmt.Sprintf("%s (the first of %d files)", c.Files[0], len(c.Files))
	}
	about := cmp.Or(strings.Join(c.Files[:min(len(c.Files), maxFiles)], "\n"), c.About)
	arguments := jsonspan.TextOf(c.Arguments.Of(s.Request.Body))
	return cmp.Or(about, excerpt.OneLine(string(arguments), maxArguments))
}

// linesToQuote returns the failure that a result reports, if its call failed or is a command without exit code. Of
// other results it returns the first lines that have names which the agent has used in later calls and sees nowhere else.
func (s *summary) linesToQuote(c *activity.Call) string {
	const maxLines, longest = 4, 160 // lines with such names, bytes of each
	text, _ := excerpt.Screen(c.ResultText(s.Request))
	failure := c.Failure(text)
	if c.Failed() || failure != "" {
		return failure
	}
	var list []string
	isNew := func(name string) bool { return s.usedNames[name] > c.Result && s.seen.newWords(name) > 0 }
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) <= longest && len(list) < maxLines && slices.ContainsFunc(wordsIn(line), isNew) {
			list = append(list, strings.TrimRight(line, " \t\r"))
			s.seen.add(line) // no second line is quoted for the same names
		}
	}
	return strings.Join(list, "\n")
}

// Span is the part of a conversation that a summary replaces.
type Span struct {
	Request  *conversation.Request
	Calls    []activity.Call       // of the whole request
	From, To int                   // the span is items [From, To)
	End      int                   // from here on the next request may differ: task lists and messages do not count
	Left     int                   // messages that the summary stands for: some of the span may stay beside it
	Sent     []string              // texts that are sent whole anyway: names in them need no repetition
	Count    func(text string) int // counts tokens of the vocabulary
	Found    map[int][]string      // standing orders that were found before, by item
	Budgets  Budgets
}

// Says is a text by a model about the span's items before item Until. Text is empty if there is none.
type Says struct {
	Text  string
	Until int
}

var intro = prompt{}.render("intro")

// summary is a summary that is being written.
type summary struct {
	Span
	text      strings.Builder
	id        string         // in each heading, as no text in the span can have it: see idBefore
	seen      seen           // what is sent, and the summary so far
	usedNames map[string]int // index of the last item with a call that has the name in its arguments
	typed     map[int]string // what the user typed in an item: see typedIn
	doubted   map[int]int    // the message below which a failed call is told, by where its arguments begin
}

func newSummary(span Span) *summary {
	return &summary{
		Span: span, id: idBefore(span.Request, span.To), seen: seen{}, usedNames: map[string]int{}, typed: map[int]string{},
		doubted: map[int]int{},
	}
}

// section adds a text below a heading; nothing if the text is empty.
func (s *summary) section(heading, text string) {
	text = strings.TrimRight(text, "\n")
	if text != "" {
		fmt.Fprintf(&s.text, "== %s: %s ==\n%s\n", s.id, heading, text)
	}
}

// Text returns the summary. where says where to read the transcript (no full stop). leftOut reports whether something
// new that the user said is left out for lack of room: with room in Budgets.Spare, the summary has more of it.
func Text(span Span, says Says, where string) (text string, leftOut bool) {
	s := newSummary(span)
	fmt.Fprintf(&s.text, "%s %d earlier messages are left out here; summary %s stands for them]\n%s", excerpt.Mark, s.Left,
		s.id, intro)
	shown := append(s.linesToKeep(), s.standing()...)
	s.modelsText(says)
	for _, text := range append(s.Sent, s.text.String()) {
		s.seen.add(text)
	}
	said, others, leftOut := s.users(shown)
	work := s.work(says)
	room := bytesFor(s.Budgets.Work) - work
	if says.Text != "" {
		room = min(room, bytesFor(s.Budgets.Work/4)) // reasoning gets a quarter of it
	}
	thoughts := s.newest(reasoning, room/4, 24, longestThought, s.Request.Thought)
	if says.Text == "" {
		for _, m := range thoughts {
			room -= len(m.text)
		}
		said = append(s.newest(byAgent, room, 16, longestSaid, s.Request.TextOf), said...)
	}
	said = append(thoughts, said...)
	s.messages(said, others)
	fmt.Fprintf(&s.text, "[end of summary %s. %s]", s.id, where)
	return strings.ToValidUTF8(s.text.String(), "\ufffd"), leftOut
}

// linesToKeep writes the section of the lines that the user wants kept, and returns them.
func (s *summary) linesToKeep() (kept []string) {
	kept, omitted := s.Kept()
	text := strings.Join(kept, "\n")
	if omitted > 0 {
		text = fmt.Sprintf("(%d others are not shown: all are over %d tokens)\n%s", omitted, s.Budgets.Keep, text)
	}
	s.section("lines that the user wants kept, word for word, oldest first", text)
	return kept
}

// modelsText writes the section of a model's text, if there is one.
func (s *summary) modelsText(says Says) {
	if says.Text == "" {
		return
	}
	heading := "summary by a model; if files or tool results disagree, trust those"
	if says.Until < s.To {
		heading += fmt.Sprintf("; it has not seen messages from %d on", s.Request.Items[says.Until].Number)
	}
	text := strings.TrimRight(says.Text, "\n")
	_, unknown := s.unknownNames(says.Text)
	if len(unknown) > 0 {
		text += "\n(nothing in the conversation has: " + strings.Join(unknown, ", ") + ")"
	}
	s.section(heading, text)
}

// work writes the sections of tasks, files and calls, and returns how many bytes they have. A part of the budget is
// for tasks, one for files and 13 for calls, all of 18; the last words get what these leave, or more. A model's text
// takes the place of the last words and of half of the calls, as Size assumes; of a quarter if there is room.
func (s *summary) work(says Says) (bytes int) {
	part := s.Budgets.Work / 18 // tokens
	calls := 13 * part
	if says.Text != "" {
		calls = calls/2 + min(calls/4, s.Budgets.Spare)
		if s.Budgets.Alone && says.Until >= s.To {
			s.Budgets.Work, part, calls = 0, 0, 0
		}
	}
	tasks, asOf := s.tasks(part)
	s.seen.add(tasks)
	done, listed := s.calls(calls)
	written := s.Files(activity.Write, part, listed)
	read := s.Files(activity.Read, part/2, listed)
	s.section(fmt.Sprintf("your task list, as of message %d", asOf), tasks)
	s.section("files written by calls that are not listed, oldest first", written)
	s.section("files read by calls that are not listed, oldest first", read)
	s.section("calls that were made, oldest first; where no end is told, the result shows no failure; do not repeat one "+
		"without a reason; quoted under a call: its failure, its result, or up to four lines of it that later calls used", done)
	return len(tasks) + len(written) + len(read) + len(done)
}

// idBefore returns the text that marks each heading in a summary or transcript of the items before end: 8 digits of a
// hash of all these items. Whoever wrote one of them could not know the hash, so no item can forge a heading.
func idBefore(r *conversation.Request, end int) string { return fmt.Sprintf("%x", r.Chain()[end][:4]) }

// Budgets are the tokens of the vocabulary that the parts of a summary may take.
type Budgets struct {
	Keep   int  // the user's lines that begin with "keep:"
	Orders int  // the user's standing orders
	Users  int  // the user's other messages in the span
	Latest int  // the user's newest message before Span.End, if it is in the span
	Prose  int  // the model's text
	Work   int  // the agent's tasks, files, calls and last words
	Alone  bool // a model's text that has seen the whole span stands without the work
	State  bool // of the calls, only commands as they ended last, and failures that nothing has mended
	Spare  int  // for what the user said and is left out otherwise, then for calls beside a model's text
}

// BudgetsFor returns the budgets for a mode. window is in tokens of the vocabulary, of which each is ratio tokens of
// the model. Each budget is a number of the model's tokens, or a share of the window if that is less.
func BudgetsFor(mode Mode, detail Detail, window int, ratio float64) Budgets {
	most := func(tokens, share float64) int { return int(min(tokens/ratio, share*float64(window))) }
	share, prose := detail.share()
	b := Budgets{
		Keep: most(4_000, 0.25), Orders: most(4_000, 0.1), Users: most(20_000, 0.11), Latest: most(20_000, 0.25), Prose: most(prose, 0.06*share),
		Work: most(7_700*share, 0.155*share), Alone: mode == LLM, State: mode == Lossless,
	}
	if mode == Window { // there is only what a model said before, beside the user's messages
		b.Work = 0
	}
	return b
}

// Shrink returns the budgets for a request that does not fit with the full ones. What the user wants kept, the
// user's newest message and the model's text keep theirs: they say what the agent is to do.
func (b Budgets) Shrink() Budgets {
	b.Users, b.Work = b.Users/5, b.Work/5
	return b
}

// Size estimates how many tokens of the vocabulary Text takes at most, be a model's text in it or not.
func Size(s Span) int {
	kept, _ := s.Kept()
	fixed := 200 + s.Count(strings.Join(kept, "\n")) // tokens of headings and notes, and of lines to keep
	users, latest := 0, 0                            // tokens of the user's messages in the span, and of the last one
	for _, it := range s.Request.Items[s.From:max(s.From, s.To)] {
		if it.Role == conversation.User {
			latest = it.Size.Total()
			users += latest
		}
	}
	b := s.Budgets
	return min(users, b.Orders+b.Users+min(latest, b.Latest)) + max(b.Work, b.Work/2+b.Prose) + fixed
}

// bytesFor estimates the bytes of some tokens of names, paths and code: counting tokens line by line would take long.
func bytesFor(tokens int) int { return tokens * 36 / 10 }
