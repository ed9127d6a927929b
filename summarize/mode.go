package summarize

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says of which parts a summary is made. config.toml explains the modes for users.
type Mode string

// The modes of a summary.
const (
	Auto     Mode = "auto"     // Hybrid
	LLM      Mode = "llm"      // Hybrid
	Intent   Mode = "intent"   // by code alone: all that was called, too
	Hybrid   Mode = "hybrid"   // a model's words, and by code all that was called
	Window   Mode = "window"   // nothing new: the oldest groups go, and a model's earlier words stay
	Lossless Mode = "lossless" // by code alone: in which lines of the transcript messages lie
)

// ModeKey is the name by which a request's header sets its mode.
const ModeKey = "summarize_mode"

// ParseMode returns the mode with that name. The error does not repeat the name.
func ParseMode(name string) (Mode, error) {
	modes := []string{string(Auto), string(LLM), string(Intent), string(Hybrid), string(Window), string(Lossless)}
	if !slices.Contains(modes, name) {
		return "", fmt.Errorf("write one of %s", strings.Join(modes, ", "))
	}
	return Mode(name), nil
}

// Asks reports whether a model is asked for summaries in this mode.
func (m Mode) Asks() bool { return m.OrDefault() == Hybrid }

// OrDefault returns the mode that Auto, LLM, and no mode, stand for: Hybrid.
func (m Mode) OrDefault() Mode {
	if m == "" || m == Auto || m == LLM {
		return Hybrid
	}
	return m
}
