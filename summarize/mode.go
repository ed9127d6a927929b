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
	LLM      Mode = "llm"      // a model's words alone; where there are none, as Intent
	Intent   Mode = "intent"   // by code alone: all that was called, too
	Hybrid   Mode = "hybrid"   // a model's words, and by code all that was called
	Window   Mode = "window"   // nothing new: the oldest groups go, and a model's earlier words stay
	Lossless Mode = "lossless" // by code alone: how everything stands, without the calls that led there
)

// ModeKey is the name by which a request's header sets its mode.
const ModeKey = "summarize_mode"

// Modes returns the names of all modes.
func Modes() []string {
	return []string{string(Auto), string(LLM), string(Intent), string(Hybrid), string(Window), string(Lossless)}
}

// ParseMode returns the mode with that name. The error does not repeat the name.
func ParseMode(name string) (Mode, error) { return oneOf[Mode](Modes(), name) }

func oneOf[T ~string](names []string, name string) (T, error) {
	if !slices.Contains(names, name) {
		return "", fmt.Errorf("write one of %s", strings.Join(names, ", "))
	}
	return T(name), nil
}

// Detail says how long summaries are: a model's text, and the part by code in proportion. Empty is Medium.
type Detail string

// The levels of detail, with about the tokens of a model's text.
const (
	Low    Detail = "low"    // 600
	Medium Detail = "medium" // 1,500
	High   Detail = "high"   // 3,000
)

// DetailKey is the name by which a request's header sets its detail.
const DetailKey = "summarize_detail"

// Details returns the names of all levels.
func Details() []string { return []string{string(Low), string(Medium), string(High)} }

// ParseDetail returns the level with that name. The error does not repeat the name.
func ParseDetail(name string) (Detail, error) { return oneOf[Detail](Details(), name) }

// share returns how much of the room of Medium a summary takes, and how many tokens a model's text may have: a third more
// than it is asked for.
func (d Detail) share() (share, prose float64) {
	switch d {
	case Low:
		return 0.4, 800
	case High:
		return 2, 4_000
	}
	return 1, 1_750
}

// Asks reports whether a model is asked for summaries in this mode.
func (m Mode) Asks() bool { return m.OrDefault() == Hybrid || m == LLM }

// OrDefault returns the mode that Auto, and no mode, stand for: Hybrid.
func (m Mode) OrDefault() Mode {
	if m == "" || m == Auto {
		return Hybrid
	}
	return m
}
