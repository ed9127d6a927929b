package rewrite

import (
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history/action"
	"epitome/rewrite/mark"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// What stands in summaries and transcripts.
var (
	sawFrame = regexp.MustCompile(`(?s)^\[epitome: summary ([0-9a-f]{8}) of (\d+) earlier messages, left out to make room\]\n(.*)\n\[end of summary ([0-9a-f]{8})\. ([^\n]*)\]$`)
	// sawMessage is the heading of a message, behind the summary's name.
	sawMessage = regexp.MustCompile(`^: message (\d+)(, in answer to the lines with >|, said by the user, who refused the call behind >|` +
		`, put in by your client: not the user's words)?(?:, with (.*) that only the whole text has|, said \d+ times)?(, the newest so far(?:; what you said next (?:is message \d+|stands behind this summary))?: go on with it unless it is done)?(, the first: it is the task)?$`)
	sawHidden     = regexp.MustCompile(`^not shown here: what you said in messages? [\d, -]+(and \d+ more up to message \d+)?$`)
	sawSaid       = regexp.MustCompile(`^message (\d+)(, a note to yourself|, whole)?:$`)
	sawTakenBack  = regexp.MustCompile(`^(.+), message (\d+): (.+)$`)
	sawMore       = regexp.MustCompile(`^and \d+ more, not listed here$`)
	sawTimes      = regexp.MustCompile(`^(.+), written (\d+) times$`)
	sawSearch     = regexp.MustCompile("^(.+), pattern `(.+)`, path `(.+)`$")
	sawTranscript = regexp.MustCompile(`^\[[a-z2-7]{8}: messages \d+-\d+ of .* in ([a-z2-7]{26})\.txt beside this file\]\n\n`)
)

// recap holds a summary against the facts. from is the first item of its span, of all the request's, unless it stands
// for the last ones of it, up to item end.
func (j *judge) recap(text string, from, end int) {
	j.Helper()
	m := sawFrame.FindStringSubmatch(text)
	if m == nil || m[1] != m[4] {
		j.Fatalf("promise 8: this is no summary: %q", text)
	}
	n, _ := strconv.Atoi(m[2])
	chain := j.was.ChainFrom(nil)
	endOf := func(from int) int { // so many messages from item from on, that have this name
		for to := max(from, j.was.Head); to <= len(j.was.Items); to++ {
			if conversation.MessagesIn(j.was, from, to-from) == n &&
				strings.Contains(hex.EncodeToString(chain[to-j.was.Head][:]), m[1]) {
				return to
			}
		}
		return -1
	}
	s := &spanFacts{judge: j, id: m[1], from: from, to: endOf(from)}
	for k := j.was.Head; s.to < 0 && k < end; k++ { // it stands where it may
		s.from, s.to = k, endOf(k)
	}
	if s.to < 0 || s.from < j.was.Head {
		j.Fatalf("promise 8: a summary %s of %d messages from item %d on", s.id, n, from)
	}
	s.known(text, chain[s.to-j.was.Head])
	j.transcripts(s.lines+m[5], s)
}

// spanFacts is what a span holds.
type spanFacts struct {
	*judge
	id           string
	from, to     int
	called, told string // all that calls said, and all that results did
	lines        string // what is said of each turn
	notices      string // what clients say of tasks
	names        map[string]bool
	keys         map[string]bool // of calls
	results      []string        // what results did, one by one
}

func (s *spanFacts) learn() {
	var called, told strings.Builder
	s.names, s.keys = map[string]bool{}, map[string]bool{}
	callers := s.was.Callers()
	calls := func(i int) {
		for _, c := range s.was.Items[i].Calls {
			s.names[c.Name] = true
			arguments := c.ArgumentsIn(s.was.Body)
			s.keys[action.Of(c.Name, arguments, c.FreeText).Key] = true
			called.WriteString(action.ArgumentTexts(arguments, c.FreeText) + "\n" + string(arguments) + "\n")
		}
	}
	for i := s.from; i < s.to; i++ {
		it := &s.was.Items[i]
		if calls(i); callers[i-s.was.Head] >= 0 {
			calls(s.was.Head + callers[i-s.was.Head]) // it may stand before the span
		}
		for _, t := range textsOf(s.was, it) {
			if n, ok := conversation.NoticeIn(t); ok && it.Role == conversation.User {
				s.notices += n.Summary + "\n"
			}
		}
		if it.Role == conversation.Tool {
			s.names[it.Name] = true
			for _, t := range textsOf(s.was, it) {
				screen, _ := shorten.FinalScreen(t)
				told.WriteString(t + "\n" + screen + "\n")
				s.results = append(s.results, t)
			}
		}
	}
	s.called, s.told = called.String(), told.String()
}

// parts holds the parts between the frames. Each line with the summary's name is epitome's.
func (s *spanFacts) parts(text string) {
	s.Helper()
	heading, body := "", ""
	for l := range strings.Lines(text + "\n") {
		if !strings.Contains(l, s.id) {
			body += l
			continue
		}
		s.part(heading, inFull(body))
		heading, body = strings.TrimSuffix(l, "\n"), ""
	}
	s.part(heading, body)
}

func (s *spanFacts) part(heading, body string) {
	s.Helper()
	rest, ok := strings.CutPrefix(heading, "== "+s.id+": ")
	kind, _, closed := strings.Cut(rest, " ")
	kind = strings.TrimSuffix(kind, ",")
	about, _ := strings.CutPrefix(heading, "-- "+s.id) // as it is if that does not stand there: then no message matches
	switch m := sawMessage.FindStringSubmatch(about); {
	case heading == "": // what is said at first
	case m != nil && m[2] != "":
		s.replied(numbers(m[1])[0], body, m[2], m[3], m[4] != "")
	case m != nil:
		s.message(numbers(m[1])[0], body, m[3], m[4] != "")
	case strings.HasPrefix(heading, "-- "+s.id+": and "):
		if body != "" {
			s.Fatalf("promise 8: %q stands under %q", body, heading)
		}
	case !ok || !closed || !strings.HasSuffix(heading, " =="):
		s.Fatalf("promise 8: %q is no frame", heading)
	case kind == "the": // user's messages follow
	case kind == "told": // by a model
		if strings.TrimSpace(body) == "" {
			s.Fatalf("promise 8: a model is said to have said nothing")
		}
	case kind == "what": // the assistant said
		s.said(body)
	case kind == "your":
		s.tasks(body)
	case kind == "texts":
		s.inTexts(body)
	case kind == "open" || kind == "refused":
		s.failures(body)
	case kind == "files" || kind == "reads":
		s.works(kind, body)
	default:
		folder := ""
		for l := range strings.Lines(body) {
			folder = s.row(kind, strings.TrimSuffix(l, "\n"), folder)
		}
	}
}

// said holds what the assistant is told to have said: each line or sentence stands in the message that is named.
func (s *spanFacts) said(body string) {
	s.Helper()
	var items []int
	for l := range strings.SplitSeq(strings.TrimSuffix(body, "\n"), "\n") {
		quote, quoted := strings.CutPrefix(l, "> ")
		m := sawSaid.FindStringSubmatch(l)
		switch {
		case strings.HasPrefix(l, "not shown here: what you said before message "):
		case sawHidden.MatchString(l):
			for span := range strings.SplitSeq(regexp.MustCompile(`\d[\d-]*(, \d[\d-]*)*`).FindString(l), ", ") {
				s.hidden(body, numbers(strings.Split(span, "-")...))
			}
		case m != nil:
			if items = s.items(numbers(m[1])[0], conversation.Assistant); len(items) == 0 {
				s.Fatalf("promise 8: message %s is none of the assistant's in the span %d-%d", m[1], s.from, s.to)
			}
		case !quoted || len(items) == 0:
			s.Fatalf("promise 8: %q is no quote", l)
		default:
			all := s.textsOfAll(items) + "\n" + string(span.TextOf(s.was.Items[items[0]].Thoughts.Of(s.was.Body)))
			if !strings.Contains(all, quote) {
				s.Fatalf("promise 8: item %v does not say %q", items, quote)
			}
		}
	}
}

// hidden holds a range of messages of which nothing is said to be shown. ends are its first and its last.
func (s *spanFacts) hidden(body string, ends []int) {
	s.Helper()
	for i := ends[0]; i <= ends[len(ends)-1]; i++ {
		heading := regexp.MustCompile(fmt.Sprintf(`(?m)^message %d[:,]`, i))
		if i < conversation.NumberOf(s.was, s.from) || i > conversation.NumberOf(s.was, s.to-1) ||
			heading.MatchString(body) {
			s.Fatalf("promise 8: message %d is said not to be shown: %s", i, body)
		}
	}
}

// failures holds what is told of calls that failed: each quoted line stands in the result of the message.
func (s *spanFacts) failures(body string) {
	s.Helper()
	var items []int
	head := regexp.MustCompile(`^.*, message (\d+): (failed with exit code \d+|its result (?:is|begins with|is marked as) an error|its output says that it failed|` +
		`ended with exit code 1: (?:nothing matched|there are differences|the condition does not hold|nothing but matches)|` +
		`(?:its result says: )?(?:the user refused it|the user broke it off|it was not allowed|it was stopped at its time limit|it was aborted)` +
		`(?:, with words of their own|, and said: (?P<said>".*?"))?|` +
		`ended with exit code 0, but its output tells of a failure)(, \d+ times in a row)?` +
		`(; called again in message \d+, which does not tell how that ended)?` +
		`(; with other values it was called in message \d+: [^;]+)?` +
		`(; in message \d+ it succeeded, behind a command that may have put other work or another target there)?(; a preview of some of its fields follows)?` +
		`(; the later run in message \d+ (does not show|shows only a part of) what failed|; its lines stand above)?` +
		`(; so did \d+ other calls? like it, the oldest in message \d+)?$`)
	for l := range strings.Lines(body) {
		l = strings.TrimSuffix(l, "\n")
		quote, quoted := strings.CutPrefix(l, "> ")
		m := head.FindStringSubmatch(l)
		switch {
		case quoted && len(items) > 0:
			all := s.textsOfAll(items)
			screen, _ := shorten.FinalScreen(all)
			if !strings.Contains(all+"\n"+screen, quote) && !answered([]string{all}, quote) {
				s.Fatalf("promise 8: the results %v do not say %q", items, quote)
			}
		case m != nil:
			s.about(l)
			if items = s.items(numbers(m[1])[0], conversation.Tool); len(items) == 0 {
				s.Fatalf("promise 8: message %s has no result in the span %d-%d", m[1], s.from, s.to)
			}
			said := unquoted(s, m[head.SubexpIndex("said")])
			if all := strings.Join(strings.Fields(s.textsOfAll(items)), " "); !strings.Contains(all, said) {
				s.Fatalf("promise 8: the results %v do not say %q", items, said)
			}
		default:
			s.Fatalf("promise 8: %q tells of no failure", l)
		}
	}
}

// unquoted is what stands in quotes; nothing if there is none.
func unquoted(s *spanFacts, quoted string) string {
	if quoted == "" {
		return ""
	}
	text, err := strconv.Unquote(quoted)
	if err != nil {
		s.Fatalf("promise 8: what was said is quoted as %s: %v", quoted, err)
	}
	return text
}

// message holds a user's message that stands in the summary.
func (s *spanFacts) message(number int, body, media string, latest bool) {
	s.Helper()
	i := -1
	for _, k := range s.items(number, conversation.User) {
		words, _ := s.userWords(k)
		isSaid := words+"\n" == body || asTyped(words)+"\n" == body || saysWithin(words, body)
		if isSaid && shownIn(s.was, &s.was.Items[k]) == media {
			i = k
		}
	}
	if i < 0 {
		s.Fatalf("promise 8: message %d in the span %d-%d is not the user's, or does not say %q, with %q", number,
			s.from, s.to, body, media)
	}
	for k := i + 1; latest && k < s.to; k++ {
		if words, speaks := s.userWords(k); speaks && !isOfClient(words) && !s.isBody(k) {
			s.Fatalf("promise 8: message %d is said to be the latest, but there is item %d", number, k)
		}
	}
}

// userWords are what the user says in item i, of whom speaks is false if it is all the client's.
func (s *spanFacts) userWords(i int) (words string, speaks bool) {
	if s.was.Items[i].Role != conversation.User {
		return "", false
	}
	all := textsOf(s.was, &s.was.Items[i])
	var own []string
	for _, t := range all {
		if words := conversation.OwnWords(t); words != "" && !isOther(t) {
			own = append(own, words)
		}
	}
	others := slices.ContainsFunc(all, func(t string) bool { return isOther(t) })
	return strings.Join(own, "\n"), len(own) > 0 || len(all) == 0 || others
}

// works holds what is told of files and of what was found: under a line of a call stand lines that calls wrote, or that
// results have.
func (s *spanFacts) works(kind, body string) {
	s.Helper()
	said := s.called
	if kind == "reads" {
		said = s.told
	}
	for l := range strings.Lines(body) {
		l = strings.TrimSuffix(l, "\n")
		if m := sawTakenBack.FindStringSubmatch(l); m != nil && kind == "files" {
			if !s.takesBack(numbers(m[2])[0], m[3]) || !strings.Contains(s.called, path.Base(m[1])) {
				s.Fatalf("promise 8: message %s takes nothing back: %q", m[2], l)
			}
			continue
		}
		if sawMore.MatchString(l) {
			continue
		}
		if m := sawTimes.FindStringSubmatch(l); m != nil && kind == "files" {
			s.writes(m[1], numbers(m[2])[0])
			continue
		}
		if m := sawSearch.FindStringSubmatch(l); m != nil {
			isSaid := func(part string) bool { return strings.Contains(oneLine(s.called), strings.TrimSuffix(part, "…")) }
			if !s.names[m[1]] || !isSaid(m[2]) || !isSaid(m[3]) {
				s.Fatalf("promise 8: no call of the span searches so: %q", l)
			}
			continue
		}
		if slices.Contains(groupsOfFiles, l) {
			continue
		}
		if quote, quoted := strings.CutPrefix(l, "> "); quoted {
			if !strings.Contains(said, quote) {
				s.Fatalf("promise 8: nothing says %q: %s", quote, body)
			}
			continue
		}
		if name, _, ok := strings.Cut(l, " `"); s.names[l] || ok && (s.names[name] || name == "a tool") || l == "a tool" ||
			strings.Contains(s.called, l) || s.calls(strings.TrimSuffix(l, "…")) {
			continue
		}
		folder, list, _ := strings.Cut(l, ": ")
		if list == "" {
			folder, list = "", l
		}
		for name := range strings.SplitSeq(list, ", ") {
			if !strings.Contains(s.called, path.Base(name)) || folder != "" &&
				!strings.Contains(s.called, path.Base(folder)) {
				s.Fatalf("promise 8: no call of the span names %q", l)
			}
		}
	}
}

// row holds a row of a part. group is the row that stands above rows of its kind; row returns the one for the next.
func (s *spanFacts) row(kind, row, group string) string {
	s.Helper()
	switch kind {
	case "turns":
		s.lines += row + "\n"
		m := regexp.MustCompile(`^messages (\d+)-(\d+)(, calls [^:]*)?: (\S+)$`).FindStringSubmatch(row)
		if m == nil || numbers(m[1])[0] < conversation.NumberOf(s.was, s.from) ||
			numbers(m[2])[0] > conversation.NumberOf(s.was, s.to-1) {
			s.Fatalf("promise 8: %q is no line of messages %d-%d", row, s.from, s.to)
		}
	case "commands", "calls", "names":
		if kind == "calls" {
			row = regexp.MustCompile(`, (?:one of \d+|\d+ times)$`).ReplaceAllString(row, "")
		}
		for _, known := range endingsTold {
			if row == known+":" || kind == "commands" && sawMore.MatchString(row) {
				return row
			}
		}
		if line, quoted := strings.CutPrefix(row, "> "); quoted && kind != "names" {
			isNoticed := group == endedByNotice+":" && strings.Contains(s.notices, line)
			if !isNoticed && !strings.Contains(s.told, line) && !(kind == "calls" && answered(s.results, line)) {
				s.Fatalf("promise 8: no result of the span says %q", line)
			}
			return group
		}
		row = s.withoutID(row)
		cut := strings.TrimSuffix(row, "…")
		if s.keys[row] || strings.Contains(s.called, row) || s.calls(cut) ||
			kind == "calls" && (s.given(row) || sawMore.MatchString(row) || s.tallies(row)) {
			return group
		}
		if name, _, ok := strings.Cut(row, " `"); ok && (s.names[name] || name == "a tool") || s.names[row] || row == "a tool" {
			return group
		}
		_, list, ok := strings.Cut(row, ": ")
		if !ok {
			list = row
		}
		for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ' ' || r == ',' }) {
			if !strings.Contains(s.called, name) {
				s.Fatalf("promise 8: no call of the span says %q", row)
			}
		}
	default:
		s.Fatalf("promise 8: %q stands under the heading %q", row, kind)
	}
	return group
}

