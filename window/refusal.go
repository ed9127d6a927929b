package window

import (
	"bytes"
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
	Malformed       // after a rewrite: what was sent is not well formed
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

// nearlyFull reports whether so many tokens fill more than 85 % of the window.
func (s Sent) nearlyFull(tokens int) bool { return s.Window > 0 && tokens > s.Window/100*85 }

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
	switch status {
	case 400, 413, 422, 429:
		return true
	}
	return status < 300 || status >= 500 && status != 529
}

// TooLong reports whether an answer refuses its request for its size, when nothing is known about the request.
func TooLong(status int, body []byte) bool {
	return ReadRefusal(status, "", body, Sent{}).Cause != NotSize
}

// ReadRefusal reads a bounded part of an answer, whose body is without content coding. It knows no provider; in doubt
// the cause is NotSize.
func ReadRefusal(status int, contentType string, body []byte, s Sent) Refusal {
	if !MayRefuse(status) {
		return Refusal{}
	}
	body = bytes.TrimSpace(body)
	c := complaint{failed: status >= 300}
	c.read(contentType, body)
	text := c.text.String()
	if text == "" {
		return c.readSilence(status, len(body) == 0, s)
	}
	m := measure(text)
	r := Refusal{Cause: judge(status, text, m, s)}
	switch r.Cause {
	case Input, Output:
		r.Cause, r.Requested = Input, m.whole
		if m.limit >= Least && m.limit <= Most {
			r.Limit = m.limit
		}
		if room := m.room(text, s); room > 0 {
			r.Cause, r.Room = Output, room
		}
	case Rate:
		r.Requested = m.whole
	}
	return r
}

// A number without a unit, or a length of characters, that is smaller is not about a conversation.
const (
	leastTokens     = 512
	leastCharacters = 100_000
)

// phrases compiles a list of what a text may say, as addText leaves it: expressions for whole words, "_" is a space.
func phrases(list string) *regexp.Regexp {
	ways := strings.ReplaceAll(strings.Join(strings.Fields(list), "|"), "_", " ")
	return regexp.MustCompile(`\b(?:` + ways + `)(?:\b|$)`)
}

// What refusals say. The first are not about the size of one conversation, whatever else is said; otherWords are not
// unless numbers prove it. windowWords are said about nothing else than the size.
var (
	accountWords = phrases(`api_key unauthori[sz]ed authenticat\w* forbidden permissions? credentials?
		token_(?:has_)?expired (?:access|auth|bearer|refresh|api)_token quotas? billing credits? balance payments?
		afford funds wallet allowance subscription budget_exceeded over_budget policy flagged moderation guardrail`)
	rateWords = phrases(`rate_?limit\w* (?:requests?|tokens?|usage)_rates? rates?_exceeded your_rate throttl\w*
		too_many_requests [rt]p[smhd] [io]tpm (?:per|last|past|one)_(?:sec|min|second) seconds (?:minute|hour|day|month)s?
		monthly`)
	aloneWords = phrases(`request_(?:is_)?(?:too|larger|bigger) must_be_reduced never_succeed`)
	spentWords = phrases(`used already so_far last past previous recent(?:ly)?`)
	fieldWords = phrases(`(?:string|array|list|integer|decimal|number)s?_(?:too|above|below|should|must) temperature
		top_(?:p|k|logprobs) logit_bias budget_tokens thinking_budget stop schema cookies? headers? ur[li] batch_size
		(?:tools?|function)_names? (?:unexpected|invalid|unknown|special)_tokens? (?:invalid|malformed)_json deadline
		timeouts? timed_out`)
	otherWords = phrases(`images? pixels? videos? audios? pdfs? files? attachments? documents? dimensions?
		organi[sz]ation wait come_back concurren\w* overload\w* at_capacity unavailable right_now queued? slow_down
		retry_after try_(?:again_)?(?:in|later) too_(?:short|few) minimum at_least_\d+_tokens`)

	windowWords = phrases(`context_(?:length|window|size|limit|len|capacity|full|overflow) ctx out_of_context
		max(?:imum)?_(?:model|sequence|prompt|input)_len(?:gth)?`)
	sizeWords = phrases(`max\w*_(?:\w+_){0,3}(?:tokens?|length) number_of_tokens (?:input|prompt)_(?:\w+_)?tokens?
		(?:input|prompt|message|conversation|sequence|model|token)s?_(?:tokens?_|max\w*_)?(?:length|len|limit|count)s?
		tokens?_(?:num|budget|window|in_(?:the_)?(?:request|prompt))`)
	excessWords = phrases(`exceed\w* excess\w* surpass\w* overflow\w* exhaust\w* full too_(?:long|lengthy|large|big|many)
		at_most (?:longer|larger|bigger|greater|more|fewer|less)_than only_(?:support|accept|allow|\d)\w* not_fit
		range_of limit_reached out_of (?:above|over|beyond)_(?:(?:the|its|models?)_)*(?:\d|limit|max|context)\w*`)
	longWords = phrases(`(?:prompt|input|context|message|conversation|dialogue|chat|history|sequence|text|request)s?` +
		`(?:_\w+){0,3}_too_(?:long|lengthy|large|big)`)
	adviceWords = phrases(`(?:reduce|shorten|trim|compress)_(?:the_|your_)?` +
		`(?:(?:length|size|number_of_tokens)_(?:of|in)_)?(?:the_|your_)?(?:input_|chat_)?` +
		`(?:prompt|input|message|conversation|context|history|text)s?`)
	chineseWords = regexp.MustCompile(`(?:输入|提示|消息|对话|内容|文本|长度|上下文|tokens?)[^|]*(?:超|过长|太长|大于)`)
	bodyWords    = phrases(`(?:entity|payload|body|content|post|request)(?:_size)?(?:_is)?_(?:too_large|too_big|larger)
		(?:body|request)_(?:bigger|exceeds) (?:size|bytes|mb)\b[^|]*_exceed\w* exceeds_the_maximum_size
		(?:body|payload)\b[^|]*_(?:bigger|larger)_than`)
	longTextWords = phrases(`string_(?:value_)?(?:length|too_long)`)

	inputWords     = phrases(`prompts? inputs? messages? conversation dialogue history text chat sequence`)
	outputWords    = phrases(`maxout completions? outputs? generates? generated produces`)
	outputCapWords = phrases(`maxout (?:completion|output|generated)_(?:tokens?|length)`)
	negativeWords  = regexp.MustCompile(`maxout[^|]* -\d`) // less than nothing of the window is left for the output
	partsWords     = phrases(`tool function roles? thinking reasoning messages? contents? conversation blocks? items?
		arguments encrypted`)
)

