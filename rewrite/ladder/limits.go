package ladder

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"epitome/event"
	"epitome/internal/unit"
)

// Limits are the numbers of the ladder: the table [rewrite] of config.toml, which explains each to users. Tokens are
// the model's, and shares are of the tokens that a request may fill, unless a field says otherwise.
type Limits struct {
	Preset       string          `toml:"preset"`
	Offload      int             `toml:"offload_tokens"`        // tokens of a result above which it is cut
	Lookups      int             `toml:"offload_lookup_tokens"` // the same for results of searches and fetches
	OffloadReads int             `toml:"offload_read_tokens"`   // the same for file reads
	OffloadKeep  int             `toml:"offload_keep"`          // tokens left of a cut result; see Known.limitsAt
	Replayed     int             `toml:"max_replayed"`          // the same for the agent's own text; 0: never
	Stale        int             `toml:"stale_tokens"`          // tokens of a stale result to clear at once; 0: never
	ToolLimits   []Limit         `toml:"tools"`                 // for tools by name, in place of the limits above
	ClearAt      Line            `toml:"clear_at"`              // at which old results are cleared
	CompactAt    Line            `toml:"compact_at"`            // at which a summary replaces older turns
	Target       float64         `toml:"compact_to"`            // share to which a compaction brings the request down
	Answers      int             `toml:"compact_turns"`         // since the last compaction that call for one
	KeepTail     int             `toml:"keep_tokens"`           // tokens of the newest groups that a compaction keeps
	KeepTurns    int             `toml:"keep_turns"`            // newest answers that stay whole, if they fit
	WarnAt       int             `toml:"warn_at"`               // tokens sent since the last compaction; 0 never warns
	CutoverAt    int             `toml:"cutover_at"`            // tokens sent since then at which to compact; 0: never
	Protect      int             `toml:"protect_tokens"`        // tokens of the newest results, which are not cleared
	Rent         float64         `toml:"rent"`                  // gain per cost that clearing needs; 0: only ClearAt
	CachedPrice  float64         `toml:"-"`                     // of a cached token, where a new one costs 1
	CacheLife    unit.Duration   `toml:"cache_life"`            // how long the provider caches a request; 0: for ever
	LifeFixed    bool            `toml:"-"`                     // the user set CacheLife, so it holds for every model
	Bound        map[string]bool `toml:"bound_thinking"`        // by pattern of models: see BindsThinking
	Filters
	// Nobody configures these: Usual sets them, and tests may want smaller ones.
	Floor        int     `toml:"-"` // bytes of a body; below, nothing new is decided
	OffloadShare float64 `toml:"-"` // share of the window that no general limit of results exceeds
	ClearAtLeast int     `toml:"-"` // tokens that clearing at ClearAt frees at least
	Groups       int     `toml:"-"` // newest groups, whose results are not cleared
}

// Line is a number of tokens, or a share if it is at most 1.
type Line float64

// UnmarshalText reads the text of a line: "100k". Numbers of TOML need none.
func (l *Line) UnmarshalText(text []byte) error {
	var tokens unit.Tokens
	share, err := strconv.ParseFloat(string(text), 64)
	if err == nil {
		*l = Line(share)
		return nil
	}
	err = tokens.UnmarshalText(text)
	*l = Line(tokens)
	return err
}

// tokens returns the line in tokens of the vocabulary, each of which is ratio tokens of the model. Shares are of room,
// and a number of tokens is at most the usual share.
func (l Line) tokens(room int, ratio float64, usual float64) int {
	if l <= 1 {
		return int(float64(l) * float64(room))
	}
	return min(int(float64(l)/ratio), int(usual*float64(room)))
}

// Limit is one table [[rewrite.tools]] of config.toml.
type Limit struct {
	Tool   string `toml:"tool"`   // pattern: * is any run of characters, ? is one; case does not matter
	Tokens int    `toml:"tokens"` // tokens of a result above which it is cut; 0 leaves the general limit
	Keep   bool   `toml:"keep"`   // the tool's results are never cut or cleared, and stay behind a compaction that fits
}

