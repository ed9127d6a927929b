package event

import "strings"

// Code is why something was done to a request or to an item of it, or why nothing was. The set is closed: a code is
// made where the decision is made, and may be a metric label. It names what was observed, never what may be behind it.
type Code string

// NoCode is that there is nothing to give a reason for.
const NoCode Code = ""

// Why an item is not sent as it came. A decision is recorded with them: they keep their spelling.
const (
	CodeOverLimit    Code = "over_limit"
	CodeScreen       Code = "final_screen"
	CodeOld          Code = "old"
	CodeOldest       Code = "oldest"
	CodeOlderResults Code = "older_results"
	CodeTextOnly     Code = "text_only"
	CodeLine         Code = "over_line"
	CodeBudget       Code = "over_budget"
	CodeAsked        Code = "asked_for"
	CodeRefused      Code = "refused"
	CodeCut          Code = "window_full"
	CodeUser         Code = "nothing_else_helped"
	CodeThinking     Code = "thinking_bound"
)

// Why nothing new was done to a request, or not all of it.
const (
	CodeNotDue            Code = "not_due"
	CodeFreesLittle       Code = "frees_little"
	CodeFixedFills        Code = "fixed_fills_window"
	CodeQuota             Code = "quota"
	CodeFloor             Code = "below_floor"
	CodeAgain             Code = "decided_before"
	CodeMeanwhile         Code = "decided_meanwhile"
	CodeClientSummarises  Code = "client_summarises"
	CodeProviderClears    Code = "provider_clears"
	CodeProviderRemembers Code = "provider_remembers"
	CodeThinkingRound     Code = "thinking_round"
	CodeNothingOlder      Code = "nothing_older"
	CodeSavesLittle       Code = "saves_little"
	CodeNoSmaller         Code = "no_smaller"
	CodeNotATenth         Code = "not_a_tenth"
	CodeNothingToLeave    Code = "nothing_to_leave"
	CodeSigned            Code = "signed"
	CodeEncoded           Code = "encoded"
	CodeBomb              Code = "bomb"
	CodeNoObject          Code = "no_object"
	CodeNotRead           Code = "not_read"
	CodeNoRoom            Code = "no_room"
	CodeFailed            Code = "failed"
	CodeUnrecorded        Code = "unrecorded"
)

// sentences says each code to a person.
var sentences = [...]struct {
	code Code
	says string
}{
	{CodeOverLimit, "The result is over the limit for one result: the lines that tell most of it are sent."},
	{CodeScreen, "Terminal output is sent as it would stand on the screen in the end."},
	{CodeOld, "The result is older than the newest ones, which are left alone."},
	{CodeOldest, "The messages are older than those that the configuration keeps."},
	{CodeOlderResults, "The result is older than those that the configuration keeps."},
	{CodeTextOnly, "The configuration keeps only the text of older turns."},
	{CodeLine, "The request was over the line for compaction, so older messages became a summary."},
	{CodeBudget, "The conversation had used up its budget, so older messages became a summary."},
	{CodeAsked, "A compaction was asked for, so older messages became a summary."},
	{CodeRefused, "The provider refused the request as too long, so older messages became a summary."},
	{CodeCut, "The request was too long all the same, so the result was cut hard."},
	{CodeUser, "The provider refused the request, and nothing else made it fit: the message is left to the transcript."},
	{CodeThinking, "What the model thought here is not sent any more: the model takes that only behind what stood before " +
		"it, and that has changed."},

	{CodeNotDue, "No new result is over its limit, and clearing old ones does not pay yet."},
	{CodeFreesLittle, "The request is over the line, but what may be cleared would free too little."},
	{CodeFixedFills, "System prompt and tools alone fill the window."},
	{CodeQuota, "The quota for artifacts is used up, so all stays whole up to the line."},
	{CodeFloor, "The body is too small for anything to be decided."},
	{CodeAgain, "The request is one that was decided before: it is sent as it was then."},
	{CodeMeanwhile, "An equal request was decided at the same time: it is sent as that one."},
	{CodeClientSummarises, "The client asks for its own summary: what was decided is repeated, and nothing new is."},
	{CodeProviderClears, "The provider clears or compacts this conversation by itself: only results that come are shortened."},
	{CodeProviderRemembers, "Earlier messages lie with the provider: only results that come are shortened."},
	{CodeThinkingRound, "What the model thinks until its calls are answered binds all before it: nothing changes until the " +
		"user's next message."},
	{CodeNothingOlder, "There is no older group of messages that could be left out."},
	{CodeSavesLittle, "What could be left out is less than a tenth of the request."},
	{CodeNoSmaller, "A summary would take at least as many tokens as what it could replace."},
	{CodeNotATenth, "The request was refused, and cannot be made a tenth smaller."},
	{CodeNothingToLeave, "The request was refused, and there is nothing that could be left out."},
	{CodeSigned, "The request carries a signature of its body: it goes as it came."},
	{CodeEncoded, "The content coding of the body cannot be read: it goes as it came."},
	{CodeBomb, "The body grows beyond the limit when it is decoded: it goes as it came."},
	{CodeNoObject, "The body is not a JSON object: it goes as it came."},
	{CodeNotRead, "The body is not a conversation as its API has it, or has more than is read: it goes as it came."},
	{CodeNoRoom, "There was no room in memory to rewrite the request: it goes as it came."},
	{CodeFailed, "Something failed inside epitome: the request goes on in the form that was decided last."},
	{CodeUnrecorded, "The shared store did not say that it has what was decided: the next request may be sent in another " +
		"form."},
}

// Clause is the sentence as it stands behind a colon, without its full stop; empty for NoCode.
func (c Code) Clause() string {
	s := strings.TrimSuffix(c.Sentence(), ".")
	return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

// Sentence says the code to a person; empty for NoCode.
func (c Code) Sentence() string {
	for i := range sentences {
		if sentences[i].code == c {
			return sentences[i].says
		}
	}
	return ""
}