// transcripts holds that all that was left out is where the summary says: what was said as text, and on its first line
// the artifact with the bytes.
func (j *judge) transcripts(where string, s *spanFacts) {
	j.Helper()
	text, bytes := shelf{}, shelf{}
	for name := range mark.NamesLike(where) {
		content, err := j.get(name)
		if err != nil {
			j.Fatalf("promise 6: %v", err)
		}
		text.all += string(content)
		same := sawTranscript.FindSubmatch(content)
		if same == nil {
			j.Fatalf("promise 6: this is no transcript: %.200q", content)
		}
		exact, err := j.get(string(same[1]))
		if err != nil {
			j.Fatalf("promise 6: %v", err)
		}
		bytes.all += unmarked(string(exact))
	}
	for i := s.from; i < s.to; i++ {
		f, it := j.out.forms[i-j.was.Head], &j.was.Items[i]
		if f == nil || f.Fold == 0 && !f.Gone || it.SaysNothing() && f.Rung == decision.RungClear {
			continue // the last of these was thought, and is in no transcript
		}
		if !j.bench.respelled && !j.keeps(&bytes, it) {
			j.Fatalf("promise 6: message %d is not where the summary says: %s", i, where)
		}
		j.written(i, &text)
	}
}

// sawLeft is what stands in the place of a message of the user that is left to the transcript.
var sawLeft = regexp.MustCompile(`^\[epitome: (?:a|the newest) message of the user stood here\. ` +
	`It has (?:(\d+) lines and (\d+) bytes)?(?: and )?(.*?), and is too long for this window\. [^\n]*\]`)

