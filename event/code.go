package event

import (
	"slices"
	"strings"
)

// Code is why a request or an item of it was changed, or why nothing was: what was observed. The set is closed, so a
// code may be a metric label. Decisions and events are recorded with codes: they keep their spelling.
type Code string

// NoCode is that there is nothing to give a reason for.
const NoCode Code = ""

// Why an item is not sent as it came.
const (
	CodeOverLimit    Code = "over_limit"
	CodeScreen       Code = "final_screen"
	CodeRent         Code = "rent"
	CodePause        Code = "pause"
	CodeModel        Code = "other_model"
	CodeClearAt      Code = "clear_at"
	CodeOldest       Code = "oldest"
	CodeOlderResults Code = "older_results"
	CodeTextOnly     Code = "text_only"
	CodeNamed        Code = "excluded_name"
	CodeMessages     Code = "newest_messages"
	CodeCompactAt    Code = "compact_at"
	CodeCutoverAt    Code = "cutover_at"
	CodeCompactTurns Code = "compact_turns"
	CodeAsked        Code = "asked_for"
	CodeRefused      Code = "refused"
	CodeCut          Code = "window_full"
	CodeUser         Code = "nothing_else_helped"
	CodeThinking     Code = "thinking_bound"
	CodeThought      Code = "thinking_refused"
	CodeBroken       Code = "taken_for_broken"
	CodeReplayed     Code = "replayed"
	CodeStale        Code = "stale"
	CodeRestored     Code = "restored"
	CodePictures     Code = "pictures"
	CodeUnpaired     Code = "unpaired"
)

// Why nothing new was done to a request, or not all of it.
const (
	CodeNotDue            Code = "not_due"
	CodeFreesLittle       Code = "frees_little"
	CodeFloor             Code = "below_floor"
	CodeAgain             Code = "decided_before"
	CodeMeanwhile         Code = "decided_meanwhile"
	CodeClientSummarises  Code = "client_summarises"
	CodeProviderClears    Code = "provider_clears"
	CodeProviderRemembers Code = "provider_remembers"
	CodeThinkingRound     Code = "thinking_round"
	CodeNothingOlder      Code = "nothing_older"
	CodeSavesLittle       Code = "saves_little"
	CodeOverhead          Code = "overhead"
	CodeSigned            Code = "signed"
	CodeEncoded           Code = "encoded"
	CodeNoObject          Code = "no_object"
	CodeNotRead           Code = "not_read"
	CodeFailed            Code = "failed"
	CodeUnrecorded        Code = "unrecorded"
	CodeUnkept            Code = "unkept"
)

// sentences explains each code.
var sentences = map[Code]string{
	CodeOverLimit:    "A new result was larger than the limit for a single result, so an excerpt of it is sent.",
	CodeScreen:       "Terminal output that was overwritten, as by a progress bar, is left out.",
	CodeRent:         "Keeping old results costs more than clearing them.",
	CodePause:        "The pause was longer than cache_life, so clearing old results costs no cached tokens.",
	CodeModel:        "The request goes to another model, which has nothing cached, so clearing costs no cached tokens.",
	CodeClearAt:      "The request was over the line at which old results are cleared (clear_at).",
	CodeOldest:       "The messages are older than those that the configuration keeps.",
	CodeOlderResults: "The result is older than those that the configuration keeps.",
	CodeTextOnly:     "The configuration keeps only the text of older turns.",
	CodeNamed:        "The configuration excludes messages with this name.",
	CodeMessages:     "There were more messages than the configuration lets through (newest_messages).",
	CodeCompactAt:    "The request was over the line at which old turns become a summary (compact_at).",
	CodeCutoverAt:    "The tokens sent since the last summary were over the budget (cutover_at).",
	CodeCompactTurns: "The model had answered as often since the last summary as compact_turns says.",
	CodeAsked:        "A compaction was asked for.",
	CodeRefused:      "The provider refused the request as too long.",
	CodeCut:          "The request was still too long, so results were cut hard.",
	CodeUser:         "The provider refused the request, and nothing else made it fit: the message is left out.",
	CodeThinking:     "The model accepts this thinking only behind an unchanged prefix, and the prefix has changed.",
	CodeThought:      "The provider refused thinking that stood behind a changed prefix.",
	CodeBroken:       "The provider refused the rewritten conversation, and not for its size, so the original was sent.",
	CodeReplayed:     "A text of the agent was longer than max_replayed, so its middle is left out.",
	CodeStale:        "A later call repeats the result or changed its file, and the result was over stale_tokens.",
	CodeRestored:     "The user had earlier messages sent whole again.",
	CodePictures:     "There were nearly too many pictures for the provider, or it refused them: old ones are left out.",
	CodeUnpaired:     "A call had no result, or a result no call, and the provider refused the request for that.",

	CodeNotDue:            "No new result is too large, and clearing old ones now would cost more than it saves.",
	CodeFreesLittle:       "The request is over the line for clearing (clear_at), but clearing would free too little.",
	CodeFloor:             "The body is under 16 KB: only final screens, max_replayed, stale_tokens and limits of single tools hold.",
	CodeAgain:             "The same request came before and is sent as it was then.",
	CodeMeanwhile:         "The same request came at the same time, and both are sent alike.",
	CodeClientSummarises:  "The client asks for its own summary: earlier decisions are repeated, nothing new is done.",
	CodeProviderClears:    "The provider clears or compacts this conversation itself: only new results are shortened.",
	CodeProviderRemembers: "The provider holds the earlier messages: only new results are shortened.",
	CodeThinkingRound:     "The model's thinking allows no change until its calls have results.",
	CodeNothingOlder:      "There is no older group of messages to leave out.",
	CodeSavesLittle:       "Leaving out older messages would save less than a tenth of the request.",
	CodeOverhead:          "System prompt, tools, first and newest message do not fit the window: compaction cannot help.",
	CodeSigned:            "The request carries a signature of its body, so it is sent unchanged.",
	CodeEncoded:           "The body cannot be decompressed within the limits, so it is sent unchanged.",
	CodeNoObject:          "The body is not a JSON object, so it is sent unchanged.",
	CodeNotRead:           "The body is not a conversation of its API, or too large, so it is sent unchanged.",
	CodeFailed:            "Something failed inside epitome: the request is sent in the form that was decided last.",
	CodeUnrecorded:        "The store did not confirm the decision, so the next request may be sent in another form.",
	CodeUnkept:            "Nothing could be stored, so what was taken out of the refused request was not kept.",
}

// Sentence explains the code; empty for NoCode.
func (c Code) Sentence() string { return sentences[c] }

// Clause returns the sentence as it stands behind a colon, without its full stop; empty for NoCode.
func (c Code) Clause() string {
	s := strings.TrimSuffix(c.Sentence(), ".")
	return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

// Codes are several codes, each once, in the order in which they were observed.
type Codes []Code

// With returns the codes and more of them, and leaves s unchanged.
func (s Codes) With(more ...Code) Codes {
	all := slices.Clone(s)
	for _, c := range more {
		if c != NoCode && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// String returns the codes with commas between them.
func (s Codes) String() string {
	names := make([]string, len(s))
	for i, c := range s {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}

// Sentences explains the codes.
func (s Codes) Sentences() string {
	all := make([]string, len(s))
	for i, c := range s {
		all[i] = c.Sentence()
	}
	return strings.Join(all, " ")
}
