package summarize

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/inject"
	"epitome/offload"
	"epitome/offload/excerpt"
)

// fileForm matches names of files by their ending: a word in prose rarely has one.
var fileForm = regexp.MustCompile(`^[\w./-]*\w\.[a-z]{1,4}$`)

// doubts returns lines about a message of the agent in item i, and what it says: files that nothing before it names, so
// that no call can have written them, and the last command before it, if that failed and is not told below another
// message. A model that goes on believes its own words, whatever calls have shown.
func (s *summary) doubts(i int, said string) (text string) {
	const most = 3 // names
	before := s.Request.Body[:s.Request.Items[i].Span.Start]
	for _, name := range namesIn(said) {
		doubt := fmt.Sprintf("(no call before this names %s)\n", name)
		isTold := strings.Contains(text, doubt) || strings.Count(text, "\n") == most
		if fileForm.MatchString(name) && !isTold && !bytes.Contains(before, []byte(path.Base(name))) {
			text += doubt
		}
	}
	c := s.lastFailure(i)
	if c == nil {
		return text
	}
	at, isTold := s.doubted[c.Arguments.Start]
	if !isTold || at == i { // one message may be quoted twice, of which one quote stays
		s.doubted[c.Arguments.Start] = i
		text += fmt.Sprintf("(when it last ran before this, `%s` %s)\n", excerpt.OneLine(c.About, 100), c.State())
	}
	return text
}

// unknownNames returns the names and long numbers of a model's text, and those that nothing in the conversation has. A
// model that updates its own text would believe them for ever. Of many names and a large conversation, only the first
// names are looked up.
func (s *summary) unknownNames(text string) (names, unknown []string) {
	const most, mostBytes = 8, 512 << 20 // names; bytes that are searched for all of them
	searched := 0
	isUnknown := func(word string) bool {
		if searched > mostBytes {
			return false
		}
		before, _, isKnown := bytes.Cut(s.Request.Body, []byte(word))
		searched += len(before)
		return !isKnown
	}
	names = append(namesIn(text), longNumber.FindAllString(text, -1)...)
	for _, name := range names {
		if len(unknown) < most && !slices.Contains(unknown, name) && hasUnknownPiece(name, isUnknown) {
			unknown = append(unknown, name)
		}
	}
	return names, unknown
}

// longNumber matches numbers that a reader may look up or copy. Shorter ones may be counts, of lines in a stub too.
var longNumber = regexp.MustCompile(`\b\d{5,}\b`)

// hasUnknownPiece reports whether a piece of a path that looks like a name itself stands nowhere in the conversation.
// Models write a/b for one or the other and Type.method for two words of a file, but put together no name of a file.
func hasUnknownPiece(name string, isUnknown func(word string) bool) bool {
	if !isUnknown(name) || offload.IsName(path.Base(name)) { // an artifact's name stands in what is sent alone
		return false
	}
	for _, piece := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("/:@", r) }) {
		isName := nameForm.MatchString(piece) || longNumber.MatchString(piece)
		isFile := fileForm.MatchString(piece)
		if isName && isUnknown(piece) && (isFile || slices.ContainsFunc(strings.Split(piece, "."), isUnknown)) {
			return true
		}
	}
	return false
}

// lastFailure returns the newest command since the user's last message before item i that failed when it was run last,
// and whose output says so; nil if there is none.
func (s *summary) lastFailure(i int) *activity.Call {
	ran := map[string]bool{}
	for at := i - 1; at >= 0; at-- {
		if s.Request.Items[at].Role == conversation.User && s.typedIn(at) != "" {
			break
		}
		for _, c := range slices.Backward(callsOf(s.Calls, at)) {
			if c.Kind != activity.Run {
				continue
			}
			if c.Failed() && !ran[c.About] && c.Failure(c.ResultText(s.Request)) != "" {
				return &c
			}
			ran[c.About] = true
		}
	}
	return nil
}

// nameForm matches words that look like a name: a path, words joined by dots or underscores, a word with a capital
// inside, a number of at least six digits.
var nameForm = regexp.MustCompile(`^\d{6,}$|[a-z][A-Z]|[A-Za-z](?:.*\w)?[./]\w|[A-Za-z].*_`)

