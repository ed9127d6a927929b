package window

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"epitome/internal/unit"
)

// Cause is why a provider refused a request.
type Cause string

// The causes that another form of the request may cure, and NotSize for all others.
const (
	NotSize   Cause = ""
	Output    Cause = "output"    // the input fits the window, but not together with the output that was asked for
	Rate      Cause = "rate"      // the request alone has more tokens than are granted for a time: waiting never helps
	Bytes     Cause = "bytes"     // the body, or one text in it, has too many bytes or characters
	Input     Cause = "input"     // the input is longer than the window
	Malformed Cause = "malformed" // the request was rewritten, and is refused for anything but its size
	Thinking  Cause = "thinking"  // a thinking block is bound to another conversation
	Pictures  Cause = "pictures"  // there are too many pictures, or one is too large
	Pairs     Cause = "pairs"     // a call has no result, or a result no call
)

// Sent is what is known about a refused request; 0 is unknown.
type Sent struct {
	Tokens    int         // of the input, by our count
	MaxOutput int         // that it asks for
	Window    int         // of its model, as believed
	Rewritten bool        // it is not as the client wrote it
	Unpaired  func() bool // it has a call without result or a result without call; nil: it has none
}

// Refusal is what an answer says about the size of its request, in tokens; 0 is not stated.
type Refusal struct {
	Cause     Cause
	Limit     int // for Input and Output: the window, from Least to Most
	Requested int // the request by the provider's count, with its output if that was counted
	Room      int // for Output: how much output may be asked for
}

// Below reports whether a refusal states a window smaller than the one believed, which may be unknown.
func (r Refusal) Below(believed int) bool {
	return r.Limit > 0 && (believed == 0 || r.Limit < believed)
}

// Shorter returns how many tokens the next request may have, by our count, if one with so many tokens was refused: the
// room that the refusal states, and in any case a tenth less than before. Where it states none, half.
func (r Refusal) Shorter(tokens, maxOutput int) int {
	if r.Limit <= 0 {
		return tokens / 2
	}
	room := Usable(r.Limit, maxOutput)
	if r.Cause == Input && r.Requested > tokens { // the provider's tokens are smaller than ours
		room = int(int64(room) * int64(tokens) / int64(r.Requested))
	}
	return min(room, tokens*9/10)
}

// A window outside of these bounds is taken for a mistake.
const (
	Least = 1_024
	Most  = 10_000_000
)

// MayRefuse reports whether an answer with the status may refuse its request for its size. Streams do so with 200.
func MayRefuse(status int) bool {
	return status < 300 || status >= 500 && status != 529 || slices.Contains([]int{400, 413, 422, 429}, status)
}

// TooLong reports whether an answer refuses its request for its size, when nothing is known about the request.
func TooLong(status int, body []byte) bool {
	return ReadRefusal(status, "", body, Sent{}).Cause != NotSize
}

// ReadRefusal reads a bounded part of an answer, whose body is without content coding. It knows no provider; in doubt
// the cause is NotSize, or Malformed if the request was rewritten and the status may blame what it says.
func ReadRefusal(status int, contentType string, body []byte, s Sent) (r Refusal) {
	if MayRefuse(status) {
		r = readSize(status, contentType, body, s)
	}
	mayBlame := status >= 400 && status < 500 && !slices.Contains([]int{401, 403, 429}, status)
	if r.Cause == NotSize && s.Rewritten && mayBlame {
		r.Cause = Malformed
	}
	return r
}

// readSize reads what an answer says against the size of its request.
func readSize(status int, contentType string, body []byte, s Sent) (r Refusal) {
	const most = 1 << 20 // bytes: some providers repeat the request before the error
	reply := readReply(status >= 300, contentType, strings.TrimSpace(string(body[:min(len(body), most)])))
	text := reply.text.String()
	if text == "" {
		return reply.readSilence(status, s)
	}
	n := readSizes(text)
	r.Cause = judge(status, text, n, s)
	if r.Cause == Input || r.Cause == Rate {
		r.Requested = n.whole
	}
	if r.Cause != Input {
		return r
	}
	if n.limit >= Least && n.limit <= Most {
		r.Limit = n.limit
	}
	room := n.room(text, s)
	if room > 0 {
		r.Cause, r.Room = Output, room
	}
	return r
}

var (
	//go:embed words.txt
	wordsText string
	//go:embed forms.txt
	formsText string

	// words are expressions for what a text may say, by its name in words.txt.
	words = lazily(wordsText, `\b(?:%s)(?:\b|$)`)
	// forms are the expressions of forms.txt, by their names.
	forms = lazily(formsText, "%s")
)

// lazily returns a function that returns the expressions of a text, compiled at the first call: the start of the
// program does not wait for so many, which most runs never need.
func lazily(text, form string) func() map[string]*regexp.Regexp {
	return sync.OnceValue(func() map[string]*regexp.Regexp {
		all := map[string]*regexp.Regexp{}
		for name, list := range unit.Expressions(text) {
			all[name] = regexp.MustCompile(fmt.Sprintf(form, list))
		}
		return all
	})
}

func says(text, name string) bool { return words()[name].MatchString(text) }

