// Package overflow reads how providers say that a request is too long.
//
// Read tells a refusal for a request's size from all other answers. It knows no provider. It knows where errors have
// their texts, which words speak of size and of excess, and how numbers relate to them. In doubt an answer is another
// refusal. It looks at a bounded part of an answer, in time that is linear in it, and quotes nothing of it. Truncated
// finds a request that was cut without a word.
//
// The package does no I/O and keeps nothing. It does not promise that a verdict is right: providers word their
// refusals as they like.
package overflow

import (
	"strings"
)

// Answer is what a provider said to a request.
type Answer struct {
	Status int
	Type   string // the Content-Type
	Body   []byte // without content coding; the first 64 KB of it are looked at
}

// Sent is what is known of the request; 0 is unknown.
type Sent struct {
	Tokens    int  // counted, without what it asks for as output
	MaxOutput int  // that it asks for
	Window    int  // that its model is believed to have
	Rewritten bool // it is not as the client wrote it
}

// Kind is why a request was refused.
type Kind int

// The kinds of refusals that a shorter request cures, and two that another form of the conversation may cure.
const (
	NotOurs   Kind = iota // any other reason, or none
	Output                // the input fits, but not together with the output that was asked for: ask for less
	Rate                  // the request alone is larger than what is granted for a time: waiting never helps
	Bytes                 // it has too many bytes
	Input                 // it is longer than the window
	Malformed             // after a rewrite: the conversation's structure is broken
	Thinking              // what the model thought stands behind something else than it is bound to
)

func (k Kind) String() string {
	return [...]string{"not ours", "output", "rate", "bytes", "input", "malformed", "thinking"}[k]
}

// Verdict is what an answer says of the request's size.
type Verdict struct {
	Kind   Kind
	Window int // tokens, as the provider states it, if it is below the one believed and can be true; else 0
	Limit  int // the same, whatever is believed
	// tokens of the request as the provider counted them, with its output where that is counted in; 0 if not told
	Requested int
	Output    int    // for the kind Output: the most that may be asked for
	Why       string // a sentence without a word of the conversation
}

// Windows that are stated outside of these are mistakes.
const (
	LeastWindow = 1_024
	MostWindow  = 10_000_000
)

// TooLong reports whether an answer says that its request was longer than the model takes, or than the provider ever
// will.
func TooLong(status int, body []byte) bool {
	return Read(Answer{Status: status, Body: body}, Sent{}).Kind != NotOurs
}

// Read tells whether an answer refuses its request for its size. It knows no provider: it looks where errors have their
// texts, and for words of size beside words of excess. When in doubt it is some other refusal.
func Read(a Answer, s Sent) Verdict {
	if !MayRefuse(a.Status) {
		return Verdict{Why: "the status tells of another reason"}
	}
	c := findComplaint(a)
	if len(c.texts) == 0 {
		return judgeSilence(a, s, c)
	}
	r := reading{Sent: s, status: a.Status}
	for _, text := range c.texts {
		r.read(text)
	}
	r.sum = r.wording.sum()
	v := r.judge()
	if v.Kind == NotOurs {
		return Verdict{Why: v.Why}
	}
	switch v.Kind {
	case Input, Output:
		v.Window, v.Limit = r.windowBelowBelief(), r.statedWindow()
		v.Requested = r.sum.whole
	case Rate:
		v.Requested = r.sum.whole
	}
	return v
}

// MayRefuse reports whether an answer with the status may refuse its request for its size.
func MayRefuse(status int) bool {
	switch status {
	case 401, 402, 403, 404, 405, 407, 408, 425, 431, 451, 529:
		return false
	}
	return status < 300 || status >= 400
}

// reading is one answer on its way to a verdict.
type reading struct {
	Sent
	wording
	sum    sum
	status int
}

