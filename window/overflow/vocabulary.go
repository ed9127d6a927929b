package overflow

import (
	"regexp"
)

// The words of the matter, as regular expressions over a wording. None is a sentence of a provider: a rule asks which
// kinds of words stand together. What refuses for other reasons is in denials.go.
const (
	// thing is what can be too long.
	thing = `(?:prompts?|inputs?|contexts?|messages?|conversations?|chats?|dialogu?es?|histor(?:y|ies)|sequences?|quer(?:y|ies)|` +
		`texts?|requests?|contents?|transcripts?)`

	// superlative begins the name of a limit.
	superlative = `(?:maximum|max|largest|longest|biggest|highest)`

	// than compares two sizes, whichever is the larger.
	than = `\b(?:longer|larger|bigger|greater|more|higher|less|fewer|smaller|shorter|lower) than\b`
)

var (
	// capacityWords name a window, or what fills it.
	capacityWords = regexp.MustCompile(
		`\bcontext (?:lengths?|len|windows?|sizes?|limits?|capacity|space|budget|maximum|max|cap|ceiling|tokens?|full|overflow\w*|exceeded)\b` +
			`|\bctx\b|\b(?:maximum|max|model|available|full) context\b|\bout of context\b|上下文` +
			`|\b(?:model|sequence|seq|session|prompt|inputs?|messages?|conversation|history|query) (?:` + superlative + ` )?` +
			`(?:context |token |input |prompt |sequence |model )?(?:length|len|limit|maximum)\b` +
			`|\blength of (?:the |your |this |all )?` + thing + `\b` +
			`|\b(?:inputs?|prompts?|context|total|messages?|requested|combined) tokens?\b` +
			`|\btokens? (?:window|context|limits?|counts?|num|number|ceiling|cap|maximum|capacity|budget|exceed\w*)\b` +
			`|\bnumber of (?:\w+ ){0,3}tokens?\b|\b` + superlative + ` (?:\w+ ){0,2}tokens?\b` +
			`|\btokens? (?:in|of|from|for) (?:the |your |this |a )?` + thing + `\b`)

	// firmWords name a window that cannot be anything else.
	firmWords = regexp.MustCompile(`\bcontext (?:length|window|size|limit|len|capacity)\b|\bctx\b|\bmax(?:imum)? (?:model|seq|sequence|prompt|input) len(?:gth)?\b`)

	// excessWords say that something is larger than something.
	excessWords = regexp.MustCompile(
		`\b(?:exceed|excess|surpass|overflow|overr[au]n|exhaust)\w*|\b(?:is|are|was|context|window|cache) full\b|>|<|超|过长|太长|大于` +
			`|\b(?:beyond|above|over) (?:(?:the|its|your|this|that|model|of) )*(?:#|limit|maximum|max|context|window|capacity|tokens?|allowed|permitted|size|length)` +
			`|\btoo (?:long|lengthy|large|big|many|high|much)\b|` + than +
			`|\bat most\b|\bup to\b|\bnot fit\b|\b(?:no|not enough|insufficient|little) (?:room|space|context)\b` +
			`|\bonly (?:support|accept|allow|take|hold|ha[sv]|#)\w*|\brange of\b|\blimit (?:reached|hit)\b|\b(?:ran|run|running) out of\b|` + smallWindow)

	// smallWindows are windows that are too small.
	smallWindows = regexp.MustCompile(smallWindow)

	// longWords say of what stands before them that it is too long; those that only compare need lengthWords behind
	// them.
	longWords   = regexp.MustCompile(`\btoo (?:long|lengthy|large|big)\b|\b(exceed\w*|(?:longer|larger|bigger) than)\b`)
	lengthWords = regexp.MustCompile(`\b(?:length|len|window|capacity)\b`)

	// quantityWords are said of requests that are too long, and of clients that ask for too much at a time.
	quantityWords = regexp.MustCompile(`\btoo many (?:\w+ )?tokens?\b`)

	// nounWords are what can be called too long; the first group has the conversation and its parts.
	nounWords = regexp.MustCompile(`\b(?:(` + thing + `)|(?:names?|ids?|keys?|descriptions?|titles?|images?|audios?|videos?|files?|documents?|` +
		`fields?|urls?|uris?|headers?|cookies?|schemas?|strings?|arrays?|values?|lists?|labels?|tags?|users?|tools?|functions?|parameters?|` +
		`arguments?|patterns?|lines?|paths?|durations?|time|queues?|tokens?|stops?|body|payload|entity|batch(?:es)?))\b`)
	thingWords = regexp.MustCompile(`\b` + thing + `\b`)
	tokenWords = regexp.MustCompile(`\btokens?\b`)

	// adviceWords ask for a shorter conversation.
	adviceWords = regexp.MustCompile(`\b(?:reduc|shorten|decreas|trim|cut|truncat|shrink|compress|lower)\w* (?:down )?(?:the |your |its )?` +
		`(?:(?:total |overall )?(?:length|size|number of tokens|amount|tokens) (?:of|in) )?(?:the |your |its |all )?(?:input |chat |context )?` +
		`(?:prompts?|inputs?|messages?|conversations?|context|history|quer(?:y|ies)|text|completion|request (?:size|length))\b`)

	// inputWords and outputWords tell of which of the two an answer speaks; outputTokens are certainly about the
	// latter.
	inputWords  = regexp.MustCompile(`\b(?:prompts?|inputs?|messages?|conversation|dialogu?e|history|text|chat)\b`)
	outputWords = regexp.MustCompile(`\b(?:maxout|completions?|outputs?|generated)\b|\b(?:response|reply|answer|new|generation) (?:tokens?|length)\b` +
		`|\b(?:generat|produc)\w*(?: \w+){0,4} (?:# )?tokens?\b`)
	outputTokens = regexp.MustCompile(`\bmaxout\b|\b(?:completion|output|generated|response) (?:tokens?|length)\b`)

	// negativeRoom is what is left for the answer when the request is larger than the window.
	negativeRoom = regexp.MustCompile(`\bmaxout\b[^|#]*(?:#[^|#]*)?-#`)

	// estimateWords say that the provider has not counted.
	estimateWords = regexp.MustCompile(`\b(?:about|approximately|estimated|roughly|around)\b`)

	// foreignExcess is an excess in Chinese.
	foreignExcess = regexp.MustCompile(`(?:输入|提示|消息|对话|内容|文本|长度|上下文|\b(?:prompt|input|context|tokens?|messages?)\b)[^|]*(?:超|过长|太长)`)
)

