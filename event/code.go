package event

import (
	_ "embed"
	"slices"
	"strings"
)

// Code is why a request or an item of it was changed, or why nothing was: what was observed. The set is closed, so a
// code may be a metric label. Decisions and events are recorded with codes: they keep their spelling. The sentence that
// explains a code is in codes.txt.
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
	CodeSetLate           Code = "settings_late"
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
	CodeManyNew           Code = "many_new"
	CodeFailed            Code = "failed"
	CodeUnrecorded        Code = "unrecorded"
	CodeUnkept            Code = "unkept"
)

//go:embed codes.txt
var codes string

// sentences explains each code.
var sentences = func() map[Code]string {
	all := map[Code]string{}
	for line := range strings.Lines(codes) {
		if name, sentence, ok := strings.Cut(line, ": "); ok {
			all[Code(name)] = strings.TrimSpace(sentence)
		}
	}
	return all
}()

// Sentence explains the code; empty for NoCode.
func (c Code) Sentence() string { return sentences[c] }

// Clause returns the sentence as it stands behind a colon, without its full stop; empty for NoCode.
func (c Code) Clause() string {
	s := strings.TrimSuffix(c.Sentence(), ".")
	if s == "" {
		return ""
	}
	return strings.ToLower(s[:1]) + s[1:]
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
	all := make([]string, len(s))
	for i, c := range s {
		all[i] = string(c)
	}
	return strings.Join(all, ", ")
}