// judge is the cause that a text tells. Refusals for other reasons may speak of sizes too: these are asked for first.
func judge(status int, text string, m sizes, s Sent) Cause {
	says := func(p *regexp.Regexp) bool { return p.MatchString(text) }
	inTokens, named := strings.Contains(text, "token"), says(windowWords)
	isAbove := m.limit > 0 && m.whole > m.limit
	proven := isAbove && (named || says(sizeWords) || inTokens && m.whole >= leastTokens)
	switch {
	case strings.Contains(text, "bound to a different conversation"):
		return Thinking
	case says(accountWords):
		return NotSize
	case says(rateWords):
		if inTokens && isAbove && !says(spentWords) || m.whole == 0 && says(aloneWords) {
			return Rate
		}
		return NotSize
	case says(longTextWords) && m.largest >= leastCharacters && !strings.Contains(text, "tool"):
		return Bytes
	case says(fieldWords), !proven && !named && says(otherWords), status == 429 && !named && !says(inputWords):
		return NotSize
	case says(negativeWords) && s.MaxOutput >= 0:
		return Input
	case says(bodyWords) && !inTokens && !named:
		return Bytes
	}
	onlyOutput := says(outputWords) && !says(inputWords)
	for sentence := range strings.SplitSeq(text, "|") {
		isMore := excessWords.MatchString(sentence)
		isLong := isMore && (sizeWords.MatchString(sentence) || windowWords.MatchString(sentence)) ||
			longWords.MatchString(sentence) || adviceWords.MatchString(sentence) || chineseWords.MatchString(sentence)
		if onlyOutput { // mostly the model's own limit
			isLong = windowWords.MatchString(sentence) && isMore && !outputCapWords.MatchString(sentence)
		}
		if isLong && (m.largest == 0 || m.largest >= leastTokens || inTokens || named) {
			return Input
		}
	}
	switch {
	case onlyOutput && named && m.output > m.limit && m.room(text, s) > 0:
		return Output
	case !onlyOutput && (proven || inTokens && says(bodyWords)):
		return Input
	case !onlyOutput && status == 413:
		return Bytes
	case s.Rewritten && says(partsWords):
		return Malformed
	}
	return NotSize
}

// margin is left free between input and output, in tokens.
const margin = 64

