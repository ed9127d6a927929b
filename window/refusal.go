package window

import (
	"bytes"
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
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
	Malformed       // the request was rewritten, and is refused for anything but its size
	Thinking        // a thinking block is bound to another conversation
	Pictures        // there are too many pictures, or one is too large
	Pairs           // a call has no result, or a result no call
)

func (c Cause) String() string {
	return [...]string{"not ours", "output", "rate", "bytes", "input", "malformed", "thinking", "pictures", "pairs"}[c]
}

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
	return status < 300 || status >= 500 && status != 529 || strings.Contains("400 413 422 429", strconv.Itoa(status))
}

// TooLong reports whether an answer refuses its request for its size, when nothing is known about the request.
func TooLong(status int, body []byte) bool {
	return ReadRefusal(status, "", body, Sent{}).Cause != NotSize
}

// HasSigns reports whether an answer with a status of success may refuse its request all the same, in a fraction of the
// time of ReadRefusal: it is no JSON object, or has a word without which no object is a refusal.
func HasSigns(body []byte) bool {
	text := string(bytes.ToLower(body))
	has := func(word string) bool { return strings.Contains(text, word) }
	return !strings.HasPrefix(strings.TrimSpace(text), "{") ||
		slices.ContainsFunc([]string{"error", "exception", "failed", "length", "max_", "exceeded"}, has)
}

// ReadRefusal reads a bounded part of an answer, whose body is without content coding. It knows no provider; in doubt
// the cause is NotSize, or Malformed if the request was rewritten and the status may blame what it says.
func ReadRefusal(status int, contentType string, body []byte, s Sent) (r Refusal) {
	if MayRefuse(status) {
		r = readSize(status, contentType, body, s)
	}
	blames := status >= 400 && status < 500 && !strings.Contains("401 403 429", strconv.Itoa(status))
	if r.Cause == NotSize && s.Rewritten && blames {
		r.Cause = Malformed
	}
	return r
}

// readSize reads what an answer says against the size of its request.
func readSize(status int, contentType string, body []byte, s Sent) (r Refusal) {
	const most = 1 << 20 // bytes: some providers repeat the request before the error
	a := readReply(status >= 300, contentType, strings.TrimSpace(string(body[:min(len(body), most)])))
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

// lazily returns a function that returns an expression, compiled at the first call: the start of the program does not
// wait for the many expressions of this package, which most runs never need.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

//go:embed words.txt
var wordsText string

// words are expressions for what a text may say, by its name in words.txt. They are compiled for the first refusal.
var words = sync.OnceValue(func() map[string]*regexp.Regexp {
	lists, all := map[string]string{}, map[string]*regexp.Regexp{}
	for line := range strings.Lines(wordsText) {
		if name, list, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			lists[name] += "|" + strings.NewReplacer(" ", "|", "_", " ").Replace(list)
			all[name] = regexp.MustCompile(`\b(?:` + lists[name][1:] + `)(?:\b|$)`)
		}
	}
	return all
})

var chinese = lazily(`(?:输入|提示|消息|对话|内容|文本|长度|上下文|tokens?)[^|]*(?:超|过长|太长|大于)`)

func says(text, what string) bool { return words()[what].MatchString(text) }

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
	case !proven && !named && status != 429 && !says(text, "rate") && says(text, "pictures") && says(text, "excess"):
		return Pictures
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
		isLong := isMore && (window || says(sentence, "size")) || says(sentence, "long") ||
			chinese().MatchString(sentence)
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
	case s.Unpaired != nil && (status < 300 || status == 400 || status == 422) && says(text, "pairs") && s.Unpaired():
		return Pairs
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
var number = lazily(`(?:^|[^a-z0-9.$@#-])(-?\d{1,3}(?:,\d{3})+|-?\d+)(?:(k|m)\b)?([a-z0-9%]|[.-]\d|` +
	`[ -](?:[kmgt]?i?b|bytes?|char\w*|px|pixels?|m?s|(?:sec|min)\w*|hours?|pages?|images?|files?|requests?|usd)\b)?`)

