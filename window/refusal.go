package window

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Cause is why a provider refused a request.
type Cause int

// The causes that another form of the request may cure, and NotSize for all others.
const (
	NotSize   Cause = iota
	Output          // the input fits the window, but not together with the output that was asked for
	Rate            // the request alone has more tokens than are granted for a time: waiting never helps
	Bytes           // the body, or one text in it, has too many bytes or characters
	Input           // the input is longer than the window
	Malformed       // the request is not well formed, and was rewritten
	Thinking        // a thinking block is bound to another conversation
)

func (c Cause) String() string {
	return [...]string{"not ours", "output", "rate", "bytes", "input", "malformed", "thinking"}[c]
}

// Sent is what is known about a refused request; 0 is unknown.
type Sent struct {
	Tokens    int  // of the input, by our count
	MaxOutput int  // that it asks for
	Window    int  // of its model, as believed
	Rewritten bool // it is not as the client wrote it
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

// A window outside of these bounds is taken for a mistake.
const (
	Least = 1_024
	Most  = 10_000_000
)

// MayRefuse reports whether an answer with the status may refuse its request for its size. Streams and some proxies do
// so with status 200, some servers with one of their own failures.
func MayRefuse(status int) bool {
	return status < 300 || status >= 500 && status != 529 || strings.Contains("400 413 422 429", strconv.Itoa(status))
}

// TooLong reports whether an answer refuses its request for its size, when nothing is known about the request.
func TooLong(status int, body []byte) bool {
	return ReadRefusal(status, "", body, Sent{}).Cause != NotSize
}

// ReadRefusal reads a bounded part of an answer, whose body is without content coding. It knows no provider; in doubt
// the cause is NotSize.
func ReadRefusal(status int, contentType string, body []byte, s Sent) (r Refusal) {
	if !MayRefuse(status) {
		return r
	}
	const most = 1 << 20 // bytes: some providers repeat the request before the error
	a := readAnswer(status >= 300, contentType, strings.TrimSpace(string(body[:min(len(body), most)])))
	text := a.text.String()
	if text == "" {
		return a.readSilence(status, s)
	}
	n := readSizes(text)
	if r.Cause = judge(status, text, n, s); r.Cause == Input || r.Cause == Rate {
		r.Requested = n.whole
	}
	if r.Cause == Input && n.limit >= Least && n.limit <= Most {
		r.Limit = n.limit
	}
	if room := n.room(text, s); r.Cause == Input && room > 0 {
		r.Cause, r.Room = Output, room
	}
	return r
}

//go:embed words.txt
var wordsText string

// words are expressions for what a text may say, by its name in words.txt.
var words = func() map[string]*regexp.Regexp {
	lists, all := map[string]string{}, map[string]*regexp.Regexp{}
	for line := range strings.Lines(wordsText) {
		if name, list, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			lists[name] += "|" + strings.NewReplacer(" ", "|", "_", " ").Replace(list)
			all[name] = regexp.MustCompile(`\b(?:` + lists[name][1:] + `)(?:\b|$)`)
		}
	}
	return all
}()

var chinese = regexp.MustCompile(`(?:输入|提示|消息|对话|内容|文本|长度|上下文|tokens?)[^|]*(?:超|过长|太长|大于)`)

func says(text, what string) bool { return words[what].MatchString(text) }

// judge is the cause that a text tells. Refusals for other reasons may speak of sizes too: these are asked for first.
func judge(status int, text string, n sizes, s Sent) Cause {
	const leastTokens, leastCharacters = 512, 100_000 // what is smaller is not about a conversation
	inTokens, named := strings.Contains(text, "token"), says(text, "window")
	isAbove := n.limit > 0 && n.whole > n.limit
	proven := isAbove && (named || says(text, "size") || inTokens && n.whole >= leastTokens)
	onlyOutput := says(text, "output") && !says(text, "input")
	switch {
	case strings.Contains(text, "bound to a different conversation"):
		return Thinking
	case says(text, "string") && n.largest >= leastCharacters && !strings.Contains(text, "tool"):
		return Bytes
	case says(text, "foreign"):
		return NotSize
	case says(text, "rate") && (inTokens && isAbove && !says(text, "spent") || n.whole == 0 && says(text, "alone")):
		return Rate
	case says(text, "rate"), !proven && !named && says(text, "other"), status == 429 && !named && !says(text, "input"):
		return NotSize
	case says(text, "negative") && s.MaxOutput >= 0:
		return Input
	case says(text, "body") && !inTokens && !named:
		return Bytes
	case !onlyOutput && proven:
		return Input
	}
	for sentence := range strings.SplitSeq(text, "|") {
		isMore, window := says(sentence, "excess"), says(sentence, "window")
		isLong := isMore && (window || says(sentence, "size")) || says(sentence, "long") || chinese.MatchString(sentence)
		if onlyOutput { // mostly the model's own limit
			isLong = isMore && window && !strings.Contains(sentence, "maxout")
		}
		if isLong && (n.largest == 0 || n.largest >= leastTokens || inTokens || named) {
			return Input
		}
	}
	switch {
	case !onlyOutput && status == 413:
		return Bytes
	case s.Rewritten && says(text, "parts"):
		return Malformed
	}
	return NotSize
}

