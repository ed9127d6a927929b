package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"epitome/unit"
)

// Limits are the numbers of the ladder: the table [rewrite] of config.toml, where each is explained for users. Tokens are
// the model's; what a limit is at a window is in at.
type Limits struct {
	Preset string     `toml:"preset"`
	Floor  unit.Bytes `toml:"floor"` // bytes of body below which nothing new is decided

	Offload      int           `toml:"offload_tokens"` // of a result, above which rung 1 cuts it
	OffloadKeep  int           `toml:"offload_keep"`
	OffloadReads int           `toml:"offload_read_tokens"` // the same for the results of file reads
	ReadsKeep    int           `toml:"offload_read_keep"`
	OffloadShare float64       `toml:"offload_share"`      // of the window, at most
	Screen       int           `toml:"screen_tokens"`      // of terminal output, above which its final screen is sent
	Names        int           `toml:"names"`              // bytes of names in a stub
	Recall       int           `toml:"recall_tokens"`      // of an artifact that is read back, which come through in full
	ToolLimits   []Limit       `toml:"tools"`              // for tools by name, in place of the limits above
	Repeats      bool          `toml:"repeats"`            // blocks of lines that stand earlier become a reference
	ClearAt      float64       `toml:"clear_at"`           // share of usable
	ClearAtLeast int           `toml:"clear_at_least"`     // tokens
	CompactAt    float64       `toml:"compact_at"`         // share of usable
	PrepareAt    float64       `toml:"prepare_at"`         // share of usable from which on a summary is made ahead of need
	Target       float64       `toml:"compact_to"`         // share of usable that a compaction comes down to
	KeepTail     int           `toml:"keep_tokens"`        // of the newest groups, which a compaction leaves as they are
	Thrash       int           `toml:"anti_thrash_window"` // compactions of a conversation by which it is told whether more of them pay
	WarnAt       int           `toml:"warn_at"`            // tokens sent of a conversation since its last compaction; 0 never warns
	CutoverAt    int           `toml:"cutover_at"`         // the same at which it is compacted; 0 never does
	Protect      int           `toml:"protect_tokens"`     // of the newest results, which rung 2 leaves alone
	Groups       int           `toml:"protect_groups"`     // newest groups, likewise
	Rent         float64       `toml:"rent"`               // how many times the price of a rewrite must be owed; 0 waits for the line
	CachedPrice  float64       `toml:"cached_price"`       // of a token that the provider has cached, against one that is new
	CacheLife    unit.Duration `toml:"cache_life"`         // how long after a request the provider has it cached; 0: for ever
	ClearCalls   bool          `toml:"clear_arguments"`
	Rules
}

// Limit is one table [[rewrite.tools]] of config.toml.
type Limit struct {
	Tool   string `toml:"tool"`   // pattern: * is any run of characters, ? is one; case does not matter
	Tokens int    `toml:"tokens"` // limit of rung 1; 0 leaves the general one
	Keep   bool   `toml:"keep"`   // no rung touches the results
}

// preset is a row of the table of presets: the numbers that differ between them.
type preset struct {
	name                                     string
	offload, keep, reads, readsKeep, protect int
	rent                                     float64
}

// presets is the table.
func presets() []preset {
	return []preset{
		{"balanced", 8_000, 2_000, 20_000, 4_000, 5_000, 3},
		{"faithful", 8_000, 2_000, 20_000, 4_000, 10_000, 6},
		{"cautious", 20_000, 4_000, 20_000, 4_000, 40_000, 0},
		{"economy", 4_000, 1_000, 8_000, 2_000, 5_000, 1.5},
	}
}

// Preset sets the numbers of a preset by name, and leaves all others as they are.
func (l *Limits) SetPreset(name string) error {
	for _, p := range presets() {
		if p.name == name {
			l.Preset, l.Protect, l.Rent = p.name, p.protect, p.rent
			l.Offload, l.OffloadKeep, l.OffloadReads, l.ReadsKeep = p.offload, p.keep, p.reads, p.readsKeep
			return nil
		}
	}
	return fmt.Errorf("cannot use preset %q: write one of %s", name, presetNames())
}

// presetNames are the names of all presets, in one text.
func presetNames() string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.name)
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
	spentGroups    = 10 // how old a result must be to be cleared because it is spent
	leastBatch     = 1_000
	leastCold      = 5_000 // tokens that a batch frees at least while nothing is cached; half of what it must at the line, if that is less
	leastSaving    = 40    // tokens that clearing one result must free
	leastCleared   = 100
	leastRepeat    = 25 // tokens that a reference to a repeated block costs, about
)

// ladder is what the limits are for one model and window, in tokens of the vocabulary that is counted in.
type ladder struct {
	*Limits
	window, usable                           int
	prepareLine, compactLine, keepTail       int
	offload, keep, reads, readsKeep, screen  int
	recall, clearLine, atLeast, protect, age int
}

// at is the limits at a window of so many tokens, of which usable may be filled. One token of the vocabulary is ratio of the model's.
func (l *Limits) at(window, usable int, ratio float64) ladder {
	here := func(tokens float64) int { return int(tokens / ratio) }
	share := func(tokens int, share float64) int { return here(min(float64(tokens), share*float64(window))) }
	s := ladder{Limits: l, usable: here(float64(usable)), screen: here(float64(l.Screen))}
	s.offload, s.reads = share(l.Offload, l.OffloadShare), share(l.OffloadReads, l.OffloadShare)
	s.keep, s.readsKeep = min(here(float64(l.OffloadKeep)), s.offload/2), min(here(float64(l.ReadsKeep)), s.reads/2)
	s.recall = share(l.Recall, recallShare)
	s.clearLine = int(l.ClearAt * float64(s.usable))
	s.prepareLine = int(l.PrepareAt * float64(s.usable))
	s.compactLine, s.keepTail, s.window = int(l.CompactAt*float64(s.usable)), share(l.KeepTail, keepShare), here(float64(window))
	s.atLeast = here(min(max(float64(l.ClearAtLeast), clearShare*float64(window)), mostClearShare*float64(window)))
	s.protect = share(l.Protect, protectShare)
	s.age = min(groupsAt(window), l.Groups)
	return s
}

// groupsAt is how many of the newest groups are left alone at a window: an agent in a small one lives on less.
func groupsAt(window int) int {
	switch {
	case window < 48_000:
		return 3
	case window < 96_000:
		return 6
	}
	return 12
}

// floor is the body in bytes below which nothing new is decided: never more bytes than usable has tokens.
func (s ladder) floor() int { return min(int(s.Floor), s.usable) }

// limitOf is what rung 1 allows a result of the tool: over limit tokens it keeps keep. untouched says that no rung may touch it.
func (s ladder) limitOf(tool string, reads bool) (limit, keep int, untouched bool) {
	limit, keep = s.offload, s.keep
	if reads {
		limit, keep = s.reads, s.readsKeep
	}
	i := slices.IndexFunc(s.ToolLimits, func(l Limit) bool { return unit.Match(l.Tool, tool) })
	if i < 0 {
		return limit, keep, false
	}
	if own := s.ToolLimits[i]; own.Tokens > 0 {
		limit, keep = own.Tokens, min(keep, own.Tokens/2)
	}
	return limit, keep, s.ToolLimits[i].Keep
}
