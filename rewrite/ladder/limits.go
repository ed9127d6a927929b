package ladder

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"epitome/rewrite/activity"
	"epitome/unit"
)

// Limits are the numbers of the ladder: the table [rewrite] of config.toml, which explains each to users. Tokens are
// the model's, and shares are of what its window can take.
type Limits struct {
	Preset       string          `toml:"preset"`
	Offload      int             `toml:"offload_tokens"`        // of a result, above which it is cut
	Lookups      int             `toml:"offload_lookup_tokens"` // the same for searches and fetches
	OffloadReads int             `toml:"offload_read_tokens"`   // and for file reads
	OffloadKeep  int             `toml:"offload_keep"`          // that stay; half as many of lookups, twice of reads
	ToolLimits   []Limit         `toml:"tools"`                 // for tools by name, in place of the limits above
	ClearAt      float64         `toml:"clear_at"`              // share at which old results are cleared
	CompactAt    float64         `toml:"compact_at"`            // share at which a summary replaces older turns
	Target       float64         `toml:"compact_to"`            // share that a compaction comes down to
	KeepTail     int             `toml:"keep_tokens"`           // of the newest groups, which a compaction leaves alone
	WarnAt       int             `toml:"warn_at"`               // tokens sent since the last compaction; 0 never warns
	CutoverAt    int             `toml:"cutover_at"`            // the same, at which to compact; 0 never does
	Protect      int             `toml:"protect_tokens"`        // of the newest results, which are not cleared
	Rent         float64         `toml:"rent"`                  // times the price of a rewrite that must be owed; 0 waits for the line
	CachedPrice  float64         `toml:"cached_price"`          // of a token that the provider has cached; a new one costs 1
	CacheLife    unit.Duration   `toml:"cache_life"`            // how long the provider has a request cached; 0 is for ever
	Bound        map[string]bool `toml:"bound_thinking"`        // models, by pattern, that want thinking behind an unchanged prefix
	Rules
	// Nobody configures these: Usual sets them, and tests may want smaller ones.
	Floor        int     `toml:"-"` // bytes of body below which nothing new is decided
	OffloadShare float64 `toml:"-"` // of the window, which a limit for results comes to at most
	ClearAtLeast int     `toml:"-"` // tokens that clearing at the line frees, at least
	Groups       int     `toml:"-"` // newest groups, whose results are not cleared
	PriceFixed   bool    `toml:"-"` // the user gave CachedPrice: it holds for every model
}

// Limit is one table [[rewrite.tools]] of config.toml.
type Limit struct {
	Tool   string `toml:"tool"`   // pattern: * is any run of characters, ? is one; case does not matter
	Tokens int    `toml:"tokens"` // of a result, above which it is cut; 0 leaves the general limit
	Keep   bool   `toml:"keep"`   // the tool's results never change
}

// Rules are the user's filters, all off by default. Each moves in strides of half its number, to spare the cache.
type Rules struct {
	Turns    int  `toml:"newest_turns"`        // user's turns that are sent, the first message aside
	Pairs    int  `toml:"newest_tool_results"` // results that are sent in full
	TextOnly bool `toml:"text_only"`           // calls and results of older groups are left out
}

// Usual returns limits with the numbers that nobody configures. config.toml has the others.
func Usual() Limits {
	return Limits{Floor: 16 << 10, OffloadShare: 0.15, ClearAtLeast: 20_000, Groups: 12, CachedPrice: 0.1}
}

// presets are the numbers that differ between presets.
var presets = [...]Limits{
	{Preset: "balanced", Offload: 4_000, Lookups: 2_000, OffloadReads: 20_000, OffloadKeep: 2_000, Protect: 5_000, Rent: 5},
	{Preset: "faithful", Offload: 8_000, Lookups: 8_000, OffloadReads: 20_000, OffloadKeep: 2_000, Protect: 10_000, Rent: 6},
	{Preset: "cautious", Offload: 20_000, Lookups: 20_000, OffloadReads: 20_000, OffloadKeep: 4_000, Protect: 40_000},
	{Preset: "economy", Offload: 4_000, Lookups: 2_000, OffloadReads: 8_000, OffloadKeep: 1_000, Protect: 5_000, Rent: 1.5},
}

// SetPreset sets the numbers of a preset by name, and leaves all others as they are. The error says what to write.
func (l *Limits) SetPreset(name string) error {
	var names []string
	for _, p := range presets {
		if p.Preset == name {
			l.Preset, l.Protect, l.Rent = name, p.Protect, p.Rent
			l.Offload, l.Lookups, l.OffloadReads, l.OffloadKeep = p.Offload, p.Lookups, p.OffloadReads, p.OffloadKeep
			return nil
		}
		names = append(names, p.Preset)
	}
	return errors.New("write one of " + strings.Join(names, ", "))
}

