package overflow

import (
	"regexp"
)

// denial is a kind of refusals that no shorter request cures.
type denial struct {
	why   string
	words *regexp.Regexp
}

// accountDenials hold whatever else an answer says: what asks for money or other credentials may speak of tokens, too.
var accountDenials = [...]denial{
	{"it is about credentials", regexp.MustCompile(`\b(?:api key|unauthori[sz]ed|authenticat\w*|authori[sz]ation|forbidden|permissions?|credentials?|jwt)\b` +
		`|\b(?:access|auth|bearer|refresh|security|api|id) token\b|\btoken (?:is |has )?(?:expired|invalid|revoked)\b`)},
	{"it is about money", regexp.MustCompile(`\b(?:quotas?|billing|credits?|balance|payments?|afford|funds|wallet|allowance|subscription)\b|余额|额度|欠费`)},
	{"it is about what is said", regexp.MustCompile(`\b(?:policy|policies|flagged|moderation|safety|content filter\w*)\b`)},
}

// accountWords speak of someone's share rather than of a request, unless its input or its window are named too.
var accountWords = regexp.MustCompile(`\b(?:accounts?|organi[sz]ations?|projects?|workspaces?|plan|tier|usage|your (?:\w+ )?tokens? limit)\b`)

// fieldDenials hold once it is clear that no rate is meant.
var fieldDenials = [...]denial{
	{"it is about a field of the request", regexp.MustCompile(
		`\b(?:strings?|arrays?|lists?|integer|decimal|number|dict|object|enum) (?:too|above|below|should|must)\b` +
			`|\b(?:temperature|top [pk]|logprobs?|logit bias|best of|budget tokens|thinking budget|stop (?:sequences?|words?|tokens?)|cache key|` +
			`schema|cookies?|headers?|ur[li]|vocab\w*|token ids?)\b|\bbatch(?:es)? (?:size )?(?:exceed\w*|too|must|limit|of)\b|\btools? (?:names?|descriptions?)\b`)},
	{"the request cannot be parsed", regexp.MustCompile(`\b(?:unexpected|invalid|illegal|unknown) tokens?\b|\b(?:not valid|invalid|malformed) json\b|\b(?:json|parse|syntax) error\b`)},
	{"it took too long", regexp.MustCompile(`\b(?:deadline|timeouts?|timed out|cancell?ed|time limit)\b`)},
}

// These are overruled by numbers that show the excess.
var (
	// patienceWords ask to come again.
	patienceWords = regexp.MustCompile(`\b(?:please wait|wait (?:a|for|before|until)|come back|concurren\w*|overload\w*|at capacity|busy|unavailable|right now|` +
		`queue\w*|retry after)\b|\b(?:try again|retry) (?:in|later|soon|shortly|after (?:a|an|the|some|@|#))\b`)

	// smallWords say that something is below its least size.
	smallWords = regexp.MustCompile(`\btoo (?:short|small|few)\b|\bminimum\b`)

	// structureWords are said of conversations that do not hold together.
	structureWords = regexp.MustCompile(
		`\b(?:tool|function) (?:use|calls?|results?|responses?|outputs?|messages?|turn)\b[^|]*\b(?:follow\w*|preced\w*|correspond\w*|without|missing|match\w*|` +
			`orphan\w*|found|no|unexpected|previous|before|after|immediately|respond\w*|answers?|same number|equal|must)\b` +
			`|\b(?:no|unexpected|missing|orphan\w*|without|same number of) (?:\w+ )?(?:tool|function) (?:use|calls?|results?|responses?|outputs?)\b` +
			`|\broles?\b[^|]*\b(?:alternat\w*|order|unexpected|must)\b|\bunexpected role\b` +
			`|\b(?:conversations?|messages?|first|last|final)\b[^|]*\b(?:must|should|has to|expected)\b[^|]*\b(?:users?|assistants?|system|roles?)\b` +
			`|\b(?:messages?|contents?|blocks?)\b[^|]*\b(?:empty|non empty|nonempty|blank)\b` +
			`|\barguments?\b[^|]*\bjson\b|\bjson\b[^|]*\barguments?\b` +
			`|\b(?:thinking|reasoning)(?: \w+)? (?:blocks?|items?|content|signature)\b[^|]*\b(?:without|missing|required|must|expected|modified|invalid|passed)\b`)
)

// Pictures and the like have limits of their own; mixedWords speak of a request that has texts too, or of its window.
var (
	mediaWords = regexp.MustCompile(`\b(?:images?|pixels?|px|videos?|audios?|media|pdfs?|files?|attachments?|dimensions?|pictures?|photos?)\b|图片|图像`)
	mixedWords = regexp.MustCompile(`\b(?:text|total|combined|prompt|context)\b`)
)

// Rates.
var (
	rateWords = regexp.MustCompile(`\brate ?limit\w*|\b(?:requests?|tokens?|usage) rates?\b|\brates? (?:exceeded|of)\b|\bthrottl\w*|\btoo many requests\b|\b[rt]p[smhd]\b|\b[io]tpm\b` +
		`|\b(?:per|tokens?|last|past|each|every|a|one)(?: \w+)? (?:sec|min|second)\b|@ seconds?\b|\b(?:seconds|(?:minute|hour|day|week|month)s?|hourly|daily|weekly|monthly)\b` +
		`|速率|频率|并发|每分钟`)

	// singleWords say that the request by itself is too large for a rate.
	singleWords = regexp.MustCompile(`\brequest (?:is |was )?(?:too|larger|bigger)\b|\bmust be reduced\b|\bnever succeed\b|\bmake it smaller\b`)

	// spentWords speak of tokens of other requests.
	spentWords = regexp.MustCompile(`\b(?:already|so far|last|past|previous|recent(?:ly)?)\b`)
)