// wordsIn returns the words of a text that have at least four characters, letters or signs of paths, without the signs
// at their ends.
func wordsIn(text string) (list []string) {
	isBetween := func(c rune) bool { return !isPart(c) }
	for w := range strings.FieldsFuncSeq(text, isBetween) {
		if len(w) >= 4 {
			list = append(list, strings.Trim(w, signs))
		}
	}
	return list
}

// namesIn returns the words of a text that look like names, of files or in code.
func namesIn(text string) []string {
	const longest = 80 // bytes
	return slices.DeleteFunc(wordsIn(text), func(w string) bool { return len(w) > longest || !nameForm.MatchString(w) })
}

// collectNames collects the names in calls from the span's start on.
func (s *summary) collectNames() {
	for i := s.From; i < len(s.Request.Items); i++ { // those behind the span show what the agent works on now
		for k := range s.Request.Items[i].Calls {
			for _, name := range namesIn(activity.Texts(s.Request.Body, &s.Request.Items[i].Calls[k])) {
				s.usedNames[name] = i
			}
		}
	}
}

// Prose is a summary by a model, and its cost. It is stored as JSON.
type Prose struct {
	Text string `json:"text"`
	event.Cost
}

const maxText = 256 << 10 // bytes of an answer

// frame matches beginnings of lines that epitome writes around a summary.
var frame = regexp.MustCompile(`(?m)^[ \t\x{feff}]*(== |\[epitome: |\[end of summary)`)

// read returns what is kept of an answer, or why it cannot be used.
func (j *job) read(a answer.Answer) (text, why string) {
	said := unwrap(a.Text)
	switch {
	case a.Refused:
		return "", "it was declined"
	case said == "" && a.Called:
		return "", "it called a tool in place of a text"
	case said == "" && a.Cut:
		return "", "it was cut off before it had begun"
	case said == "":
		return "", "it was empty"
	case len(said) > maxText:
		return "", "it was far too long"
	case j.question.Distills:
		return j.distillate(said, a.Cut)
	}
	parts, why := j.parts(said, a.Cut)
	if why != "" {
		return "", why
	}
	text = withHeadings(parts)
	tokens, most := j.s.deps.Count(text), j.question.maxTokens()
	switch {
	case !namesOne(strings.Fields(j.question.Written), text):
		return "", "it named none of the files that were written"
	case tokens > most:
		return "", fmt.Sprintf("it had %d tokens, and %d are the most", tokens, most)
	case j.question.Brief.Earlier != "":
		return j.joined(parts), ""
	}
	return text, ""
}