// What stands around a number, which is "#" here.
var (
	limitAround = lazily(`(?:\b(?:max\w*|largest|limit\w*|ceiling|cap|capacity|windows?|ctx|range|` +
		`at most|up to|only|context (?:length|size|limit|of|is)|allow\w*|accept\w*|support\w*|exceed\w*|surpass\w*|` +
		`beyond|above|over|under|below|within|fit in|full|than)\b|[<>]|超过|上限|最大).*#(?:[^ ]| [^+]|$)` +
		`|#[ -]?(?:tokens?)? ?(?:(?:input|prompt|context|model|token) )?` +
		`(?:max(?:imum)?|limit|ceiling|cap|windows?|context|allowed|available|supported)\b`)
	outputAround = lazily(`(?:\b(?:maxout|completion|outputs?)(?: is too large)?[^a-z]*(?:of |is |to )?\(?` +
		`|\+ )#|#[ -]?(?:tokens?)?(?: of| in| for| as)?(?: the| your)? ?` +
		`(?:maxout|completions?|outputs?|response|new)\b`)
)

// readSizes reads the numbers of a text. A request that is too long is larger than what is allowed: of several numbers
// beside a word for a limit, the smallest is the limit, and of the others the largest is the request, or its input.
func readSizes(text string) (n sizes) {
	var others, limits []int
	from := 0
	for _, at := range number().FindAllStringSubmatchIndex(text, -1) {
		left, right := text[from:at[2]], text[at[1]:min(at[1]+64, len(text))]
		value, _ := strconv.Atoi(strings.ReplaceAll(text[at[2]:at[3]], ",", ""))
		if at[4] >= 0 {
			value *= map[byte]int{'k': 1_000, 'm': 1_000_000}[text[at[4]]]
		}
		n.largest = max(n.largest, value)
		if value > 1 { // and not as in [1, 6000]
			from = at[1]
		}
		switch place := left[strings.LastIndexByte(left, '|')+1:] + "#" + right; {
		case at[6] >= 0, value <= 1, value > 100*Most:
		case outputAround().MatchString(place):
			n.output = max(n.output, value)
		case limitAround().MatchString(place):
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

const mostText = 8 << 10 // bytes of all texts

// reply is what a provider says where answers have their errors, in plain words, and how one without an error ended.
type reply struct {
	text     strings.Builder
	isStream bool
	isJSON   bool           // it has an object
	reason   string         // why it ended
	counts   map[string]int // of tokens, by their names in usage; the largest of each
}

// readReply reads an answer; if it failed, by its status, all of it is about an error.
func readReply(failed bool, contentType, body string) *reply {
	isStream := strings.Contains(contentType, "event-stream") || answer.IsStream([]byte(body[:min(len(body), 64)]))
	a := &reply{isStream: isStream, counts: map[string]int{}}
	if !isStream || strings.ContainsAny(body[:min(len(body), 1)], "{[<") {
		a.read(body, failed)
		return a
	}
	kind := ""
	for f := range answer.Fields([]byte(body)) {
		switch value := strings.TrimSpace(string(f.Value)); {
		case f.End:
			kind = ""
		case string(f.Name) == "event":
			kind = value
		case string(f.Name) == "data":
			a.read(value, failed || errorType().MatchString(kind))
		}
	}
	return a
}

// read reads an answer, or the data of an event.
func (a *reply) read(s string, failed bool) {
	switch {
	case strings.HasPrefix(s, "{"), strings.HasPrefix(s, "["):
		a.readObject(s, failed)
	case strings.HasPrefix(s, "<"):
		a.addText(title().FindString(s))
	case failed, strings.Contains(s[:min(len(s), 128)], "xception"):
		a.addText(s)
	}
}

// readObject reads an answer, or an event of one.
func (a *reply) readObject(raw string, failed bool) {
	v := gjson.Parse(raw)
	a.isJSON = a.isJSON || v.IsObject()
	response := v.Get("response") // so far, in an event of Responses
	if failed || !response.Exists() && errorType().MatchString(v.Get("type").Str+" "+v.Get("object").Str) {
		a.addErrors(raw)
		return
	}
	for _, part := range []gjson.Result{v, response} {
		if problem := part.Get("error"); problem.IsObject() || problem.Type == gjson.String {
			a.addErrors(`"error":` + problem.Raw)
		}
		a.addUsage(part.Get("usage"))
		a.addUsage(part.Get("message.usage"))
		for _, path := range []string{"stop_reason", "choices.0.finish_reason", "delta.stop_reason",
			"incomplete_details.reason"} {
			a.reason += part.Get(path).Str
		}
	}
}

// addUsage adds counts of tokens; of several the largest holds.
func (a *reply) addUsage(usage gjson.Result) {
	usage.ForEach(func(name, n gjson.Result) bool {
		a.counts[name.Str] = max(a.counts[name.Str], int(min(n.Int(), Most)))
		return true
	})
}

var (
	errorType = lazily(`(?i)(?:error|exception|failed)\b`) // of an event or an object
	title     = lazily(`<title>[^<]*`)
	member    = lazily(`"(\w{1,32})"\s*:[\s\[]*("(?:[^"\\]|\\.)*"|-?\d+)`)
	// Names of members in lower case and without "_".
	holdTexts = lazily(`^(?:(?:error|status|original)?(?:message|msg)|error(?:code|type|description)?|` +
		`details?|reason|title|raw|description|code|type|status|errcode|errors|err|fault|exception|cause)$`)
	holdSizes = lazily(`token|ctx|context|limit|max|length|window|requested|^got$`)
	// Where an answer repeats its request, which may itself speak of errors.
	echo = lazily(`"(?:input|messages|content|instructions|tools|body|request)"\s*:\s*[\[{"]` +
		`|input_value=|["'](?:input|messages|content)["'] ?:|messages=\[`)
)

// addErrors adds the texts and sizes of an error in JSON, wherever they are in it.
func (a *reply) addErrors(raw string) {
	for _, m := range member().FindAllStringSubmatch(echo().Split(raw, 2)[0], -1) {
		key, value := strings.ToLower(strings.ReplaceAll(m[1], "_", "")), gjson.Parse(m[2])
		switch {
		case a.text.Len() >= mostText:
			return
		case value.Type == gjson.String && holdTexts().MatchString(key):
			a.addText(value.Str)
		case value.Type == gjson.Number && holdSizes().MatchString(key):
			a.addText(m[1] + " " + m[2])
		}
	}
}

var (
	noise = lazily(`(?i)https?://\S+|\(parameter=[^)]*\)*|\brequest[ _-]?id\W+\S+` +
		`|\b(?:input validation error|invalid input)\b` +
		`|\([1-3]\d{3}\)$|^\W*(?:(?:http|error|status|code)\W*)*[45]\d\d\b`)
	caps = lazily(`(?i)\b(?:max_?tokens(?:_to_sample)?|maximum tokens (?:value|you requested)` +
		`|(?:max|num|n)_?(?:completion|output|new|response|gen(?:erated?)?|predict|sample)s?(?:_?tokens?` +
		`|_?len(?:gth)?)?)\b`)
	joints = lazily(`([a-z])([A-Z])|([a-zA-Z])-([a-zA-Z])`)
	signs  = strings.NewReplacer("_", " ", "`", "", `"`, "", "'", "", "*", "", "~", "", "≤", "<=", "≥", ">=",
		"\n", " | ", ". ", " | ", "? ", " | ", "! ", " | ", "; ", " | ", "。", " | ")
)

// addText adds a text in lower case, without quotes, addresses and repeated requests. Sentences end with "|", names
// from code are taken apart, and a field that asks for output ("max_tokens") is maxout.
func (a *reply) addText(s string) {
	s = echo().Split(strings.ReplaceAll(s[:min(len(s), mostText)], `\`, ""), 2)[0]
	s = joints().ReplaceAllString(caps().ReplaceAllString(noise().ReplaceAllString(s, " "), "maxout"), "$1$3 $2$4")
	if words := strings.Fields(signs.Replace(strings.ToLower(s))); len(words) > 0 {
		a.text.WriteString(strings.Join(words, " ") + " | ")
	}
}

// readSilence is what an answer without any error says about the size of its request.
func (a *reply) readSilence(status int, s Sent) Refusal {
	c := a.counts
	used := c["prompt_tokens"] + c["input_tokens"] + c["cache_read_input_tokens"] + c["cache_creation_input_tokens"]
	generated := max(c["completion_tokens"], c["output_tokens"], c["total_tokens"]-used)
	isFull := s.Window > 0 && max(s.Tokens, used) > s.Window/100*85
	switch {
	case status == 413:
		return Refusal{Cause: Bytes}
	case isFull && !a.isJSON && (status == 400 || status < 300 && a.isStream): // it says nothing at all
		return Refusal{Cause: Input}
	case status >= 300 || used == 0 || generated >= 16: // it failed otherwise, or answered more than an empty message
	case a.reason == "model_context_window_exceeded",
		a.reason == "max_output_tokens" && (generated == 0 || generated < s.MaxOutput),
		isFull && generated == 0 && (a.reason == "length" || a.reason == "max_tokens"):
		return Refusal{Cause: Input, Requested: used}
	}
	return Refusal{}
}