// room is how much output fits behind the input; 0 if none does, or if that cannot be known.
func (m sizes) room(text string, s Sent) int {
	both, in, limit := outputWords.MatchString(text), m.input, m.limit
	counted := s.Tokens + s.Tokens/20 // providers may count more
	switch {
	case limit > 0 && in > 0:
		if strings.Contains(text, "at least") {
			in = max(in, counted)
		}
		if strings.Contains(text, " about ") {
			in += in / 64
		}
		if room := limit - in - margin; m.output > 0 || s.MaxOutput == 0 || s.MaxOutput > room {
			return room
		}
		return 0 // what was asked for fits: something else is the matter
	case limit == 0 && both:
		limit = s.Window
	}
	if !both && inputWords.MatchString(text) || s.Tokens == 0 || s.MaxOutput == 0 || s.Tokens+s.MaxOutput <= limit {
		return 0
	}
	return limit - counted - margin
}

// sizes are what the numbers of a text say, in tokens; 0 is unknown.
type sizes struct {
	limit, input, output int
	whole                int // the request, with its output where that is counted
	largest              int // of all numbers, whatever they count
}

var (
	number    = regexp.MustCompile(`(?:^|[^a-z0-9.$@#-])(-?\d{1,3}(?:,\d{3})+|-?\d+)(?:(k|m)\b)?([a-z0-9%]|[.-]\d)?`)
	otherUnit = regexp.MustCompile(`^[ -](?:[kmgt]?i?b|bytes?|char\w*|px|pixels?|m?s|(?:sec|min)\w*|hours?|pages?|` +
		`images?|files?|tools?|functions?|requests?|items?|elements|usd|sequences|percent)\b`)
	limitBefore = regexp.MustCompile(`\b(?:max\w*|largest|limit\w*|ceiling|cap|capacity|windows?|ctx|range|at most|` +
		`up to|only|context (?:length|size|limit|of|is)|allow\w*|accept\w*|support\w*|exceed\w*|surpass\w*|` +
		`beyond|above|over|under|below|within|fit in|full|than)\b|[<>]|超过|上限|最大`)
	limitAfter = regexp.MustCompile(`^[ -]?(?:tokens?)? ?(?:(?:input|prompt|context|model|token) )?` +
		`(?:max(?:imum)?|limit|ceiling|cap|windows?|context|allowed|available|supported)\b`)
	outputBefore = regexp.MustCompile(`\b(?:maxout|completion|outputs?)(?: is too large)?[^a-z]*(?:of |is |to )?\(?$|\+ $`)
	outputAfter  = regexp.MustCompile(`^[ -]?(?:tokens?)?(?: of| in| for| as)?(?: the| your)? ?` +
		`(?:maxout|completions?|outputs?|response|new)\b`)
	inputAfter = regexp.MustCompile(`^ \+|^[ -]?(?:tokens?)?(?: of| in| from| for)?(?: the| your)?` +
		`(?: (?:text|tool|image|chat))? ?(?:inputs?|prompts?|messages?|functions?|tools?|history)\b`)
)

// measure reads the numbers of a text. A request that is too long is larger than what is allowed: of several numbers
// beside a word for a limit, the largest below another number is the limit.
func measure(text string) (m sizes) {
	var limits []int
	top, inputs, from := 0, 0, 0
	all := number.FindAllStringSubmatchIndex(text, -1)
	for i, at := range all {
		next := len(text)
		if i+1 < len(all) {
			next = all[i+1][2]
		}
		left, right := text[from:at[2]], text[at[1]:next]
		left = left[strings.LastIndexByte(left, '|')+1:]
		value, _ := strconv.Atoi(strings.ReplaceAll(text[at[2]:at[3]], ",", ""))
		if at[4] >= 0 {
			value *= map[byte]int{'k': 1_000, 'm': 1_000_000}[text[at[4]]]
		}
		m.largest = max(m.largest, value)
		if value <= 1 || value > 100*Most { // as in [1, 6000]
			continue
		}
		from = at[1]
		if at[6] >= 0 || otherUnit.MatchString(right) {
			continue
		}
		switch behind := limitAfter.FindString(right); {
		case outputAfter.MatchString(right),
			behind == "" && outputBefore.MatchString(left) && !inputAfter.MatchString(right):
			m.output = max(m.output, value)
			continue
		case behind != "", limitBefore.MatchString(left) && !strings.HasPrefix(right, " +"):
			limits = append(limits, value)
			from += len(behind)
		case inputAfter.MatchString(right):
			inputs += value
			m.input = max(m.input, value)
		}
		top = max(top, value)
	}
	for _, value := range limits {
		if value < top {
			m.limit = max(m.limit, value)
		}
	}
	if m.limit == 0 && len(limits) > 0 {
		m.limit = slices.Min(limits)
	}
	if top > m.limit && m.limit > 0 {
		m.whole = top
	}
	if inputs == m.whole || inputs+m.output == m.whole { // else some parts are told twice
		m.input = inputs
	}
	if m.input == 0 {
		m.input = max(m.whole-m.output, 0)
	}
	m.whole = max(m.whole, m.input+m.output)
	return m
}
