package rewrite

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/mark"
	"epitome/rewrite/shorten"
)

// What stands in summaries and transcripts.
var (
	sawFrame      = regexp.MustCompile(`(?s)^\[epitome: summary ([0-9a-f]{8}) of (\d+) earlier messages, left out to make room\]\n(.*)\n\[end of summary ([0-9a-f]{8})\. ([^\n]*)\]$`)
	sawMessage    = regexp.MustCompile(`^: message (\d+)(, in answer to your lines after >)?(, the newest: go on with it unless it is done)?(, with .*, not shown here)?$`)
	sawUntold     = regexp.MustCompile(`^: not shown here: message [\d, a-z]+$`)
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
	turns := s.parts(m[3])
	j.transcripts(turns+m[5], s)
}

// spanFacts is a summary's span.
type spanFacts struct {
	*judge
	id       string
	from, to int
}

// parts holds the frames, in each of which the summary's name stands, and the user's messages between them. It returns
// what is said of where each turn lies.
func (s *spanFacts) parts(text string) (turns string) {
	s.Helper()
	heading, body := "", ""
	for l := range strings.Lines(text + "\n== " + s.id + ": end ==\n") {
		if !strings.Contains(l, s.id) {
			body += l
			continue
		}
		about, isMessage := strings.CutPrefix(heading, "-- "+s.id)
		m := sawMessage.FindStringSubmatch(about)
		switch {
		case m != nil:
			s.message(m[1], m[2] != "", body)
		case isMessage && sawUntold.MatchString(about) && body == "", heading == "":
		case !strings.HasPrefix(heading, "== "+s.id+": ") || !strings.HasSuffix(heading, " =="):
			s.Fatalf("promise 8: %q is no frame, with %q", heading, body)
		case strings.HasPrefix(heading, "== "+s.id+": turns"):
			turns = body
		}
		heading, body = strings.TrimSuffix(l, "\n"), ""
	}
	return turns
}

// message holds a message of the user in the summary: it stands there word for word, behind lines of the agent's that it
// answers.
func (s *spanFacts) message(number string, isAnswer bool, body string) {
	s.Helper()
	for isAnswer && strings.HasPrefix(body, "> ") {
		_, body, _ = strings.Cut(body, "\n")
	}
	var said []string
	for i := s.from; i < s.to; i++ {
		if it := &s.was.Items[i]; fmt.Sprint(conversation.NumberOf(s.was, i)) == number && it.Role != conversation.Assistant {
			words := strings.TrimSpace(strings.Join(textsOf(s.was, it), "\n"))
			if it.Role == conversation.User {
				words = s.userWords(i)
				said = append(said, textsOf(s.was, it)...) // a command, without the text that it stands for
			}
			said = append(said, words)
		}
	}
	if !slices.Contains(said, strings.TrimSuffix(body, "\n")) {
		s.Fatalf("promise 8: message %s says %q, not %q", number, said, body)
	}
}

// userWords are what the user says in item i, without what the client put in.
func (s *spanFacts) userWords(i int) string {
	var own []string
	for _, t := range textsOf(s.was, &s.was.Items[i]) {
		words := conversation.OwnWords(t)
		if words != "" && !isOther(t) && !strings.HasPrefix(words, "Caveat: ") {
			own = append(own, words)
		}
	}
	return strings.Join(own, "\n")
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
		if !j.keeps(&bytes, it) {
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