// Filters are the user's, all off by default.
type Filters struct {
	Turns    int      `toml:"newest_turns"`        // how many turns are sent, beside the first message
	Pairs    int      `toml:"newest_tool_results"` // how many results are sent in full
	Messages int      `toml:"newest_messages"`     // how many messages are sent at most, behind the other filters
	TextOnly bool     `toml:"text_only"`           // calls and results of older turns are left out
	Excluded []string `toml:"exclude_names"`       // names of messages that are left out, with their results
}

// Usual returns limits with the numbers that no file and no preset sets, a CachedPrice for models without a price, and a
// CacheLife for those of which nothing else is known.
func Usual() Limits {
	return Limits{Floor: 16 << 10, OffloadShare: 0.15, ClearAtLeast: 20_000, Groups: 12, CachedPrice: 0.1,
		CacheLife: unit.Duration(5 * time.Minute)}
}

// Caches returns how long providers keep requests in their caches.
func (l *Limits) Caches() event.Caches {
	return event.Caches{Life: l.CacheLife.D(), IsSet: l.LifeFixed}
}

// presets has the numbers that differ between presets, a file for each.
//
//go:embed presets
var presets embed.FS

// Presets returns the names of all presets.
func Presets() (names []string) {
	files, _ := presets.ReadDir("presets") // it is part of the program
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".toml"))
	}
	return names
}

// SetPreset sets the numbers of a named preset, and leaves all others as they are. The error lists the names.
func (l *Limits) SetPreset(name string) error {
	numbers, err := presets.ReadFile("presets/" + name + ".toml")
	if err != nil {
		return errors.New("write one of " + strings.Join(Presets(), ", "))
	}
	l.Preset = name
	return toml.Unmarshal(numbers, l)
}

// BindsThinking reports whether a model accepts its thinking only behind an unchanged prefix: the longest pattern that
// matches its name decides, and of equally long ones the last in the alphabet.
func (l *Limits) BindsThinking(model string) bool {
	longest := ""
	for _, pattern := range slices.Sorted(maps.Keys(l.Bound)) {
		if len(pattern) >= len(longest) && unit.Match(pattern, model) {
			longest = pattern
		}
	}
	return l.Bound[longest]
}

// toolLimit returns the first limit whose pattern matches the tool; an empty one if none does.
func (l *Limits) toolLimit(tool string) Limit {
	for _, own := range l.ToolLimits {
		if tool != "" && unit.Match(own.Tool, tool) { // empty for a result whose call is not known
			return own
		}
	}
	return Limit{}
}

// number is a number that a user or a request may set, with its bounds; a max of 0 is no bound.
type number struct {
	name, kind      string
	value, min, max float64
}

// numbers returns all numbers of l. Check judges the configuration file by them, and With the headers of requests.
func (l *Limits) numbers() []number {
	const most, least, tokens = unit.MostTokens, 0.01, "number of tokens" // a smaller share is a slip of the pen
	return []number{
		{"offload_tokens", tokens, float64(l.Offload), 1, most},
		{"offload_lookup_tokens", tokens, float64(l.Lookups), 1, most},
		{"offload_read_tokens", tokens, float64(l.OffloadReads), 1, most},
		{"offload_keep", tokens, float64(l.OffloadKeep), 0, most},
		{"max_replayed", tokens, float64(l.Replayed), 0, most},
		{"stale_tokens", tokens, float64(l.Stale), 0, most},
		{"clear_at", lineKind, float64(l.ClearAt), least, 1},
		{"compact_at", lineKind, float64(l.CompactAt), least, 1},
		{"compact_to", "share", l.Target, least, 1},
		{"compact_turns", "number of answers", float64(l.Answers), 0, most},
		{"keep_tokens", tokens, float64(l.KeepTail), 0, most},
		{"keep_turns", "number of turns", float64(l.KeepTurns), 0, most},
		{"warn_at", tokens, float64(l.WarnAt), 0, most},
		{"cutover_at", tokens, float64(l.CutoverAt), 0, most},
		{"protect_tokens", tokens, float64(l.Protect), 0, most},
		{"rent", "factor", l.Rent, 0, 1000},
		{"cache_life", "time with its unit, as 5m", float64(l.CacheLife), 0, 0},
		{"newest_turns", "number of turns", float64(l.Turns), 0, most},
		{"newest_tool_results", "number of results", float64(l.Pairs), 0, most},
		{"newest_messages", "number of messages", float64(l.Messages), 0, most},
		{"text_only", "value, true or false", 0, 0, 0},
	}
}