// left holds a message of the user that is left to the transcript: none of it is sent, and what is said of it is true.
func (j *judge) left(i int, text string) {
	j.Helper()
	about := sawLeft.FindStringSubmatch(text)
	said := textsOf(j.was, &j.was.Items[i])
	was := j.inLines(i, said, text)
	if len(said) == 1 && !isOther(said[0]) {
		was = said[0]
	}
	want := []string{"", "", shownIn(j.was, &j.was.Items[i])}
	if was != "" {
		want[0], want[1] = strconv.Itoa(shorten.CountLines(was)), strconv.Itoa(len(was))
	}
	if !slices.Equal(about[1:], want) {
		j.Fatalf("promise 8: message %d has %q lines, bytes and pictures: %.300q", i, want, text)
	}
	if recap, ok := strings.CutPrefix(text[len(about[0]):], "\n\n"); ok {
		j.recap(recap, i+1, 0)
	}
}

// appended holds a message of the user behind which a summary stands.
func (j *judge) appended(i, at int) {
	j.Helper()
	if !j.isLegible(i) {
		j.begins(i, at)
		return
	}
	was, now := textsOf(j.was, &j.was.Items[i]), textsOf(j.now, &j.now.Items[at])
	if len(now) == 1 && sawLeft.MatchString(now[0]) {
		j.left(i, now[0])
		return
	}
	last := len(now) - 1
	rest, ok := now[last], len(was) == last
	if len(was) == len(now) {
		rest, ok = strings.CutPrefix(now[last], was[last])
	}
	if ok && !slices.Equal(was[:min(last, len(was))], now[:last]) {
		ok = false
	}
	text, framed := strings.CutPrefix(rest, "\n\n")
	a, b := skeleton(j.was, &j.was.Items[i], false), skeleton(j.now, &j.now.Items[at], false)
	if !ok || !framed || a != b {
		j.Fatalf("promise 2: message %d is the user's: %s", i, fmt.Sprintf("%.200q", rest))
	}
	j.recap(text, i+1, 0)
}
