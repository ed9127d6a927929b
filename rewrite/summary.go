package rewrite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Style is of what a summary is made, and how much it says: two keys of the table [summarize], where each is explained for users.
type Style struct {
	Mode   string // one of Modes; empty is auto
	Detail string // one of Details; empty is medium
}

// What a summary is made of.
const (
	ModeAuto     = "auto"     // intent for a small window, else hybrid
	ModeLLM      = "llm"      // a model's prose, and by code files, commands, names and index
	ModeIntent   = "intent"   // by code alone: all that was called, too
	ModeHybrid   = "hybrid"   // both
	ModeWindow   = "window"   // nothing new: the oldest groups go, and a model's earlier prose stays
	ModeLossless = "lossless" // where each turn lies
)

// How much a summary says.
const (
	DetailHigh     = "high"
	DetailMedium   = "medium"
	DetailLow      = "low"
	DetailTruncate = "truncate" // the task alone
)

// Modes are the values of Style.Mode.
func Modes() []string {
	return []string{ModeAuto, ModeLLM, ModeIntent, ModeHybrid, ModeWindow, ModeLossless}
}

// Details are the values of Style.Detail.
func Details() []string { return []string{DetailHigh, DetailMedium, DetailLow, DetailTruncate} }

// With is s with another value under the name of a header: summarize-mode or summarize-detail. ok says that the name is one of them.
func (s Style) With(name, value string) (with Style, ok bool, err error) {
	field, list := &s.Mode, Modes()
	switch strings.ToLower(name) {
	case "summarize-mode":
	case "summarize-detail":
		field, list = &s.Detail, Details()
	default:
		return s, false, nil
	}
	if !slices.Contains(list, value) {
		return s, true, fmt.Errorf("cannot use x-epitome-%s: write one of %s", strings.ToLower(name), strings.Join(list, ", "))
	}
	*field = value
	return s, true, nil
}

// Summariser makes prose of a span of a conversation, once for each question.
type Summariser interface {
	// Look returns prose that was made before. If there is none, pending says that it is being made.
	Look(key string) (p Prose, found, pending bool)
	// Ask returns the answer. It waits no longer than it should, and not after ctx has ended; the making goes on then.
	Ask(ctx context.Context, q Question) (Prose, error)
	// Prepare has the question answered for whoever looks later.
	Prepare(q Question)
	// Prepares reports whether that is done for conversations with the upstream.
	Prepares(upstream string) bool
	// Needs is how many tokens a request needs besides Question.Continue: for the instruction and the answer.
	Needs(detail string, usable int) int
}

// Question is a span that is to become prose.
type Question struct {
	Key          string // names the span and all that the answer depends on; equal keys have equal answers
	Conversation string // its id
	Upstream     string // the conversation's own
	Model        string
	Detail       string
	Credential   any // of Asked.Client

	Continue   []byte  // the request as it is sent, up to the end of the span; nil if that would not fit, or lacks Earlier
	Transcript []Entry // the span as text; the users' messages of the head come first
	Earlier    string  // prose that the new one is to update
	SpanTokens int     // of the span as it is sent
	Room       int     // tokens that the prose may take
	Usable     int     // tokens that a request to the conversation's model may have
}

// Entry is a piece of a transcript.
type Entry struct {
	Group int    // rises along the span
	Kind  string // system, user, assistant, call or result
	Tool  string // of a call or result
	State string // how a call ended, if that is known
	Text  string
}

// Prose is what a model says of a span, and what that cost.
type Prose struct {
	Text         string
	Requests     int
	InputTokens  int
	CachedTokens int // of the input
	OutputTokens int
	Took         time.Duration
}

// Why a conversation is compacted.
const (
	ReasonThreshold = "threshold" // it is over the line
	ReasonBudget    = "budget"    // what was sent of it since the last time is over cutover_at
	ReasonManual    = "manual"    // it was asked for
	ReasonOverflow  = "overflow"  // the provider refused it as too long
)

// Kinds of a Notice.
const (
	CompactionStarted    = "compaction_started"
	CompactionCompleted  = "compaction_completed"
	CompactionFailed     = "compaction_failed"
	ContextWindowWarning = "context_window_warning"
)

// Notice is something that is told at once: a step of a compaction, or a warning. Tokens are the model's.
type Notice struct {
	Kind           string
	Conversation   string
	Upstream       string
	Model          string
	Window, Usable int
	Reason         string // why there is a compaction; of a warning, what it is about: ReasonBudget, or ReasonThreshold for a request above Usable
	Mode, Detail   string // of the summary, as it was made in the end
	MessagesBefore int
	MessagesAfter  int
	TokensBefore   int // of the request; of a warning about the budget, what was sent since the last compaction
	TokensAfter    int
	TurnsKept      int
	Files          int
	Prose          Prose  // without its text; zero if no model was heard
	Prepared       bool   // the prose was there already
	Why            string // it failed, or fell back to what code makes; empty if neither
}