// namesOne reports whether a text has the name of one of the files; true if there are none.
func namesOne(files []string, text string) bool {
	isNamed := func(file string) bool { return strings.Contains(text, file[strings.LastIndexAny(file, `/\`)+1:]) }
	return len(files) == 0 || slices.ContainsFunc(files, isNamed)
}

// MaxDistillate is how many tokens a distillate has at most: a model's account of one result, for its stub.
const MaxDistillate = 300

// distillate returns what stands under the heading of an answer, in at most MaxDistillate tokens, or why it cannot be
// used. isCut says that the model has not ended.
func (j *job) distillate(said string, isCut bool) (text, why string) {
	const heading = "Result" // as in prompts/distillate.md
	text = strings.TrimSpace(sections(said, []string{heading})[heading])
	if text == "" {
		return "", "it had nothing under the heading " + heading
	}
	for short := text; isCut || j.s.deps.Count(text) > MaxDistillate; isCut = false { // once if it is cut
		short = short[:len(short)*9/10]
		text = strings.TrimSpace(strings.ToValidUTF8(short, "")) + " …"
	}
	return text, ""
}

// joined returns the sections of an answer with the notes of the earlier summary above its own. Where both together have
// more than twice the tokens of an answer, the oldest lines of the longest section go.
func (j *job) joined(parts map[string]string) string {
	earlier := sections(j.question.Brief.Earlier, headings())
	for _, name := range notes {
		parts[name] = joinedLines(earlier[name], parts[name])
	}
	over := j.s.deps.Count(withHeadings(parts)) - 2*j.question.Room
	for over > 0 {
		longest := slices.MaxFunc(notes, func(a, b string) int { return len(parts[a]) - len(parts[b]) })
		line, rest, isLong := strings.Cut(parts[longest], "\n")
		if !isLong {
			break
		}
		parts[longest] = rest
		over -= j.s.deps.Count(line + "\n") // to count all that is left would take too long
	}
	return withHeadings(parts)
}

// withHeadings returns sections of a summary as a text.
func withHeadings(parts map[string]string) (text string) {
	for _, name := range headings() {
		body, found := parts[name]
		if found {
			text += "## " + name + "\n" + strings.TrimSpace(body) + "\n"
		}
	}
	return text
}

// joinedLines returns the lines of two sections without those that say there is nothing, and without lines of the newer
// one that the earlier one has.
func joinedLines(earlier, newer string) string {
	var lines, known []string
	for _, section := range []string{earlier, newer} {
		for line := range strings.Lines(section) {
			line = strings.TrimRight(line, " \t\n")
			isNone := line == "" || strings.EqualFold(strings.Trim(line, "-*. "), "none")
			if !isNone && !slices.Contains(known, line) {
				lines = append(lines, line)
			}
		}
		known = lines
	}
	return cmp.Or(strings.Join(lines, "\n"), "none")
}

// parts returns the sections of an answer, or why it is no summary. That for later sessions is j.learned.
func (j *job) parts(said string, isCut bool) (parts map[string]string, why string) {
	form := j.prompt.render("form")
	parts = sections(said, append(headings(), inject.Heading))
	var missing []string
	isEmpty := true
	for _, name := range headings() {
		body, found := parts[name]
		body = strings.TrimSpace(body)
		parts[name] = frame.ReplaceAllString(body, "> $1") // so no line passes for one of the frame
		switch {
		case found && !(strings.HasPrefix(body, "[") && strings.Contains(form, body)): // not the form as it was given
			isEmpty = isEmpty && body == ""
		case strings.Contains(form, "## "+name+"\n[if "):
			delete(parts, name)
		default:
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) > 0 && isCut:
		return nil, "it was cut off before its end; be shorter"
	case len(missing) > 0:
		return nil, "it lacked the headings " + strings.Join(missing, ", ")
	case isEmpty:
		return nil, "it had nothing under its headings"
	}
	j.learned = parts[inject.Heading]
	if isCut { // the last line may not be whole
		j.learned = j.learned[:strings.LastIndex(j.learned, "\n")+1]
	}
	return parts, ""
}

// unwrap returns a text without the thoughts that some models write before it and the fence that some put around it.
func unwrap(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\ufffd"))
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "<think>"); ok {
		_, text, _ = strings.Cut(rest, "</think>") // nothing, if the thoughts never end
		text = strings.TrimSpace(text)
	}
	if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "```") {
		text = strings.TrimSpace(strings.TrimSuffix(rest, "```"))
	}
	return text
}

// sections returns what stands under each of the headings. What stands before them is left out.
func sections(text string, headings []string) map[string]string {
	parts := map[string]string{}
	at := "" // the heading above
	for line := range strings.Lines(text) {
		if name, rest := headingIn(line, headings); name != "" {
			at = name
			parts[at] += "\n" + rest + "\n"
		} else if at != "" {
			parts[at] += line
		}
	}
	return parts
}

// headingIn returns the heading that a line is, and what of the section stands on the same line. Models number
// headings, mark them in other ways than they were asked to, and put a colon behind them.
func headingIn(line string, headings []string) (name, rest string) {
	const marks = "#* \t\n"
	head, rest, _ := strings.Cut(line, ":")
	head = strings.TrimLeft(strings.Trim(head, marks), "0123456789.) ")
	rest = strings.Trim(rest, marks)
	i := slices.IndexFunc(headings, func(h string) bool { return strings.EqualFold(h, head) })
	isSentence := rest != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "*")
	if i < 0 || isSentence {
		return "", ""
	}
	return headings[i], rest
}
