package runs

import (
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/mark"
	"epitome/rewrite/plan"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// What a line has of a call, in characters. What there is more of it goes from its middle: a path tells most at its
// end.
const (
	mostOfCall   = 120
	headOfCall   = 40
	mostCompared = 2_000 // of a command, or, in bytes, of a call with arguments, but for the last of them
	mostOfValue  = 50    // of an argument
	leastCommon  = 8     // bytes that calls have in common at least for that to be left out
)

// call is a call as a list may tell it.
type call struct {
	text      string // what was called, on one line
	arguments []byte // as JSON, if that is an object; else nothing
}

// callOf is the call of a result as a list may tell it; ok is false if a part of it passes for a mark of epitome's.
// callers are, of each item, the one whose call it answers.
func callOf(p *plan.Plan, res *history.Result, callers []int) (t call, ok bool) {
	t.text = res.Action.Key
	var asked *conversation.Call // nil if it cannot be told
	if i := callers[res.Item]; i >= 0 {
		asked = conversation.CallOf(p.Req, i, p.Req.Items[p.Req.Head+res.Item].Answers)
	}
	if asked != nil {
		arguments := asked.ArgumentsIn(p.Req.Body)
		if command, _ := action.CommandOf(asked.Name, arguments, asked.FreeText); command != "" {
			t.text = shorten.OneLine(command, mostCompared)
		}
		if span.Valid(arguments) && arguments[span.SkipSpace(arguments, 0)] == '{' {
			t.arguments = arguments
		}
	}
	return t, isPlain(t.text) && !strings.Contains(string(t.arguments), mark.Start)
}

// told are calls as a list tells them: each one so that it can be told from the others, where they differ at all. What
// is left out is told as …
func told(list []call) (texts []string) {
	seen := map[string]bool{}
	for _, c := range list {
		texts = append(texts, c.text)
		seen[c.text] = true
	}
	if len(seen) < len(texts) {
		addDiffering(list, texts)
	}
	texts = shortened(texts)
	for k := range texts {
		texts[k] = clipped(texts[k])
	}
	return texts
}

// addDiffering adds the arguments to the texts of calls that all calls have, and not all of them alike: the first of
// them, as far as somebody would compare them.
func addDiffering(list []call, texts []string) {
	all := make([]map[string]string, len(list))
	var names []string
	for k := range list {
		if all[k] = map[string]string{}; list[k].arguments == nil {
			return
		}
		read(list[k].arguments, func(name, value string) {
			if k == 0 {
				names = append(names, name)
			}
			all[k][name] = value
		})
	}
	for _, name := range names {
		differs, missing := false, false
		for k := range all {
			value, ok := all[k][name]
			differs, missing = differs || value != all[0][name], missing || !ok
		}
		if !differs || missing {
			continue
		}
		full := false
		for k := range texts {
			texts[k] += " (" + shorten.OneLine(name, mostOfValue) + " " + shorten.OneLine(all[k][name], mostOfValue) + ")"
			full = full || len(texts[k]) > mostCompared
		}
		if full {
			return
		}
	}
}

// read gives each argument's name and value, as it is written.
func read(arguments []byte, f func(name, value string)) {
	// They were found valid.
	_, _ = span.Members(arguments, span.SkipSpace(arguments, 0), func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(arguments, i)
		if err == nil {
			f(string(key), string(arguments[i:end]))
		}
		return end, err
	})
}

// shortened are the texts without what all of them begin and end with, but for the first one, which is whole. A word
// stays whole.
func shortened(texts []string) (short []string) {
	head := commonHead(texts)
	rest := make([]string, len(texts))
	for k := range texts {
		rest[k] = texts[k][head:]
	}
	tail := commonTail(rest)
	short = append(short, texts[0])
	for _, s := range rest[1:] {
		s = s[:len(s)-tail]
		if head > 0 {
			s = "…" + s
		}
		if tail > 0 {
			s += "…"
		}
		if tail > 0 && strings.HasSuffix(texts[0], ")") {
			s += ")"
		}
		short = append(short, s)
	}
	return short
}

// commonHead is how many bytes all texts begin with, up to where a part of a path or an argument begins, or else a
// word; 0 if those are few.
func commonHead(texts []string) int {
	head := texts[0]
	for _, s := range texts[1:] {
		for !strings.HasPrefix(s, head) {
			head = head[:len(head)-1]
		}
	}
	n := strings.LastIndexAny(head, "/?&(") + 1
	if n > 0 && head[n-1] == '(' { // that stays with what it begins
		n--
	}
	if n < leastCommon {
		before, _, _ := strings.Cut(head, "(")
		n = strings.LastIndexByte(before, ' ') + 1
	}
	if n < leastCommon {
		return 0
	}
	return n
}

// commonTail is the same of what they end with.
func commonTail(texts []string) int {
	tail := texts[0]
	for _, s := range texts[1:] {
		for !strings.HasSuffix(s, tail) {
			tail = tail[1:]
		}
	}
	if n := strings.IndexAny(tail, " ,&|"); n >= 0 && len(tail)-n >= leastCommon {
		return len(tail) - n
	}
	return 0
}

// clipped is a text of at most mostOfCall characters: its beginning and its end.
func clipped(text string) string {
	r := []rune(text)
	if len(r) <= mostOfCall {
		return text
	}
	end := r[len(r)-mostOfCall+headOfCall+1:]
	return strings.TrimSpace(string(r[:headOfCall])) + "…" + strings.TrimSpace(string(end))
}
