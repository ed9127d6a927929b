package ladder

// Bounds that nobody configures. Shares are of the window, tokens are those of the vocabulary.
const (
	usualClear     = 0.8   // of usable: ClearAt at most, if it is tokens
	usualCompact   = 0.9   // of usable: CompactAt at most, if it is tokens
	protectShare   = 0.20  // Protect at most
	clearShare     = 0.10  // that clearing at the line frees at least, if this is more than ClearAtLeast
	mostClearShare = 0.25  // that clearing at the line has to free at most
	keepShare      = 0.25  // KeepTail at most
	prepareShare   = 0.8   // of usable, not of the window: above this a summary is made ahead of need
	leastBatch     = 1_000 // tokens that clearing below the line frees at least
	leastCold      = 5_000 // the same while the provider has nothing cached: any batch would pay then
	leastSaving    = 40    // tokens that shortening one text frees at least
	leastFreed     = 200   // tokens that clearing one item frees at least: its stub costs attention, too
)

// Effective is what the limits come to at one window, in tokens of the vocabulary, in which requests are counted.
type Effective struct {
	Conf           *Limits `json:"-"`
	Window, Usable int     `json:"-"` // what the model holds, and how much of it a request may fill
	End            int     `json:"-"` // Window, but CompactLine if that was given in tokens: where lines and summaries end

	Floor       int `json:"floor"` // bytes of a body
	Offload     int `json:"offload_tokens"`
	Lookups     int `json:"offload_lookup_tokens"`
	Reads       int `json:"offload_read_tokens"`
	Keep        int `json:"offload_keep"`
	Replayed    int `json:"max_replayed"`
	Stale       int `json:"stale_tokens"`
	ClearLine   int `json:"clear_at"`
	AtLeast     int `json:"clear_at_least"` // freed by clearing at ClearLine
	PrepareLine int `json:"prepare_at"`     // above it a summary is made ahead of need
	CompactLine int `json:"compact_at"`
	Target      int `json:"compact_to"`
	KeepTail    int `json:"keep_tokens"`
	Protect     int `json:"protect_tokens"`
	Age         int `json:"protect_groups"` // newest groups, whose results are not cleared; counted by answers
}

// EffectiveAt returns the limits for a window of so many tokens of the model, of which a request may fill usable. One
// token of the vocabulary is ratio tokens of the model.
func (l *Limits) EffectiveAt(window, usable int, ratio float64) Effective {
	inVocabulary := func(ofModel float64) int { return int(ofModel / ratio) }
	atMost := func(tokens, window int, share float64) int {
		return inVocabulary(min(float64(tokens), share*float64(window)))
	}
	s := Effective{
		Conf: l, Window: inVocabulary(float64(window)), Usable: inVocabulary(float64(usable)),
		Offload: atMost(l.Offload, window, l.OffloadShare), Lookups: atMost(l.Lookups, window, l.OffloadShare),
		Reads: atMost(l.OffloadReads, window, l.OffloadShare), Keep: inVocabulary(float64(l.OffloadKeep)),
		Replayed: inVocabulary(float64(l.Replayed)), Stale: inVocabulary(float64(l.Stale)),
		KeepTail: atMost(l.KeepTail, window, keepShare),
	}
	s.Floor = min(l.Floor, s.Usable) // a token is a byte or more, so a text of fewer bytes than that fits in any case

	s.CompactLine = l.CompactAt.tokens(s.Usable, ratio, usualCompact)
	s.End = s.Window
	whole := s.Usable // of which the other lines are shares
	if l.CompactAt > 1 && s.CompactLine < int(usualCompact*float64(s.Usable)) {
		s.End, whole = s.CompactLine, s.CompactLine
	}
	s.PrepareLine = int(prepareShare * float64(whole))
	s.Target = int(l.Target * float64(whole))

	s.ClearLine = l.ClearAt.tokens(whole, ratio, usualClear)
	clearWindow := window // where clearing has the window end
	if l.ClearAt > 1 {
		s.ClearLine = min(l.ClearAt.tokens(s.Usable, ratio, usualClear), s.CompactLine)
		clearWindow = min(window, int(l.ClearAt))
	}
	freed := max(float64(l.ClearAtLeast), clearShare*float64(clearWindow))
	s.AtLeast = inVocabulary(min(freed, mostClearShare*float64(clearWindow)))
	s.Protect = atMost(l.Protect, clearWindow, protectShare)
	s.Age = max(l.groupsIn(clearWindow), l.KeepTurns)
	return s
}

// groupsIn returns how many of the newest groups are protected in a window. A small one holds few, so most results could
// never be cleared otherwise.
func (l *Limits) groupsIn(window int) int {
	switch {
	case window < 48_000:
		return min(3, l.Groups)
	case window < 96_000:
		return min(6, l.Groups)
	}
	return l.Groups
}