const smallWindow = `\b(?:context|ctx|windows?|len)(?: (?:size|length|window|is|was|of|#|tokens?))* too (?:small|short)\b`

// Sizes in bytes or characters.
var (
	bytesWords = regexp.MustCompile(`\b(?:sizes?|bytes?|[kmg]i?b|megabytes?|body|payload|entity)\b` +
		`|\b(?:request|content)(?: is)? too (?:large|big)\b|\btoo (?:large|big) (?:a |of a )?request\b`)
	bytesOwner = regexp.MustCompile(`\b(?:requests?|body|payload|entity|post|content|messages?|json|prompt|input|text|total)\b`)
	charWords  = regexp.MustCompile(`\b(?:prompts?|inputs?|messages?|contents?|texts?|requests?)\b[^|]*\b(?:characters|chars)\b`)

	// longText is a single text that is too long. Where one may have leastText characters, it is no name and no id.
	longText = regexp.MustCompile(`\bstrings? (?:is )?(?:too long|above|longer)\b`)
)

const leastText = 100_000

// leastLength is a length below which it is that of a name, unless it is told in tokens.
const leastLength = 512

// How texts are made ready.
var (
	// asides are a status, what repeats what was said before, names of requests, and set phrases that speak of input
	// where none is meant.
	asides = regexp.MustCompile(`(?i)^\W*(?:(?:http|error|status|code)\W*)*[45]\d\d\b|\(parameter=[^)]*\)*|\brequest[ _-]?id["']?[:=]? *\S+` +
		`|\binput validation error|\bvalidation errors?\b|\binput should\b|\binvalid input\b`)

	// asksForOutput is the name of a field that says how much may be answered; outputNames are such names in words.
	asksForOutput = regexp.MustCompile(`(?:^|_)max_tokens(?:_to_sample)?$` +
		`|(?:^|_)(?:max|num|n)_(?:\w+_)?(?:completion|output|outputs|new|response|gen|generated|generation|predict|sample)(?:_tokens?|_len|_length)?$`)
	outputNames = regexp.MustCompile(` (?:max|maximum) tokens (?:value|parameter|param|setting|field|option|you requested|must be|should be) `)

	// otherUnits are what numbers count besides tokens.
	otherUnits = regexp.MustCompile(`^(?:b|kb|mb|gb|tb|kib|mib|gib|bytes?|kilobytes?|megabytes?|characters?|chars?|px|pixels?|ms|s|secs?|seconds?|mins?|` +
		`minutes?|h|hours?|days?|pages?|images?|usd|dollars?|cents?|items?|tools?|files?|requests?|dpi|hz|fps)$`)
)
