package overflow

import (
	"strings"

	"epitome/pattern"
)

// part is what a number in an answer is the size of.
type part int

const (
	noPart      part = iota // no word tells
	limitPart               // of what is allowed
	inputPart               // of the request without its answer
	outputPart              // of the answer that is asked for
	askedPart               // of the request, as it is asked for
	wholePart               // of what was sent, with or without the answer
	ignoredPart             // of nothing that matters: an excess, a use of earlier requests, an index
)

// Cues before a number. They are read from left to right, and the last one decides; but a word for the input does not
// end a limit that has begun ("maximum prompt length is #"). The groups are, in this order, of a limit, of output, of
// what was asked for, of the whole request, of its input, of nothing that matters, and of a limit again.
var cuesBefore = pattern.Of(`\b(?:(` + superlative + `|limit\w*|ceiling|cap|capacity|windows?|ctx|context (?:length|size|len|limit|window|of)|(?:seq|model) len|` +
	`allow(?:s|ed)?|accept(?:s|ed)?|support(?:s|ed)?|available|at most|up to|only|exceed\w*|surpass\w*|beyond|above|over|under|below|within|fit in|full|` +
	`(?:longer|larger|bigger|greater|more|higher|less|fewer|smaller|shorter|lower) than)` +
	`|(maxout|completions?|outputs?|generated?|(?:new|response) tokens)` +
	`|(requests?|requested|requesting|asks?|asked|asking)` +
	`|((?:inputs?|prompts?|messages?)(?: tokens?)? (?:and|plus|with|\+) (?:the )?(?:max\w* )?(?:outputs?|completions?|maxout|generated)|` +
	`total|sum|given|got|received|sent|passed|provided|has|have|contains?|resulted in|keep|tokens? (?:num|number|count)|current length|` +
	`your (?:input|prompt|messages?|request|conversation|text|query|chat))` +
	`|(prompts?|inputs?|messages?|conversations?|sequences?|query|history|dialogue|chat|and (?:tools|functions))` +
	`|(by|code|error|status|used|consumed|index|position|pos|line|http))\b|(<=?|>=?|超过|上限|最大|不能大于)`)

// cuesAfter are cues behind a number. The first that fits decides, and goes before all that stands before the number.
var cuesAfter = [...]struct {
	part  part
	words *pattern.Pattern
}{
	{ignoredPart, pattern.Of(`^(?: tokens?)?(?: were| was| have been| has been| already)? (?:used|consumed)\b|^ draft\b`)},
	{limitPart, pattern.Of(`^(?: tokens?)?(?: (?:input|prompt|context|sequence|model|output))? ` +
		`(?:maximum|max|limit|ceiling|cap|windows?|context|allowed|available|supported|budget|capacity)\b`)},
	{outputPart, pattern.Of(`^(?: tokens?)?(?: of| in| for| as)?(?: the| your)? (?:maxout|outputs?|completions?|response|generation|generated|new)\b`)},
	{inputPart, pattern.Of(`^(?: tokens?)?(?: of| in| from| for)?(?: the| your)?(?: (?:text|tool|image|initial|user|chat|current))? ` +
		`(?:inputs?|prompts?|messages?|functions?|tools?|history|system)\b`)},
	{wholePart, pattern.Of(`^(?: tokens?)?(?: were| was| are)? (?:requested|needed|given|provided|supplied|submitted|received|sent)\b`)},
}

// parts tells for each number what it is the size of. What stands behind a number, if it tells, is not read again
// before the next.
func (w *wording) parts() []part {
	all := make([]part, len(w.figures))
	from := 0
	for i, f := range w.figures {
		end := len(w.text)
		if i+1 < len(w.figures) {
			end = w.figures[i+1].at
		}
		right, _, _ := strings.Cut(w.text[f.at+1:end], "|")
		left := w.text[from:f.at]
		left = left[strings.LastIndexByte(left, '|')+1:]
		role, taken := partAfter(right)
		if role == noPart {
			role = partBefore(left)
		}
		all[i], from = role, f.at+1+taken
	}
	return all
}

// partAfter is what the words after a number tell, and how many bytes of them.
func partAfter(right string) (role part, taken int) {
	for _, cue := range cuesAfter {
		if m := cue.words.FindStringIndex(right); m != nil {
			return cue.part, m[1]
		}
	}
	return noPart, 0
}

// partBefore is what the words before a number tell.
func partBefore(left string) part {
	last := noPart
	for _, m := range cuesBefore.FindAllStringSubmatchIndex(left, -1) {
		if cue := groupOf(m); cue != inputPart || last != limitPart {
			last = cue
		}
	}
	return last
}

// groupOf is the meaning of the group that took part in a match of cuesBefore.
func groupOf(m []int) part {
	for g, p := range [...]part{limitPart, outputPart, askedPart, wholePart, inputPart, ignoredPart, limitPart} {
		if m[2+2*g] >= 0 {
			return p
		}
	}
	return noPart
}

