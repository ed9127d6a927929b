package summarize

import (
	"fmt"
	"regexp"
	"strings"

	"epitome/inject"
	"epitome/prose"
)

// longestText bounds what is kept of an answer, in bytes.
const longestText = 256 << 10

var (
	// A heading may be written with other marks than it was asked for, numbered, and with its text behind a colon.
	heading = regexp.MustCompile(`^\s{0,3}((?:#{1,6}\s*|\*\*\s*)*)(?:[0-9]{1,2}[.)]\s*)?(?:\*\*)?([A-Za-z]+(?: [A-Za-z]+)?)\s*(?:\*\*)?\s*(?::\s*(?:\*\*)?\s*(.*))?$`)
	turn    = regexp.MustCompile(`(?i)^\W*(?:im_start\|?>?\s*)?(?:user|human|assistant|system|tool|ai)\s*[\]>*|]*\s*:`)
	special = regexp.MustCompile(`(?i)^<\|?\s*(?:im_start|start_header_id|user|assistant|system)\b`)
)

// reading is an answer that is being judged.
type reading struct {
	prose.Answer
	detail
	tag   string
	most  int // tokens that the prose may have; 0 is no limit
	count func(string) int

	learns bool // a section for later sessions is none of the summary
}

// judge returns the answer's text in its proper form, or why it cannot be used.
func (r reading) judge() (text string, tokens int, why string) {
	said := unwrap(r.Text)
	parts, opening := r.splitSections(said)
	switch missing := r.missingHeadings(parts); {
	case said == "" && r.Called:
		return "", 0, "it called a tool in place of a text"
	case said == "" && r.Refused:
		return "", 0, "it was declined"
	case said == "" && r.Cut:
		return "", 0, "it was at its end before it had begun"
	case said == "":
		return "", 0, "it was empty"
	case turn.MatchString(opening) || special.MatchString(opening):
		return "", 0, "it spoke as one of the session"
	case len(missing) == len(sectionsOf(r.detail)) && r.Refused:
		return "", 0, "it was declined"
	case len(missing) > 0 && r.Cut:
		return "", 0, "it was cut off before its end; be shorter"
	case len(missing) > 0:
		return "", 0, "it lacked the headings " + strings.Join(missing, ", ")
	case len(said) > longestText:
		return "", 0, "it was far too long"
	}
	text = r.joinSections(parts)
	if tokens = r.count(text); r.most > 0 && tokens > r.most {
		return "", 0, fmt.Sprintf("it had %d tokens, and %d are the most", tokens, r.most)
	}
	return text, tokens, ""
}

// unwrap returns a text without the thoughts that some models tell before it, and without the fence that some put
// around it.
func unwrap(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd"))
	for _, thought := range [...]string{"think", "thinking", "analysis"} {
		rest, thinks := strings.CutPrefix(text, "<"+thought+">")
		if !thinks {
			continue
		}
		_, text, _ = strings.Cut(rest, "</"+thought+">") // one without an end has no answer behind it
		text = strings.TrimSpace(text)
	}
	if first, rest, more := strings.Cut(text, "\n"); more && strings.HasPrefix(first, "```") {
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
	}
	return text
}

// splitSections finds the sections, and the first line that stands before them. Under a heading that comes twice
// stands what is under both.
func (r reading) splitSections(text string) (parts map[string]string, opening string) {
	parts = map[string]string{}
	at := ""
	for l := range strings.Lines(text) {
		if name, rest := r.headingOf(l); name != "" {
			at = name
			parts[at] += "\n" + rest + "\n"
			continue
		}
		if at == "" && opening == "" {
			opening = strings.TrimSpace(l)
		}
		if at != "" {
			parts[at] += l
		}
	}
	return parts, opening
}

// headingOf returns the section that a line is the heading of, and what of its text stands on that line.
func (r reading) headingOf(l string) (name, rest string) {
	m := heading.FindStringSubmatch(strings.TrimRight(l, " \t\n"))
	if m == nil || m[1] == "" && m[3] != "" { // without a mark, it is a sentence
		return "", ""
	}
	for _, s := range sectionsOf(r.detail) {
		if strings.EqualFold(s.heading, m[2]) {
			return s.heading, m[3]
		}
	}
	if r.learns && strings.EqualFold(inject.Heading, m[2]) {
		return inject.Heading, m[3]
	}
	return "", ""
}

// missingHeadings returns the headings that are not there, or that have what was asked in the place of an answer. All
// of them, and nothing under any of them, is no summary either.
func (r reading) missingHeadings(parts map[string]string) (list []string) {
	words := false
	for _, s := range sectionsOf(r.detail) {
		body, there := parts[s.heading]
		words = words || strings.TrimSpace(body) != ""
		if !there || strings.Contains(body, s.asks) {
			list = append(list, s.heading)
		}
	}
	if !words {
		list = nil
		for _, s := range sectionsOf(r.detail) {
			list = append(list, s.heading)
		}
	}
	return list
}

// joinSections puts the sections in their order, and takes the edge off lines that could pass for those of the program.
func (r reading) joinSections(parts map[string]string) string {
	var b strings.Builder
	for _, s := range sectionsOf(r.detail) {
		fmt.Fprintf(&b, "## %s\n", s.heading)
		for l := range strings.Lines(strings.TrimSpace(parts[s.heading])) {
			b.WriteString(r.defuse(strings.TrimRight(l, " \t\r\n")) + "\n")
		}
	}
	return b.String()
}

// defuse returns a line that cannot be taken for one of the frame that the prose will stand in, nor for one of a
// transcript.
func (r reading) defuse(l string) string {
	bare := strings.TrimLeft(l, " \t\ufeff")
	for _, mark := range [...]string{"== ", "[epitome: ", "[end of summary", "[" + r.tag} {
		if strings.HasPrefix(bare, mark) {
			return "> " + bare
		}
	}
	return l
}
