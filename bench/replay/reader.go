package replay

import (
	"slices"
	"strings"

	"epitome/bench/policy"
)

// reader reads back for one conversation what was taken out of it: it asks an artifact for each thing that an answer
// needs and its request lacks. What it reads stays in the conversation until what was sent changes.
type reader struct {
	open    func(name string) ([]byte, bool) // nil if there are no artifacts
	meter   policy.Meter
	fetched map[string]string // artifacts, by name
	holder  map[string]string // an artifact that holds what is needed
	wanted  []string          // by the answer that comes next
	known   map[string]bool   // read back, and in the conversation still
	tokens  int               // of that
}

// newReader returns a reader of the artifacts that open finds.
func newReader(open func(name string) ([]byte, bool), meter policy.Meter) *reader {
	return &reader{
		open: open, meter: meter, fetched: make(map[string]string), holder: make(map[string]string),
		known: make(map[string]bool),
	}
}

// readBack is what reading back takes.
type readBack struct {
	Calls  int     // of the tool
	Tokens int     // that they brought into conversations
	Cost   float64 // in tokens that are new to the provider
}

// join adds what was read in another conversation.
func (b *readBack) join(x readBack) {
	b.Calls += x.Calls
	b.Tokens += x.Tokens
	b.Cost += x.Cost
}

// The bounds of what the tool answers, in bytes.
const (
	mostAnswered = 24 << 10
	mostOfLine   = 400 // of a longer line what is around the name
)

// begin begins with the next request. What was read back is gone if it changes what was sent before.
func (r *reader) begin(changes bool) {
	if changes {
		clear(r.known)
		r.tokens = 0
	}
	r.wanted = r.wanted[:0]
}

// holds reports whether one of the artifacts holds what is needed.
func (r *reader) holds(needed string, artifacts []string) bool {
	holder := r.holder[needed]
	for _, name := range artifacts {
		if name == holder || inArtifact(needed, r.artifact(name)) {
			r.holder[needed] = name
			return true
		}
	}
	return false
}

// want notes what the answer needs that an artifact holds.
func (r *reader) want(needed string) {
	if !r.known[needed] {
		r.wanted = append(r.wanted, needed)
	}
}

// read is what it takes to have what is wanted, for the answer to a request of so many tokens: a call and one more
// request for each artifact, and what was brought before once more.
func (r *reader) read(sent int) (b readBack) {
	tariff := policy.PlainTariff()
	b.Cost = tariff.Cached * float64(r.tokens)
	var artifacts []string
	by := make(map[string][]string)
	for _, needed := range r.wanted {
		holder := r.holder[needed]
		if by[holder] == nil {
			artifacts = append(artifacts, holder)
		}
		by[holder] = append(by[holder], needed)
		r.known[needed] = true
	}
	for _, name := range artifacts {
		call := r.meter.Text(callFor(name, by[name]))
		brought := call + r.meter.Result(linesWith(r.artifact(name), by[name]))
		all := sent + r.tokens
		paid := tariff.Output*float64(call) + tariff.Price(policy.Input{Tokens: all + brought, Held: all})
		b.join(readBack{1, brought, paid})
		r.tokens += brought
	}
	return b
}

// callFor is what a model says to ask an artifact for what it needs.
func callFor(artifact string, wanted []string) string {
	return `{"name":"recall","arguments":{"artifact":"` + artifact + `","grep":"` + strings.Join(wanted, "|") + `"}}`
}

// linesWith are the lines of a text that hold any of what is wanted.
func linesWith(text string, wanted []string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		at := slices.IndexFunc(wanted, func(needed string) bool { return inArtifact(needed, line) })
		if at < 0 {
			continue
		}
		if len(line) > mostOfLine {
			i := max(0, strings.Index(line, wanted[at])-mostOfLine/2)
			line = line[i:min(len(line), i+mostOfLine)] + "\n"
		}
		if b.WriteString(line); b.Len() > mostAnswered {
			break
		}
	}
	return b.String()
}

func (r *reader) artifact(name string) string {
	text, known := r.fetched[name]
	if !known && r.open != nil {
		content, _ := r.open(name)
		text = string(content)
		r.fetched[name] = text
	}
	return text
}

// escaped is a text without line ends as it stands in a JSON string.
func escaped(text string) string {
	text = strings.ReplaceAll(text, `\`, `\\`)
	text = strings.ReplaceAll(text, `"`, `\"`)
	return strings.ReplaceAll(text, "\t", `\t`)
}

// inArtifact looks for a name as it stands, in a JSON string, and in a call's arguments, which are JSON in a JSON
// string. Word borders do not count: what is in the artifact is what was taken out.
func inArtifact(name, text string) bool {
	once := escaped(name)
	return strings.Contains(text, name) || strings.Contains(text, once) ||
		strings.Contains(text, escaped(once))
}

// artifactSize is the length of an artifact's name.
const artifactSize = 26

// artifactsIn are the words of a text that may name artifacts.
func artifactsIn(text string) []string {
	var all []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !policy.InWord(r) }) {
		if len(word) == artifactSize && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz234567") == "" &&
			!slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}