// AtPrice returns the limits at a price of cached tokens, unless the user gave one.
func (l *Limits) AtPrice(cached float64) *Limits {
	if l.PriceFixed || l.CachedPrice == cached {
		return l
	}
	own := *l
	own.CachedPrice = cached
	return &own
}

// BindsThinking reports whether a model accepts its thinking only behind an unchanged prefix: the longest pattern that
// matches its name decides.
func (l *Limits) BindsThinking(model string) bool {
	longest := ""
	for pattern := range l.Bound {
		isLonger := cmp.Or(cmp.Compare(len(pattern), len(longest)), cmp.Compare(pattern, longest)) > 0
		if isLonger && unit.Match(pattern, model) {
			longest = pattern
		}
	}
	return l.Bound[longest]
}

// toolLimit returns the first limit whose pattern matches the tool; an empty one if none does.
func (l *Limits) toolLimit(tool string) Limit {
	for _, own := range l.ToolLimits {
		if tool != "" && unit.Match(own.Tool, tool) {
			return own
		}
	}
	return Limit{}
}

// What else bounds the numbers: shares of the window, tokens and groups.
const (
	protectShare   = 0.20 // that is protected from clearing, at most
	clearShare     = 0.10 // that a batch frees, if that is more than ClearAtLeast
	mostClearShare = 0.25 // that a batch must free, at most
	keepShare      = 0.25
	prepareShare   = 0.8   // of usable, from which on a summary is made ahead of need
	leastBatch     = 1_000 // tokens that clearing below the line frees
	leastCold      = 5_000 // the same while nothing is cached, or half of what the line asks for
	leastSaving    = 40    // tokens that shortening one text frees
	leastFreed     = 200   // tokens that clearing one text frees: its stub costs attention, too
)

// Effective is what the limits come to at one window, in tokens of the vocabulary that is counted in.
type Effective struct {
	Conf           *Limits `json:"-"`
	Window, Usable int     `json:"-"`

	Floor       int `json:"floor"` // bytes
	Offload     int `json:"offload_tokens"`
	Lookups     int `json:"offload_lookup_tokens"`
	Reads       int `json:"offload_read_tokens"`
	Keep        int `json:"offload_keep"`
	ClearLine   int `json:"clear_at"`
	AtLeast     int `json:"clear_at_least"`
	PrepareLine int `json:"prepare_at"`
	CompactLine int `json:"compact_at"`
	Target      int `json:"compact_to"`
	KeepTail    int `json:"keep_tokens"`
	Protect     int `json:"protect_tokens"`
	Age         int `json:"protect_groups"` // groups
}

// EffectiveAt returns the limits at a window of so many tokens, of which usable may be filled. One token of the
// vocabulary is ratio of the model's.
func (l *Limits) EffectiveAt(window, usable int, ratio float64) Effective {
	here := func(tokens float64) int { return int(tokens / ratio) }
	share := func(of float64) float64 { return of * float64(window) }
	atMost := func(tokens int, of float64) int { return here(min(float64(tokens), share(of))) }
	line := func(of float64) int { return int(of * float64(here(float64(usable)))) }
	s := Effective{
		Conf: l, Window: here(float64(window)), Usable: here(float64(usable)), Floor: min(l.Floor, here(float64(usable))),
		Offload: atMost(l.Offload, l.OffloadShare), Lookups: atMost(l.Lookups, l.OffloadShare),
		Reads: atMost(l.OffloadReads, l.OffloadShare), Keep: here(float64(l.OffloadKeep)),
		ClearLine: line(l.ClearAt), PrepareLine: line(prepareShare), CompactLine: line(l.CompactAt),
		AtLeast: here(min(max(float64(l.ClearAtLeast), share(clearShare)), share(mostClearShare))),
		Target:  line(l.Target), KeepTail: atMost(l.KeepTail, keepShare),
		Protect: atMost(l.Protect, protectShare), Age: l.Groups,
	}
	switch { // an agent in a small window lives on less
	case window < 48_000:
		s.Age = min(3, l.Groups)
	case window < 96_000:
		s.Age = min(6, l.Groups)
	}
	return s
}

// LimitOf returns the limit of a call's result, and how many tokens stay of one above it.
func (s Effective) LimitOf(call *activity.Call) (limit, keep int) {
	limit, keep = s.Offload, s.Keep
	switch call.Kind {
	case activity.Search, activity.Fetch:
		limit, keep = s.Lookups, s.Keep/2
	case activity.Read:
		limit, keep = s.Reads, 2*s.Keep
	}
	if own := s.Conf.toolLimit(call.Tool); own.Tokens > 0 {
		limit = own.Tokens
	}
	return limit, min(keep, limit/2)
}