const lineKind = `number of tokens from 1000 on, such as "100k", or a share`

// isSound reports whether the number is within its bounds. NaN is not.
func (n number) isSound() bool {
	isTokens := n.kind == lineKind && n.value >= 1_000 && n.value <= unit.MostTokens
	return isTokens || n.max == 0 || n.min <= n.value && n.value <= n.max
}

// advice is the error that says what to write as the number.
func (n number) advice() error {
	if n.max == 0 {
		return fmt.Errorf("write a %s", n.kind)
	}
	return fmt.Errorf("write a %s from %v to %.10g", n.kind, n.min, n.max)
}

// Names returns the names of the numbers that a request may set.
func (l *Limits) Names() (names []string) {
	for _, n := range l.numbers() {
		names = append(names, n.name)
	}
	return names
}

// With returns l with the named number set to value; ok is false if no number has the name. The error says what to
// write, and does not repeat the value. Call CheckShares when all numbers of a request are set.
func (l Limits) With(name, value string) (with Limits, ok bool, err error) {
	i := slices.Index(l.Names(), name)
	if i < 0 {
		return l, false, nil
	}
	with = l
	if name == "cache_life" || l.numbers()[i].kind == lineKind { // a text in TOML
		value = strconv.Quote(strings.Trim(value, `"`))
	}
	err = toml.Unmarshal([]byte(name+" = "+value), &with)
	if n := with.numbers()[i]; err != nil || !n.isSound() {
		return l, true, n.advice()
	}
	with.LifeFixed = with.LifeFixed || name == "cache_life"
	return with, true, nil
}

// Check returns an error if a number makes no sense, by itself or beside the others.
func (l *Limits) Check() error {
	var all error
	for _, n := range l.numbers() {
		if !n.isSound() {
			all = errors.Join(all, fmt.Errorf("cannot use rewrite.%s %v: %w", n.name, n.value, n.advice()))
		}
	}
	if all != nil {
		return all
	}
	if _, empty := l.Bound[""]; empty {
		return errors.New("cannot use rewrite.bound_thinking \"\": write a pattern such as claude-*, or leave it out")
	}
	if slices.Contains(l.Excluded, "") {
		return errors.New("cannot use rewrite.exclude_names \"\": write names of messages, or leave it out")
	}
	for _, t := range l.ToolLimits {
		if t.Tool == "" || t.Tokens < 0 || t.Tokens == 0 && !t.Keep {
			const advice = "write a pattern as tool, and tokens above zero or keep = true"
			return fmt.Errorf("cannot use rewrite.tools %q: %s", t.Tool, advice)
		}
	}
	return l.CheckShares()
}

// CheckShares returns an error if compaction would come before clearing, leave requests over its own line, or keep all
// turns that call for it. Tokens beside a share are not compared: EffectiveAt puts them in order.
func (l *Limits) CheckShares() error {
	if l.Answers > 0 && l.KeepTurns >= l.Answers {
		return fmt.Errorf("cannot use rewrite.compact_turns %d with keep_turns %d: keep_turns must be below compact_turns",
			l.Answers, l.KeepTurns)
	}
	isMixed := l.ClearAt > 1 && l.CompactAt <= 1
	if l.Target < float64(min(l.CompactAt, 1)) && (l.ClearAt <= l.CompactAt || isMixed) {
		return nil
	}
	return fmt.Errorf("cannot use rewrite.compact_at %.10g with compact_to %v and clear_at %.10g: "+
		"compact_to must be below compact_at, and clear_at not above it", l.CompactAt, l.Target, l.ClearAt)
}

