// Package limits is the numbers of the ladder: the table [rewrite] of the configuration, presets, and what they come
// to at a window.
//
// keys returns the one table of them. The configuration file, request headers, explain and the check of a configuration
// read it, so all four agree about names, bounds and units.
package limits

import (
	"fmt"
	"strings"

	"epitome/unit"
)

// Limits are the numbers of the ladder: the table [rewrite] of config.toml, where each is explained for users. Tokens
// are the model's; EffectiveAt says what they come to at a window.
type Limits struct {
	Preset string     `toml:"preset"`
	Floor  unit.Bytes `toml:"floor"` // bytes of body below which nothing new is decided

	Offload      int     `toml:"offload_tokens"`        // of a result, above which rung 1 cuts it
	Lookups      int     `toml:"offload_lookup_tokens"` // the same for searches and fetches
	OffloadReads int     `toml:"offload_read_tokens"`   // and for file reads
	OffloadKeep  int     `toml:"offload_keep"`          // that stay; of lookups half as many, of reads twice
	OffloadShare float64 `toml:"offload_share"`         // of the window, at most
	Screen       int     `toml:"screen_tokens"`         // of terminal output, above which its final screen is sent
	Recall       int     `toml:"recall_tokens"`         // of an artifact that is read back, which come through in full
	ToolLimits   []Limit `toml:"tools"`                 // for tools by name, in place of the limits above
	ClearAt      float64 `toml:"clear_at"`              // share of usable
	ClearAtLeast int     `toml:"clear_at_least"`        // tokens
	CompactAt    float64 `toml:"compact_at"`            // share of usable
	PrepareAt    float64 `toml:"prepare_at"`            // share of usable from which on a summary is made ahead of need
	Target       float64 `toml:"compact_to"`            // share of usable that a compaction comes down to
	KeepTail     int     `toml:"keep_tokens"`           // of the newest groups, which a compaction leaves as they are
	Thrash       int     `toml:"anti_thrash_window"`    // compactions of a conversation by which it is told whether more of them pay
	WarnAt       int     `toml:"warn_at"`               // tokens sent of a conversation since its last compaction; 0 never warns
	CutoverAt    int     `toml:"cutover_at"`            // the same at which it is compacted; 0 never does
	Protect      int     `toml:"protect_tokens"`        // of the newest results, which rung 2 leaves alone
	Groups       int     `toml:"protect_groups"`        // newest groups, likewise
	// Rent is how many times the price of a rewrite must be owed; 0 waits for the line.
	Rent        float64       `toml:"rent"`
	CachedPrice float64       `toml:"cached_price"` // of a token that the provider has cached, against one that is new
	CacheLife   unit.Duration `toml:"cache_life"`   // how long after a request the provider has it cached; 0: for ever
	ClearCalls  bool          `toml:"clear_arguments"`
	// Bound says by patterns of names which models take what they thought only behind what they thought that behind.
	Bound map[string]bool `toml:"bound_thinking"`
	Rules

	priceFixed bool // the user gave the price of a cached token: it holds for every model
}

// Limit is one table [[rewrite.tools]] of config.toml.
type Limit struct {
	Tool   string `toml:"tool"`   // pattern: * is any run of characters, ? is one; case does not matter
	Tokens int    `toml:"tokens"` // limit of rung 1; 0 leaves the general one
	Keep   bool   `toml:"keep"`   // no rung touches the results
}

// preset is a row of the table of presets: the numbers that differ between them.
type preset struct {
	Name                                   string
	offload, lookups, reads, keep, protect int
	rent                                   float64
}

// presets returns the table of presets.
func presets() []preset {
	return []preset{
		{"balanced", 4_000, 2_000, 20_000, 2_000, 5_000, 5},
		{"faithful", 8_000, 8_000, 20_000, 2_000, 10_000, 6},
		{"cautious", 20_000, 20_000, 20_000, 4_000, 40_000, 0},
		{"economy", 4_000, 2_000, 8_000, 1_000, 5_000, 1.5},
	}
}

// Preset sets the numbers of a preset by name, and leaves all others as they are.
func (l *Limits) SetPreset(name string) error {
	for _, p := range presets() {
		if p.Name == name {
			l.Preset, l.Protect, l.Rent = p.Name, p.protect, p.rent
			l.Offload, l.Lookups, l.OffloadReads, l.OffloadKeep = p.offload, p.lookups, p.reads, p.keep
			return nil
		}
	}
	return fmt.Errorf("cannot use preset %q: write one of %s", name, presetNames())
}

// presetNames returns the names of all presets, in one text.
func presetNames() string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// Shares of the window that bound what limits are in tokens, and ages in groups; all are of the ladder's definition.
const (
	protectShare   = 0.20
	clearShare     = 0.10 // what a batch frees at least, if that is more than clear_at_least
	mostClearShare = 0.25 // and never needs to be more than
	recallShare    = 0.25
	keepShare      = 0.25
	SpentGroups    = 10 // how old a result must be to be cleared because it is spent
	LeastBatch     = 1_000
	// LeastCold is how many tokens a batch frees at least while nothing is cached, or half of what it must at the
	// line, if that is less.
	LeastCold   = 5_000
	LeastSaving = 40 // tokens that shortening one text must free
	// LeastShortened is how many tokens a result has at least that rung 1 looks at.
	LeastShortened = 100
	// LeastFreed is how many tokens clearing one text frees at least. What stands in its place costs attention, too.
	LeastFreed = 200
)

