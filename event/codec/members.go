package codec

import "epitome/event"

func (o *object) usage(u *event.Usage) {
	if *u == (event.Usage{}) {
		return
	}
	o.open("usage")
	o.anyText("source", u.Source)
	o.any("input", int64(u.Input))
	o.any("read", int64(u.Read))
	o.any("write_5m", int64(u.Write5m))
	o.any("write_1h", int64(u.Write1h))
	o.any("output", int64(u.Output))
	o.any("reasoning", int64(u.Reasoning))
	o.yes("cache_unknown", u.CacheUnknown)
	o.yes("odd", u.Odd)
	o.yes("cut", u.Cut)
	o.any("charged_nano", u.Charged)
	o.end()
}

func (o *object) rescue(r *event.Rescue) {
	if *r == (event.Rescue{}) {
		return
	}
	o.open("rescue")
	o.anyText("kind", r.Kind)
	o.anyText("stages", r.Stages)
	o.any("tries", int64(r.Tries))
	o.yes("rescued", r.Rescued)
	o.any("tokens_before", int64(r.TokensBefore))
	o.any("tokens_after", int64(r.TokensAfter))
	o.any("window_before", int64(r.WindowBefore))
	o.any("window_after", int64(r.WindowAfter))
	o.end()
}

func (o *object) shaping(s *event.Shaping) {
	o.anyText("model", s.Model)
	o.anyText("conversation", s.Conversation)
	o.anyText("parent", s.Parent)
	o.any("window", int64(s.Window))
	o.any("usable", int64(s.Usable))
	o.any("clear_line", int64(s.ClearLine))
	o.any("compact_line", int64(s.CompactLine))
	o.any("compared", int64(s.Compared))
	o.any("items", int64(s.Items))
	o.any("diverged", int64(s.Diverged))
	o.tokens("tokens_before", &s.TokensBefore)
	o.tokens("tokens_after", &s.TokensAfter)
	o.any("held_before", int64(s.HeldBefore))
	o.any("held_after", int64(s.HeldAfter))
	o.anyText("leading", s.Leading)
	o.anyText("decision", s.Decision)
	o.any("tokens_used", int64(s.TokensUsed))
	o.fraction("ratio", s.Ratio)
	if s.Hint != (event.Hint{}) {
		o.open("hint")
		o.number("kind", int64(s.Hint.Kind))
		o.number("tokens", int64(s.Hint.Tokens))
		o.end()
	}
	o.yes("decided", s.Decided)
	o.yes("broke", s.Broke)
	o.yes("estimated", s.Estimated)
	o.any("thoughts", int64(s.Thoughts))
	o.causes("causes", s.Causes)
	o.anyText("contexts", s.Contexts)
	o.any("offloaded", int64(s.Offloaded))
	o.any("cleared", int64(s.Cleared))
	o.any("compacted", int64(s.Compacted))
	o.any("taken_out", int64(s.TakenOut))
	o.anyText("code", string(s.Code))
	o.anyText("reason", s.Reason)
	o.any("shape_ns", int64(s.ShapeTime))
	o.anyText("inner", s.Inner)
}

// causes are left out if there are none.
func (o *object) causes(name string, s event.Causes) {
	if s == 0 {
		return
	}
	o.key(name)
	o.b = append(o.b, '[')
	for c := range s.All() {
		o.item(c.String())
	}
	o.b = append(o.b, ']')
}

func (o *object) tokens(name string, t *event.Tokens) {
	if *t == (event.Tokens{}) {
		return
	}
	o.open(name)
	o.any("system", int64(t.System))
	o.any("tools", int64(t.Tools))
	o.any("user", int64(t.User))
	o.any("assistant", int64(t.Assistant))
	o.any("results", int64(t.Results))
	o.any("summary", int64(t.Summary))
	o.any("images", int64(t.Images))
	o.any("other", int64(t.Other))
	o.end()
}

func (o *object) bill(b *event.Bill) {
	if *b == (event.Bill{}) {
		return
	}
	o.open("bill")
	o.anyText("price", b.Price)
	o.anyText("unpriced", b.Unpriced)
	o.any("raw_nano", b.Raw)
	o.any("sent_nano", b.Sent)
	o.any("billed_nano", b.Billed)
	o.any("most_nano", b.Most)
	o.yes("at_least", b.AtLeast)
	o.yes("ruled", b.Ruled)
	o.yes("measured", b.Measured)
	o.yes("beyond", b.Beyond)
	o.yes("subscription", b.Subscription)
	o.end()
}
