package rewrite

// Ask is a compaction that a person wants of a conversation: its next request is compacted as if the client asked.
type Ask struct {
	To    int    // Input.CompactTo
	Focus string // Input.Focus
}

// Ask keeps a in memory for the next request of a conversation that is known, in the place of an earlier one.
func (s *Shaper) Ask(conversation string, a Ask) { s.asks.Store(conversation, a) }

// IsAsked reports whether no request of the conversation has taken an ask yet.
func (s *Shaper) IsAsked(conversation string) bool {
	_, is := s.asks.Load(conversation)
	return is
}

// takeAsk has the request compacted if somebody has asked for that. Counts, compactions by the client or the provider,
// and requests of which it is not known what was decided before leave the ask to the next one.
func (x *shaping) takeAsk() {
	if x.in.Replay || x.in.Rescue != nil || x.serves || x.found.err != nil {
		return
	}
	value, is := x.asks.LoadAndDelete(x.known.Before.Conversation)
	if is {
		a := value.(Ask)
		x.in.Compact, x.in.CompactTo, x.in.Focus, x.out.Asked = true, a.To, a.Focus, true
	}
}