// IsWorthClearing reports whether clearing a text of so many tokens is worth it when that frees so many of them.
func IsWorthClearing(tokens, freed int) bool { return freed >= LeastFreed && 2*freed >= tokens }

// Effective is what the limits are for one model and window, in tokens of the vocabulary that is counted in.
type Effective struct {
	Conf                                     *Limits
	Window, Usable                           int
	PrepareLine, CompactLine, KeepTail       int
	offload, lookups, reads, Screen          int
	keep                                     int
	Recall, ClearLine, AtLeast, Protect, Age int
}

// EffectiveAt returns the limits at a window of so many tokens, of which usable may be filled. One token of the
// vocabulary is ratio of the model's.
func (l *Limits) EffectiveAt(window, usable int, ratio float64) Effective {
	here := func(tokens float64) int { return int(tokens / ratio) }
	share := func(tokens int, share float64) int { return here(min(float64(tokens), share*float64(window))) }
	s := Effective{Conf: l, Usable: here(float64(usable)), Screen: here(float64(l.Screen))}
	s.offload, s.lookups, s.reads = share(l.Offload, l.OffloadShare), share(l.Lookups, l.OffloadShare), share(l.OffloadReads, l.OffloadShare)
	s.keep = here(float64(l.OffloadKeep))
	s.Recall = share(l.Recall, recallShare)
	s.ClearLine = int(l.ClearAt * float64(s.Usable))
	s.PrepareLine = int(l.PrepareAt * float64(s.Usable))
	s.CompactLine, s.KeepTail, s.Window = int(l.CompactAt*float64(s.Usable)), share(l.KeepTail, keepShare),
		here(float64(window))
	s.AtLeast = here(min(max(float64(l.ClearAtLeast), clearShare*float64(window)), mostClearShare*float64(window)))
	s.Protect = share(l.Protect, protectShare)
	s.Age = min(groupsAt(window), l.Groups)
	return s
}

// groupsAt returns how many of the newest groups are left alone at a window: an agent in a small one lives on less.
func groupsAt(window int) int {
	switch {
	case window < 48_000:
		return 3
	case window < 96_000:
		return 6
	}
	return 12
}

// Floor returns the body in bytes below which nothing new is decided: never more bytes than usable has tokens.
func (s Effective) Floor() int { return min(int(s.Conf.Floor), s.Usable) }

// Kind is what a tool does, for its limit.
type Kind uint8

// The kinds of tools.
const (
	Command Kind = iota // and all that is not known
	Lookup              // it searches or fetches
	Read                // it reads files
)

// LimitOf returns what rung 1 allows a result of the tool: over limit tokens it keeps keep. untouched says that no
// rung may touch it.
func (s Effective) LimitOf(tool string, kind Kind) (limit, keep int, untouched bool) {
	limit, keep = s.offload, s.keep
	switch kind {
	case Lookup:
		limit, keep = s.lookups, s.keep/2
	case Read:
		limit, keep = s.reads, 2*s.keep
	}
	own := s.Conf.toolLimit(tool)
	if own.Tokens > 0 {
		limit = own.Tokens
	}
	return limit, min(keep, limit/2), own.Keep
}

// BindsThinking reports whether a model of that name takes what it thought only behind what it thought that behind: the
// longest pattern that fits says so.
func (l *Limits) BindsThinking(model string) (binds bool) {
	longest := ""
	for pattern, says := range l.Bound {
		if !unit.Match(pattern, model) {
			continue
		}
		if longer := len(pattern) - len(longest); longer > 0 || longer == 0 && pattern > longest {
			longest, binds = pattern, says
		}
	}
	return binds
}

// IsKept reports whether no rung may touch results of the tool.
func (l *Limits) IsKept(tool string) bool { return l.toolLimit(tool).Keep }

// toolLimit returns the first limit whose pattern fits the tool; one that says nothing if none does.
func (l *Limits) toolLimit(tool string) Limit {
	for _, own := range l.ToolLimits {
		if unit.Match(own.Tool, tool) {
			return own
		}
	}
	return Limit{}
}

// Rules are what a user may switch on to have less sent than the ladder would; all are off by default. Each moves in
// strides of half its number, so that the beginning of a conversation stays as it is for many turns.
type Rules struct {
	Turns     int  `toml:"newest_turns"`        // user's turns that are sent, the first message aside
	Messages  int  `toml:"newest_messages"`     // messages that are sent, likewise
	Pairs     int  `toml:"newest_tool_results"` // results that are sent in full
	TextOnly  bool `toml:"text_only"`           // calls and results of older groups are left out
	Assistant int  `toml:"assistant_tokens"`    // of an assistant's older text, above which it is cut
}

// On reports whether any rule is.
func (r Rules) On() bool { return r != Rules{} }