// sizes are what the numbers of a text say, in tokens; 0 is unknown.
type sizes struct {
	limit, input, output int
	whole                int // the request, with its output where that is counted
	largest              int // of all numbers, whatever they count
}

// number has groups for the digits, for k or m, and for what makes it a number of something else.
var number = regexp.MustCompile(`(?:^|[^a-z0-9.$@#-])(-?\d{1,3}(?:,\d{3})+|-?\d+)(?:(k|m)\b)?([a-z0-9%]|[.-]\d|` +
	`[ -](?:[kmgt]?i?b|bytes?|char\w*|px|pixels?|m?s|(?:sec|min)\w*|hours?|pages?|images?|files?|requests?|usd)\b)?`)

// What stands around a number, which is "#" here.
var (
	limitAround = regexp.MustCompile(`(?:\b(?:max\w*|largest|limit\w*|ceiling|cap|capacity|windows?|ctx|range|` +
		`at most|up to|only|context (?:length|size|limit|of|is)|allow\w*|accept\w*|support\w*|exceed\w*|surpass\w*|` +
		`beyond|above|over|under|below|within|fit in|full|than)\b|[<>]|超过|上限|最大).*#(?:[^ ]| [^+]|$)` +
		`|#[ -]?(?:tokens?)? ?(?:(?:input|prompt|context|model|token) )?` +
		`(?:max(?:imum)?|limit|ceiling|cap|windows?|context|allowed|available|supported)\b`)
	outputAround = regexp.MustCompile(
		`(?:\b(?:maxout|completion|outputs?)(?: is too large)?[^a-z]*(?:of |is |to )?\(?|\+ )#` +
			`|#[ -]?(?:tokens?)?(?: of| in| for| as)?(?: the| your)? ?(?:maxout|completions?|outputs?|response|new)\b`)
)

// readSizes reads the numbers of a text. A request that is too long is larger than what is allowed: of several numbers
// beside a word for a limit, the smallest is the limit, and of the others the largest is the request, or its input.
func readSizes(text string) (n sizes) {
	const around = 64 // bytes behind a number that may say what it is
	var others, limits []int
	from := 0
	for _, at := range number.FindAllStringSubmatchIndex(text, -1) {
		left, right := text[from:at[2]], text[at[1]:min(at[1]+around, len(text))]
		value, _ := strconv.Atoi(strings.ReplaceAll(text[at[2]:at[3]], ",", ""))
		if at[4] >= 0 {
			value *= map[byte]int{'k': 1_000, 'm': 1_000_000}[text[at[4]]]
		}
		n.largest = max(n.largest, value)
		if value <= 1 || value > 100*Most { // as in [1, 6000]
			continue
		}
		from = at[1]
		switch place := left[strings.LastIndexByte(left, '|')+1:] + "#" + right; {
		case at[6] >= 0:
		case outputAround.MatchString(place):
			n.output = max(n.output, value)
		case limitAround.MatchString(place):
			limits = append(limits, value)
		default:
			others = append(others, value)
		}
	}
	if len(limits) == 0 {
		return n
	}
	n.limit = slices.Min(limits)
	isLimit := func(value int) bool { return value == n.limit }
	others = slices.DeleteFunc(append(others, limits...), isLimit)
	n.input = slices.Max(append(others, 0))
	n.whole = n.input + n.output
	if n.input > n.limit && len(others) > 1 { // its parts are told, too
		n.input, n.whole = max(n.input-n.output, 0), n.input
	}
	return n
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