// judge returns the cause of a refusal. Refusals for other reasons may speak of sizes too: these are asked for first, so
// the order of the cases matters. words.txt says what the names in quotes stand for.
func judge(status int, text string, n sizes, s Sent) Cause {
	const leastTokens = 512 // what is smaller is not about a conversation
	has := func(name string) bool { return says(text, name) }
	tokens := strings.Contains(text, "token")
	// The request is larger than a limit, which is one of the window or of tokens.
	isProven := n.whole > n.limit && (has("window") || tokens || has("size"))
	isSmall := 0 < n.largest && n.largest < leastTokens && !tokens
	onlyOutput := has("output") && !has("input")
	cause, isOther := otherCause(status, text, n, isProven)
	switch {
	case isOther:
		return cause
	// "max_tokens must be at least 1, got -500"; else the client itself asked for less than nothing.
	case has("negative") && s.MaxOutput >= 0:
		return Input
	// "request entity too large".
	case has("body") && !tokens:
		return Bytes
	// "maximum context length is 128000 tokens, but the messages have 130000"; "prompt is too long".
	case isProven && !onlyOutput, !isSmall && saysTooLong(text, onlyOutput):
		return Input
	case status == 413:
		return Bytes
	// "an assistant message with tool_calls must be followed by tool messages".
	case (status < 300 || status == 400 || status == 422) && has("pairs") && s.Unpaired != nil && s.Unpaired():
		return Pairs
	// "messages.3.content.0: unexpected value": what was edited may be at fault.
	case s.Rewritten && has("parts"):
		return Malformed
	}
	return NotSize
}

// otherCause returns the cause of a refusal that is about something else than the length of a conversation, whatever
// sizes it speaks of; false if it may be about that length. isProven says that its numbers show that it is.
func otherCause(status int, text string, n sizes, isProven bool) (Cause, bool) {
	const leastCharacters = 100_000
	has := func(name string) bool { return says(text, name) }
	window := has("window")
	mayBeOther := !isProven && !window
	switch {
	case strings.Contains(text, "bound to a different conversation"):
		return Thinking, true
	// "string too long, expected at most 10485760 characters"; of a tool's schema, no compaction helps.
	case has("string") && n.largest >= leastCharacters && !strings.Contains(text, "tool"):
		return Bytes, true
	// "tokens per minute: limit 30000, requested 45000": the request alone is more than what is granted.
	case has("rate") && n.whole > n.limit && !has("spent") && !has("foreign"):
		return Rate, true
	// "your credit balance is too low"; "rate limit reached, used 29000, requested 2000".
	case has("foreign"), has("rate"):
		return NotSize, true
	// "too many images in the request".
	case mayBeOther && status != 429 && has("pictures") && has("excess"):
		return Pictures, true
	// "the audio file is too large".
	case mayBeOther && !has("long") && has("other"):
		return NotSize, true
	// "the engine is overloaded".
	case status == 429 && !window && !has("input"):
		return NotSize, true
	}
	return NotSize, false
}

// saysTooLong reports whether a sentence says that the conversation is too long. A text that speaks of the output alone
// is mostly about the model's own limit.
func saysTooLong(text string, onlyOutput bool) bool {
	for sentence := range strings.SplitSeq(text, "|") {
		isMore, window := says(sentence, "excess"), says(sentence, "window")
		isTooLong := isMore && (window || says(sentence, "size")) || says(sentence, "long") ||
			forms()["chinese"].MatchString(sentence)
		if onlyOutput {
			isTooLong = isMore && window && !strings.Contains(sentence, "maxout")
		}
		if isTooLong {
			return true
		}
	}
	return false
}

// sizes are what the numbers of a text say, in tokens; 0 is unknown.
type sizes struct {
	limit, input, output int
	whole                int // the request, with its output where that is counted
	largest              int // of all numbers, whatever they count
}

// readSizes reads the numbers of a text. A request that is too long is larger than what is allowed: of several numbers
// beside a word for a limit, the smallest is the limit, and of the others the largest is the request, or its input.
func readSizes(text string) (n sizes) {
	var others, limits []int
	from := 0 // behind the last number
	for _, at := range forms()["number"].FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) string { return text[max(at[2*i], 0):max(at[2*i+1], 0)] }
		value := valueOf(group(1), group(2))
		isOther := group(3) != "" || value <= 1 || value > 100*Most
		n.largest = max(n.largest, value)
		before, behind := text[from:at[2]], text[at[1]:min(at[1]+64, len(text))]
		if value > 1 { // and not as in [1, 6000]
			from = at[1]
		}
		if isOther {
			continue
		}
		place := before[strings.LastIndexByte(before, '|')+1:] + "#" + behind
		switch {
		case forms()["outputAround"].MatchString(place):
			n.output = max(n.output, value)
		case forms()["limitAround"].MatchString(place):
			limits = append(limits, value)
		default:
			others = append(others, value)
		}
	}
	if len(limits) == 0 {
		return n
	}
	n.limit = slices.Min(limits)
	others = slices.DeleteFunc(append(others, limits...), func(value int) bool { return value == n.limit })
	n.input = slices.Max(append(others, 0))
	n.whole = n.input + n.output
	if n.input > n.limit && len(others) > 1 { // its parts are told, too
		n.input, n.whole = max(n.input-n.output, 0), n.input
	}
	return n
}

// valueOf reads a number with commas, and k or m behind it.
func valueOf(digits, unit string) int {
	value, _ := strconv.Atoi(strings.ReplaceAll(digits, ",", ""))
	return value * map[string]int{"": 1, "k": 1_000, "m": 1_000_000}[unit]
}

// room is how much output fits behind the input; 0 or less if none does, or if that is not told.
func (n sizes) room(text string, s Sent) int {
	const margin = 64
	in := n.input
	if strings.Contains(text, "at least") || strings.Contains(text, " about ") {
		in = max(in+in/64, s.Tokens+s.Tokens/20) // it may count more than we do
	}
	room := n.limit - in - margin
	if n.input == 0 || n.output == 0 && 0 < s.MaxOutput && s.MaxOutput <= room {
		return 0 // what was asked for fits: something else is the matter
	}
	return room
}