// judge asks first for what a shorter request would not cure, as such refusals may speak of sizes too.
func (r *reading) judge() Verdict {
	if why := findDenial(r.text, accountDenials[:]); why != "" {
		return Verdict{Why: why}
	}
	if bond.in(r.text) {
		return Verdict{Kind: Thinking, Why: "the model thought something behind another conversation"}
	}
	if rate.in(r.text) {
		return r.judgeRate()
	}
	if longText.in(r.text) && r.sum.limit >= leastText {
		return Verdict{Kind: Bytes, Why: "a text of the request is longer than texts may be"}
	}
	if why := findDenial(r.text, fieldDenials[:]); why != "" {
		return Verdict{Why: why}
	}
	isMixed := mixed.in(r.text) && token.in(r.text)
	named := input.in(r.text) || firm.in(r.text)
	switch {
	case account.in(r.text) && !named && r.status != 413:
		return Verdict{Why: "it is about an account"}
	case r.status == 429 && !named:
		return Verdict{Why: "the status tells of another reason"}
	case media.in(r.text) && !isMixed:
		return Verdict{Why: "it is about a picture, a sound or a file"}
	case r.provesExcess():
	case patience.in(r.text):
		return Verdict{Why: "the provider is busy"}
	case below.in(r.text) && !narrow.in(r.text):
		return Verdict{Why: "something is too small"}
	case structure.in(r.text):
		return r.judgeStructure()
	}
	return r.judgeSize()
}

func findDenial(text string, reasons []denial) (why string) {
	for _, d := range reasons {
		if d.means.in(text) {
			return d.why
		}
	}
	return ""
}

// judgeRate tells a request that is too large for any minute from too many of them.
func (r *reading) judgeRate() Verdict {
	above := r.sum.asked > r.sum.limit && r.sum.limit > 0
	unsaid := r.sum.asked == 0 && single.in(r.text)
	if (above || unsaid) && !spent.in(r.text) {
		return Verdict{Kind: Rate, Why: "the request alone is larger than what is granted for a time"}
	}
	return Verdict{Why: "it is about how much is sent at a time"}
}

// judgeStructure is a conversation whose parts do not fit together. As the client wrote it, that is the client's
// affair.
func (r *reading) judgeStructure() Verdict {
	if r.Rewritten {
		return Verdict{Kind: Malformed, Why: "the provider finds the conversation's structure broken"}
	}
	return Verdict{Why: "it is about the conversation's structure"}
}

// judgeSize is the verdict on an answer that may be about size alone.
func (r *reading) judgeSize() Verdict {
	switch {
	case negative.in(r.text) && r.MaxOutput >= 0:
		return Verdict{Kind: Input, Why: "less than nothing of the window is left for the answer"}
	case output.in(r.text) && !input.in(r.text):
		return r.judgeOutputCap()
	case r.tooManyBytes():
		return Verdict{Kind: Bytes, Why: "the request has more bytes than the provider takes"}
	case r.tooLong():
		return r.judgeTokens()
	case r.status == 413:
		return Verdict{Kind: Bytes, Why: "the status says that the request is too large"}
	}
	return Verdict{Why: "it does not speak of the request's size"}
}

// provesExcess reports that the numbers say of themselves that a request is larger than its window.
func (r *reading) provesExcess() bool {
	about := speaksOfCapacity(r.text) || token.in(r.text) && r.sum.whole >= leastLength
	return about && r.sum.limit > 0 && max(r.sum.whole, r.sum.bound+r.sum.output) > r.sum.limit
}

// speaksOfCapacity reports that words speak of the tokens of a request, or of a window.
func speaksOfCapacity(words string) bool {
	return capacity.in(words) || token.in(words) && conversation.in(words)
}

// tooManyBytes looks for a size that is not one of tokens.
func (r *reading) tooManyBytes() bool {
	if r.inTokens() {
		return false
	}
	return characters.in(r.text) && r.largest >= leastText || r.tooBig()
}

// inTokens reports that sizes are told in tokens, and in nothing else.
func (r *reading) inTokens() bool {
	return token.in(r.text) && !strings.Contains(r.text, "@ ")
}

// tooBig looks for words of bulk beside words of excess.
func (r *reading) tooBig() bool {
	for sentence := range strings.SplitSeq(r.text, "|") {
		if bulk.in(sentence) && bulkOwner.in(sentence) &&
			excess.in(sentence) && !token.in(sentence) && !firm.in(sentence) {
			return true
		}
	}
	return false
}

