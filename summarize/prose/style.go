package prose

import (
	"errors"
	"slices"
	"strings"
)

// What a summary is made of.
const (
	ModeAuto     = "auto"     // hybrid
	ModeLLM      = "llm"      // a model's prose, and by code files, commands, names and index
	ModeIntent   = "intent"   // by code alone: all that was called, too
	ModeHybrid   = "hybrid"   // both
	ModeWindow   = "window"   // nothing new: the oldest groups go, and a model's earlier prose stays
	ModeLossless = "lossless" // where messages lie
)

// How much a summary says.
const (
	DetailHigh     = "high"
	DetailMedium   = "medium"
	DetailLow      = "low"
	DetailTruncate = "truncate" // the task alone
)

// DetailDistillate is the detail of what is said of one result. No summary has it.
const DetailDistillate = "distillate"

// DetailMemory is the detail of what is said of a session for later ones. No summary has it.
const DetailMemory = "memory"

// Modes returns all that a summary may be made of, as they are offered to users.
func Modes() []string {
	return []string{ModeAuto, ModeLLM, ModeIntent, ModeHybrid, ModeWindow, ModeLossless}
}

// Details returns all levels of detail of a summary, as they are offered to users.
func Details() []string { return []string{DetailHigh, DetailMedium, DetailLow, DetailTruncate} }

// Style is of what a summary is made, and how much it says: two keys of the table [summarize], where each is
// explained for users.
type Style struct {
	Mode   string // one of Modes; empty is auto
	Detail string // one of Details; empty is medium
}

// Names are those of what a request may set.
func Names() []string { return []string{"summarize_mode", "summarize_detail"} }

// With returns s with another value under one of Names. ok says that the name is one. The error says what to write, and
// does not repeat the value.
func (s Style) With(name, value string) (with Style, ok bool, err error) {
	field, list := &s.Mode, Modes()
	switch name {
	case "summarize_mode":
	case "summarize_detail":
		field, list = &s.Detail, Details()
	default:
		return s, false, nil
	}
	if !slices.Contains(list, value) {
		return s, true, errors.New("write one of " + strings.Join(list, ", "))
	}
	*field = value
	return s, true, nil
}

// MayAsk reports whether a model is asked in this mode, in some window at least.
func (s Style) MayAsk() bool {
	return slices.Contains([]string{"", ModeAuto, ModeLLM, ModeHybrid}, s.Mode)
}

// WithDefaults returns the style with its defaults filled in.
func (s Style) WithDefaults() Style {
	if s.Detail == "" {
		s.Detail = DetailMedium
	}
	if s.Mode == "" || s.Mode == ModeAuto {
		s.Mode = ModeHybrid
	}
	return s
}
