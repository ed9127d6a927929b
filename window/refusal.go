package window

import (
	"regexp"
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
	a := readAnswer(status >= 300, contentType, strings.TrimSpace(string(body)))
	text := a.text.String()
	if text == "" {
		return a.readSilence(status, s)
	}
	n := readSizes(text)
	switch r.Cause = judge(status, text, n, s); r.Cause {
	case Rate:
		r.Requested = n.whole
	case Input:
		if r.Requested = n.whole; n.limit >= Least && n.limit <= Most {
			r.Limit = n.limit
		}
		if room := n.room(text, s); room > 0 {
			r.Cause, r.Room = Output, room
		}
	}
	return r
}

// phrases compiles a list of what a text may say, as addText leaves it: expressions for whole words, "_" is a space.
func phrases(list string) *regexp.Regexp {
	ways := strings.ReplaceAll(strings.Join(strings.Fields(list), "|"), "_", " ")
	return regexp.MustCompile(`\b(?:` + ways + `)(?:\b|$)`)
}

// What refusals say. Texts with foreignWords are not about the size of a conversation, whatever else they say; those
// with otherWords are not unless numbers prove it. windowWords are said about nothing else than the size.
var (
	foreignWords = phrases(`token_(?:has_)?expired api_(?:key|token) quotas? billing credits? balance afford flagged
		budget_exceeded over_budget policy guardrail top_(?:p|k|logprobs) budget_tokens stop schema headers? timeouts?
		(?:string|array|list|integer|decimal|number)s?_(?:too|above|below|should|must) deadline unexpected_tokens?`)
	rateWords = phrases(`rate_?limit\w* rates?_exceeded too_many_requests [rt]p[smhd] per_(?:sec|min)
		(?:second|minute|hour|day|month)s?`)
	aloneWords = phrases(`request_too must_be_reduced never_succeed`)
	spentWords = phrases(`used already last past recent(?:ly)?`)
	otherWords = phrases(`images? videos? audio files? attachments? documents? organi[sz]ation wait overload\w* queued?
		slow_down retry_after try_again_in too_(?:short|few) minimum`)

	windowWords = phrases(`context_(?:length|window|size|limit|len|capacity|full|overflow) ctx
		max(?:imum)?_(?:model|sequence|prompt|input)_len(?:gth)?`)
	sizeWords = phrases(`max\w*_(?:\w+_){0,3}(?:tokens?|length) (?:input|prompt)_(?:\w+_)?tokens?
		(?:input|prompt|message|conversation|sequence|model|token)s?_(?:tokens?_|max\w*_)?(?:length|len|limit|count)s?
		tokens?_(?:num|budget|window|in_(?:the_)?(?:request|prompt))`)
	excessWords = phrases(`exceed\w* exhaust\w* overflow\w* full too_(?:long|lengthy|large|big|many) range_of limit_reached
		at_most (?:longer|larger|bigger|greater|more|fewer|less)_than
		(?:above|over|beyond)_(?:(?:the|its|models?)_)*(?:\d|limit|max|context)\w*`)
	longWords = phrases(`(?:prompt|input|context|message|conversation|dialogue|chat|history|sequence|text|request)s?` +
		`(?:_\w+){0,3}_too_(?:long|lengthy|large|big) (?:reduce|shorten|trim|compress)_(?:the_|your_)?` +
		`(?:(?:length|size|number_of_tokens)_(?:of|in)_)?(?:the_|your_)?(?:input_|chat_)?` +
		`(?:prompt|input|message|conversation|context|history|text)s?`)
	chineseWords  = regexp.MustCompile(`(?:输入|提示|消息|对话|内容|文本|长度|上下文|tokens?)[^|]*(?:超|过长|太长|大于)`)
	longTextWords = phrases(`string_(?:value_)?(?:length|too_long)`)
	bodyWords     = phrases(`(?:entity|payload|body|content|post|request)(?:_size)?(?:_is)?_(?:too_large|too_big|larger)
		(?:size|bytes|mb)\b[^|]*_exceed\w* (?:body|payload)\b[^|]*_(?:bigger|larger)_than`)

	inputWords    = phrases(`prompts? inputs? messages? conversation history text`)
	outputWords   = phrases(`maxout completions? outputs? produces`)
	negativeWords = regexp.MustCompile(`maxout[^|]* -\d`) // less than nothing of the window is left for the output
	partsWords    = phrases(`tool function roles? thinking messages? contents? conversation blocks? items? encrypted`)
)

// judge is the cause that a text tells. Refusals for other reasons may speak of sizes too: these are asked for first.
func judge(status int, text string, n sizes, s Sent) Cause {
	const leastTokens, leastCharacters = 512, 100_000 // what is smaller is not about a conversation
	says := func(p *regexp.Regexp) bool { return p.MatchString(text) }
	inTokens, named := strings.Contains(text, "token"), says(windowWords)
	isAbove := n.limit > 0 && n.whole > n.limit
	proven := isAbove && (named || says(sizeWords) || inTokens && n.whole >= leastTokens)
	onlyOutput := says(outputWords) && !says(inputWords)
	switch {
	case strings.Contains(text, "bound to a different conversation"):
		return Thinking
	case says(longTextWords) && n.largest >= leastCharacters && !strings.Contains(text, "tool"):
		return Bytes
	case says(foreignWords):
		return NotSize
	case says(rateWords):
		if inTokens && isAbove && !says(spentWords) || n.whole == 0 && says(aloneWords) {
			return Rate
		}
		return NotSize
	case !proven && !named && says(otherWords), status == 429 && !named && !says(inputWords):
		return NotSize
	case says(negativeWords) && s.MaxOutput >= 0:
		return Input
	case says(bodyWords) && !inTokens && !named:
		return Bytes
	}
	for sentence := range strings.SplitSeq(text, "|") {
		isMore, window := excessWords.MatchString(sentence), windowWords.MatchString(sentence)
		isLong := isMore && (window || sizeWords.MatchString(sentence)) || longWords.MatchString(sentence) ||
			chineseWords.MatchString(sentence)
		if onlyOutput { // mostly the model's own limit
			isLong = isMore && window && !strings.Contains(sentence, "maxout")
		}
		if isLong && (n.largest == 0 || n.largest >= leastTokens || inTokens || named) {
			return Input
		}
	}
	switch {
	case onlyOutput && named && n.output > n.limit && n.room(text, s) > 0, !onlyOutput && proven:
		return Input
	case !onlyOutput && status == 413:
		return Bytes
	case s.Rewritten && says(partsWords):
		return Malformed
	}
	return NotSize
}