// Bounds that nobody configures. Shares are of the window, tokens are those of the vocabulary.
const (
	usualClear     = 0.8    // of usable: ClearAt at most, if it is tokens
	usualCompact   = 0.9    // of usable: CompactAt at most, if it is tokens
	protectShare   = 0.20   // Protect at most
	clearShare     = 0.10   // that clearing at the line frees at least, if this is more than ClearAtLeast
	mostClearShare = 0.25   // that clearing at the line has to free at most
	keepShare      = 0.25   // KeepTail at most
	prepareShare   = 0.8    // of usable, not of the window: above this a summary is made ahead of need
	leastBatch     = 1_000  // tokens that clearing below the line frees at least
	leastCold      = 5_000  // the same while the provider has nothing cached: any batch would pay then
	leastSaving    = 40     // tokens that shortening one text frees at least
	leastFreed     = 200    // tokens that clearing one item frees at least: its stub costs attention, too
	smallWindow    = 48_000 // tokens: a window below has few groups, so most results could never be cleared otherwise
	fewGroups      = 3      // newest groups that are protected there, twice as many below 2 * smallWindow, and so on
)

// Effective is what the limits come to at one window, in tokens of the vocabulary, in which requests are counted.
type Effective struct {
	Limits             // numbers of tokens are at most their share of the window
	Window, Usable int // what the model holds, and how much of it a request may fill
	End            int // Window, but CompactLine if that was given in tokens: where lines and summaries end
	ClearLine      int // above it old results are cleared, if that frees ClearAtLeast
	PrepareLine    int // above it a summary is made ahead of need
	CompactLine    int // above it a summary replaces older turns
	TargetLine     int // to which a compaction brings the request down
}

// EffectiveAt returns the limits for a window of so many tokens of the model, of which a request may fill usable. One
// token of the vocabulary is ratio tokens of the model.
func (l *Limits) EffectiveAt(window, usable int, ratio float64) Effective {
	inVocabulary := func(tokens int) int { return int(float64(tokens) / ratio) }
	atMost := func(tokens, window int, share float64) int {
		return int(min(float64(tokens), share*float64(window)) / ratio)
	}
	s := Effective{Limits: *l, Window: inVocabulary(window), Usable: inVocabulary(usable)}
	s.Floor = min(l.Floor, s.Usable) // a token is a byte or more, so a text of fewer bytes than that fits in any case
	s.Offload = atMost(l.Offload, window, l.OffloadShare)
	s.Lookups = atMost(l.Lookups, window, l.OffloadShare)
	s.OffloadReads = atMost(l.OffloadReads, window, l.OffloadShare)
	s.OffloadKeep = inVocabulary(l.OffloadKeep)
	s.Replayed = inVocabulary(l.Replayed)
	s.Stale = inVocabulary(l.Stale)
	s.KeepTail = atMost(l.KeepTail, window, keepShare)

	s.CompactLine = l.CompactAt.tokens(s.Usable, ratio, usualCompact)
	s.End = s.Window
	whole := s.Usable // of which the other lines are shares
	if l.CompactAt > 1 && s.CompactLine < int(usualCompact*float64(s.Usable)) {
		s.End, whole = s.CompactLine, s.CompactLine
	}
	s.PrepareLine = int(prepareShare * float64(whole))
	s.TargetLine = int(l.Target * float64(whole))

	s.ClearLine = l.ClearAt.tokens(whole, ratio, usualClear)
	clearWindow := window // where clearing has the window end
	if l.ClearAt > 1 {
		s.ClearLine = min(l.ClearAt.tokens(s.Usable, ratio, usualClear), s.CompactLine)
		clearWindow = min(window, int(l.ClearAt))
	}
	freed := max(float64(l.ClearAtLeast), clearShare*float64(clearWindow))
	s.ClearAtLeast = int(min(freed, mostClearShare*float64(clearWindow)) / ratio)
	s.Protect = atMost(l.Protect, clearWindow, protectShare)
	groups := fewGroups << min(clearWindow/smallWindow, 2)
	s.Groups = max(min(l.Groups, groups), l.KeepTurns)
	return s
}
