package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/pattern"
	"epitome/rewrite/conversation"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// Shares of what is left that one message may take, and the tokens that each may take all the same. So the newest has
// the most room, and an answer that ends a turn more than what was said between calls.
const (
	shareOfAnswer = 3
	shareOfWord   = 8
	leastOfEach   = 40
	plansKept     = 3 // newest messages of which announcements are told: what is under way
)

// conclusions are how the assistant's messages end, in at most so many tokens: the newest at most length, the oldest
// not at all. Where a message says nothing, the end of what the model thought before it is told, if the client sends
// that.
func (r *writer) conclusions(tokens int) string {
	left, list, seen := tokens, []string{}, map[string]bool{}
	for i := r.to - 1; i >= max(r.from, r.says.Until) && left > 0; i-- {
		it := &r.p.Req.Items[r.p.Req.Head+i]
		if it.Role != conversation.Assistant {
			continue
		}
		room := max(left/shareOfWord, leastOfEach)
		if len(it.Calls) == 0 {
			room = max(left/shareOfAnswer, leastOfEach)
		}
		room = min(room, left)
		plans := len(list) < plansKept
		note, lines := "", r.ending(r.p.TextOf(i), room, plans)
		if lines == "" {
			thoughts := string(span.TextOf(it.Thoughts.Of(r.p.Req.Body)))
			note, lines = ", a note to yourself", r.ending(thoughts, room/2, plans)
		}
		if lines == "" || seen[lines] {
			continue
		}
		if !plans && len(it.Calls) > 0 && isIdleTalk(lines) {
			continue
		}
		entry := fmt.Sprintf("message %d%s:\n%s", r.p.Req.Head+i, note, lines)
		n := r.p.Count(entry)
		if n > left {
			break
		}
		left, seen[lines] = left-n, true
		list = append(list, entry)
	}
	slices.Reverse(list)
	return strings.Join(list, "")
}

// ending is the last lines of a message in about so many tokens, quoted; of a longer line the last sentences. Plans are
// announcements of the call behind the message: they go where they are not wanted, as the call tells more.
func (r *writer) ending(text string, tokens int, plans bool) string {
	const longest = 32 << 10 // bytes that are looked at
	text = strings.TrimSpace(text[max(0, len(text)-longest):])
	lines := strings.Split(text, "\n")
	first := 0
	if len(text) == longest {
		first = 1 // it may have lost its beginning
	}
	if !plans {
		lines = withoutPlans(lines)
	}
	at := len(lines)
	for at > first {
		n := r.p.Count(lines[at-1]) + 2
		if n > tokens {
			break
		}
		tokens -= n
		at--
	}
	kept := lines[at:]
	if at == len(lines) && at > first {
		kept = lastSentences(r, lines[at-1], tokens)
	}
	return quoted(kept)
}

// lastSentences are the last whole sentences of a line in so many tokens, as one line; none if not even one fits.
func lastSentences(r *writer, line string, tokens int) []string {
	all := sentences(line)
	at := len(all)
	for at > 0 {
		n := r.p.Count(all[at-1])
		if n > tokens {
			break
		}
		tokens -= n
		at--
	}
	if at == len(all) {
		return nil
	}
	return []string{strings.TrimSpace(strings.Join(all[at:], ""))}
}

// quoted marks lines as quoted, without those at both ends that say nothing.
func quoted(lines []string) string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	var s strings.Builder
	for _, l := range lines {
		if l = strings.TrimRight(l, " \t\r"); l != "" {
			s.WriteString("> " + l + "\n")
		}
	}
	return s.String()
}

// sentences cuts a line behind each full stop, question or exclamation mark that white space follows.
func sentences(line string) (list []string) {
	start := 0
	for i := range len(line) - 1 {
		if strings.IndexByte(".!?", line[i]) >= 0 && line[i+1] == ' ' {
			list = append(list, line[start:i+1])
			start = i + 1
		}
	}
	return append(list, line[start:])
}

// announces finds a sentence that says only what is called next.
var announces = pattern.Of(`(?i)^\W*(?:(?:ok|okay|now|next|first|then|also|great|good|perfect|so|and|but|alright)\W+)*` +
	`(?:let me|let['’]s|let us|i['’]ll|i will|(?:i['’]m|i am) (?:going to|now)|time to|` +
	`(?:(?:i['’]m|i am) )?(?:still |continuing|checking|waiting|running|rerunning|monitoring|looking|reading|opening|searching|` +
	`inspecting|returning|verifying|pulling))`)

// isIdleTalk reports whether what was said between two calls is short and names nothing.
func isIdleTalk(lines string) bool {
	const short = 80 // bytes
	if len(lines) > short || strings.ContainsAny(lines, "`0123456789") {
		return false
	}
	named := false
	shorten.EachName(lines, func(string) { named = true })
	return !named
}

// isPlan reports whether a sentence says only what comes next: it says so, or it ends in a colon before a call.
func isPlan(sentence string) bool {
	sentence = strings.TrimSpace(sentence)
	return sentence == "" || strings.HasSuffix(sentence, ":") || announces.MatchString(sentence)
}

// withoutPlans takes announcements off the end. A short line goes whole or stays whole.
func withoutPlans(lines []string) []string {
	const short = 240 // bytes
	for len(lines) > 0 {
		last := len(lines) - 1
		all := sentences(strings.TrimSpace(lines[last]))
		n := len(all)
		for n > 0 && isPlan(all[n-1]) {
			n--
		}
		switch {
		case n == 0:
			lines = lines[:last]
			continue
		case n < len(all) && len(lines[last]) > short:
			lines = append(slices.Clip(lines[:last]), strings.Join(all[:n], ""))
		}
		return lines
	}
	return nil
}