// tooLong looks for words of excess beside words for what can be too long.
func (r *reading) tooLong() bool {
	if r.largest > 0 && r.largest < leastLength && !token.in(r.text) && !firm.in(r.text) {
		return false
	}
	for sentence := range strings.SplitSeq(r.text, "|") {
		if speaksOfCapacity(sentence) && excess.in(sentence) || calledLong(sentence) ||
			foreign.in(sentence) {
			return true
		}
	}
	return r.provesExcess() || r.inTokens() && r.tooBig() || advice.in(r.text) ||
		quantity.in(r.text) && input.in(r.text)
}

// calledLong reports that the conversation or a part of it is called too long: the last noun before these words, or
// else one behind them.
func calledLong(sentence string) bool {
	from, meant := 0, false // whether the last noun so far is one of the conversation
	for _, at := range long.words().FindAllStringSubmatchIndex(sentence, -1) {
		behind, compares := sentence[at[1]:], at[2] >= 0
		nouns := noun.words().FindAllStringSubmatchIndex(sentence[from:at[0]], -1)
		if len(nouns) > 0 {
			meant = nouns[len(nouns)-1][2] >= 0
		} else if from == 0 && !compares {
			meant = conversation.in(behind)
		}
		if meant && (!compares || length.in(behind)) {
			return true
		}
		from = at[1]
	}
	return false
}

// judgeOutputCap is a cap on the output that no input is set against: the model's own, unless it is the window that
// is named as exceeded.
func (r *reading) judgeOutputCap() Verdict {
	for sentence := range strings.SplitSeq(r.text, "|") {
		if firm.in(sentence) && excess.in(sentence) &&
			!outputAlone.in(sentence) {
			return r.judgeTokens()
		}
	}
	room := r.sum.limit - r.inputEstimate() - leastMargin
	if firm.in(r.text) && r.sum.limit > 0 && r.sum.output > r.sum.limit && r.Tokens > 0 && room > 0 {
		return Verdict{Kind: Output, Output: room, Why: "more output was asked for than the window holds"}
	}
	return Verdict{Why: "it is about the output that the model can make"}
}

// leastMargin is left free between the input and the output, in tokens.
const leastMargin = 64

// inputEstimate is the input as it was counted here, with what the provider may count more.
func (r *reading) inputEstimate() int { return r.Tokens + r.Tokens/20 }

// judgeTokens tells an input that does not fit from one that would if less output were asked for.
func (r *reading) judgeTokens() Verdict {
	if room := r.room(); room > 0 {
		return Verdict{Kind: Output, Output: room, Why: "the window holds the input, but not together with the output that was asked for"}
	}
	return Verdict{Kind: Input, Why: "the request is longer than the window"}
}

// room is how much output fits behind the input; 0 if none does, or if that cannot be known.
func (r *reading) room() int {
	speaksOfOutput := output.in(r.text)
	in := r.sum.input
	switch {
	case in == 0 && r.sum.output > 0:
		in = r.sum.whole - r.sum.output
	case in == 0 && !speaksOfOutput:
		in = r.sum.whole
	}
	if in > 0 && r.sum.limit > 0 {
		return r.roomAfter(in)
	}
	// The provider does not tell the parts. What was counted here decides, unless the answer speaks of the input only.
	window := r.sum.limit
	if window == 0 && speaksOfOutput {
		window = r.Window
	}
	aboutInput := input.in(r.text) && !speaksOfOutput
	if aboutInput || r.Tokens == 0 || r.MaxOutput == 0 || r.Tokens+r.MaxOutput <= window {
		return 0
	}
	return window - max(r.inputEstimate(), r.sum.bound) - leastMargin
}

// roomAfter is how much output fits behind an input that the provider has counted.
func (r *reading) roomAfter(in int) int {
	room := r.sum.limit - in - leastMargin
	if estimate.in(r.text) {
		room -= in / 64
	}
	if r.sum.output == 0 && r.MaxOutput > 0 && r.MaxOutput <= room {
		return 0 // less was asked for than there is room for, so something else is the matter
	}
	return room
}

// windowBelowBelief is the window that the answer states, if it can be true.
func (r *reading) windowBelowBelief() int {
	w := r.statedWindow()
	if r.Window > 0 && w >= r.Window {
		return 0
	}
	return w
}

// statedWindow is the window that the answer states, if it can be true.
func (r *reading) statedWindow() int {
	if w := r.sum.limit; w >= LeastWindow && w <= MostWindow {
		return w
	}
	return 0
}