// number is one number that a user or a request may set.
type number struct {
	name, unit string
	min, max   float64
	value      any // *int, *float64 or *unit.Duration
}

// numbers returns the table of all numbers. The configuration file and headers are read by it.
func (l *Limits) numbers() []number {
	const most, least = unit.MostTokens, 0.01 // a smaller share is a slip of the pen
	return []number{
		{"offload_tokens", "tokens", 1, most, &l.Offload},
		{"offload_lookup_tokens", "tokens", 1, most, &l.Lookups},
		{"offload_read_tokens", "tokens", 1, most, &l.OffloadReads},
		{"offload_keep", "tokens", 0, most, &l.OffloadKeep},
		{"clear_at", "share", least, 1, &l.ClearAt},
		{"compact_at", "share", least, 1, &l.CompactAt},
		{"compact_to", "share", least, 1, &l.Target},
		{"keep_tokens", "tokens", 0, most, &l.KeepTail},
		{"warn_at", "tokens", 0, most, &l.WarnAt},
		{"cutover_at", "tokens", 0, most, &l.CutoverAt},
		{"protect_tokens", "tokens", 0, most, &l.Protect},
		{"rent", "factor", 0, 1000, &l.Rent},
		{"cached_price", "price", 0, 1, &l.CachedPrice},
		{"cache_life", "time", 0, math.MaxInt64, &l.CacheLife},
		{"newest_turns", "turns", 0, most, &l.Turns},
		{"newest_tool_results", "results", 0, most, &l.Pairs},
	}
}

// Names returns the names of the numbers that a request may set.
func Names() (names []string) {
	for _, n := range new(Limits).numbers() {
		names = append(names, n.name)
	}
	return names
}

// With returns l with another number under a name. ok says that there is a number of that name. The error says what to
// write, and does not repeat the value. CheckShares is for when all numbers are set.
func (l Limits) With(name, value string) (with Limits, ok bool, err error) {
	with = l
	for _, n := range with.numbers() {
		if n.name != name {
			continue
		}
		switch at := n.value.(type) {
		case *int:
			*at, err = strconv.Atoi(value)
		case *float64:
			*at, err = strconv.ParseFloat(value, 64)
		case *unit.Duration:
			err = at.UnmarshalText([]byte(value))
		}
		if err != nil || !n.isSound() {
			return l, true, errors.New(n.advice())
		}
		with.PriceFixed = with.PriceFixed || name == "cached_price"
		return with, true, nil
	}
	return l, false, nil
}

func (n number) get() float64 {
	switch at := n.value.(type) {
	case *int:
		return float64(*at)
	case *unit.Duration:
		return float64(*at)
	}
	return *n.value.(*float64)
}

// isSound reports whether the number is within its bounds. NaN is not.
func (n number) isSound() bool { return n.min <= n.get() && n.get() <= n.max }

// advice says what to write as the number.
func (n number) advice() string {
	switch n.value.(type) {
	case *unit.Duration:
		return "write a time with its unit, as 5m or 1h"
	case *int:
		return fmt.Sprintf("write a whole number of %s from %.0f to %.0f", n.unit, n.min, n.max)
	}
	return fmt.Sprintf("write a %s from %v to %v", n.unit, n.min, n.max)
}

// Check says which numbers make no sense, alone or together, as a *unit.KeyError.
func (l *Limits) Check() error {
	for _, n := range l.numbers() {
		if !n.isSound() {
			return unit.Wrong([]string{"rewrite", n.name}, "cannot use rewrite.%s %v: %s", n.name, n.get(), n.advice())
		}
	}
	if _, empty := l.Bound[""]; empty {
		return unit.Wrong([]string{"rewrite", "bound_thinking", ""},
			"cannot use rewrite.bound_thinking \"\": write a pattern such as claude-*, or leave it out")
	}
	for i, t := range l.ToolLimits {
		if t.Tool == "" || t.Tokens < 0 || t.Tokens == 0 && !t.Keep {
			return unit.Wrong([]string{"rewrite", "tools", strconv.Itoa(i)},
				"cannot use rewrite.tools %q: write a pattern as tool, and tokens above zero or keep = true", t.Tool)
		}
	}
	return l.CheckShares()
}

// CheckShares says which shares make no sense together, as a *unit.KeyError.
func (l *Limits) CheckShares() error {
	if l.Target < l.CompactAt && l.ClearAt <= l.CompactAt {
		return nil
	}
	err := unit.Wrong([]string{"rewrite", "compact_at"}, "cannot use compact_at %v with compact_to %v and clear_at %v: "+
		"compact_to must be below compact_at, and clear_at not above it", l.CompactAt, l.Target, l.ClearAt)
	err.Keys = append(err.Keys, []string{"rewrite", "compact_to"}, []string{"rewrite", "clear_at"})
	return err
}