// sum is what an answer says of sizes, in tokens; 0 is unknown.
type sum struct {
	limit  int // of what is allowed
	input  int // of the request without its answer
	output int // that is asked for
	whole  int // of the request, with what it asks for where the provider counts that in
	asked  int // what of whole was said to be requested
	bound  int // that the request is said to have at least
}

// sum makes the sizes of what the words tell of each number.
func (w *wording) sum() sum {
	var s sum
	if w.readRelation(&s) {
		return s
	}
	var limits, inputs, rest []int // indices, values, indices
	for i, role := range w.parts() {
		value := w.figures[i].value
		if role != limitPart && strings.HasSuffix(w.text[:w.figures[i].at], " at least ") {
			s.bound = max(s.bound, value)
			continue
		}
		if value <= 0 {
			continue
		}
		switch role {
		case limitPart:
			limits = append(limits, i)
		case inputPart:
			inputs = append(inputs, value)
		case outputPart:
			s.output = max(s.output, value)
		case askedPart:
			s.asked, s.whole = max(s.asked, value), max(s.whole, value)
		case wholePart:
			s.whole = max(s.whole, value)
		case noPart:
			rest = append(rest, i)
		}
	}
	s.addInputs(inputs, combined.MatchString(w.text))
	s.takeLimit(w, limits)
	s.guessWhole(w, rest)
	return s
}

// Sizes that are told as a relation. A limit of one as the lower end of a range is no size.
var (
	sumAbove = pattern.Of(`# \+ # >=? #`)
	above    = pattern.Of(`# (?:tokens? )?>=? #`)
	interval = pattern.Of(`\[ # , #|\bbetween # and #`)
)

// readRelation reads a relation, if there is one.
func (w *wording) readRelation(s *sum) bool {
	if at := sumAbove.FindStringIndex(w.text); at != nil {
		i := strings.Count(w.text[:at[0]], "#")
		in, out, most := w.figures[i].value, w.figures[i+1].value, w.figures[i+2].value
		if in+out > most && most > 0 {
			*s = sum{input: in, output: out, whole: in + out, limit: most}
			return true
		}
	}
	for _, relation := range []*pattern.Pattern{above, interval} {
		at := relation.FindStringIndex(w.text)
		if at == nil {
			continue
		}
		i := strings.Count(w.text[:at[0]], "#")
		first, second := w.figures[i].value, w.figures[i+1].value
		if relation == interval && first <= 1 && second > 1 {
			s.limit = second
			return true
		}
		if relation == above && first > second && second > 0 {
			s.whole, s.limit = first, second
			return true
		}
	}
	return false
}

// combined says that sizes are meant together.
var combined = pattern.Of(`\b(?:combined|together|sum of)\b`)

// addInputs takes the parts of the input: all of them if they make up the whole together, else the largest, as some
// are told twice.
func (s *sum) addInputs(inputs []int, all bool) {
	together := 0
	for _, v := range inputs {
		together += v
		s.input = max(s.input, v)
	}
	if all || s.whole > 0 && (together == s.whole || together+s.output == s.whole) {
		s.input = together
	}
	if s.input > 0 && s.output > 0 {
		s.whole = max(s.whole, s.input+s.output)
	}
	s.whole = max(s.whole, s.input)
}

// takeLimit takes of several limits the one that the request breaks: the largest below it.
func (s *sum) takeLimit(w *wording, limits []int) {
	least := 0
	for _, i := range limits {
		value := w.figures[i].value
		if s.whole == 0 && w.looksLikeCode(i) {
			continue
		}
		if value < s.whole {
			s.limit = max(s.limit, value)
		}
		if least == 0 || value < least {
			least = value
		}
	}
	if s.limit == 0 {
		s.limit = least
	}
}

// guessWhole uses that a request which is too long is larger than what is allowed.
func (s *sum) guessWhole(w *wording, rest []int) {
	for _, i := range rest {
		if value := w.figures[i].value; s.whole == 0 && s.limit > 0 && value > s.limit {
			s.whole = value
		}
	}
}

// nearToken stands right before a number that is one of tokens.
var nearToken = pattern.Of(`\b(?:tokens?|length|len|window|size|ctx|context(?: limit)?|` + superlative + `)(?: \w+)?(?: ,)? $`)

// looksLikeCode reports that a number in brackets may be an error's code rather than a size.
func (w *wording) looksLikeCode(i int) bool {
	f := w.figures[i]
	return f.lonely && !nearRound(f.value) && !nearToken.MatchString(w.text[:f.at]) &&
		!strings.HasPrefix(w.text[f.at:], "# token")
}

// nearRound reports that a number is, but for one or two, one of those that windows are made of.
func nearRound(n int) bool { return (n+2)%256 <= 4 || (n+2)%1000 <= 4 }
