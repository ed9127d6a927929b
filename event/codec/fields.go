package codec

import "epitome/event"

// exchange goes through all fields but TraceParent, which is nowhere written.
func (c *coder) exchange(e *event.Exchange) {
	text(c, &e.Conversation) // where ConversationOf looks for it
	text(c, &e.ID)
	instant(c, &e.Start)
	name(c, &e.Method)
	text(c, &e.Path)
	name(c, &e.Upstream)
	name(c, &e.Client)
	text(c, &e.Session)
	name(c, &e.Dialect)
	name(c, &e.Mode)
	name(c, &e.Action)
	number(c, &e.Status)
	number(c, &e.RequestBytes)
	number(c, &e.ResponseBytes)
	number(c, &e.Sent)
	number(c, &e.FirstByte)
	number(c, &e.Duration)
	flags(c, &e.Reused, &e.Streams)
	number(c, &e.Added)
	number(c, &e.Memory)
	name(c, &e.Fault)
	text(c, &e.Err)
	part(c, &e.Usage, usage)
	part(c, &e.Rescue, rescue)
	id := e.Conversation // it is there already
	e.Conversation = ""
	part(c, &e.Shaping, shaping)
	e.Conversation = id
	number(c, &e.Seq)
	number(c, &e.Turn)
	name(c, &e.Miss)
	part(c, &e.Bill, bill)
}

func usage(c *coder, u *event.Usage) {
	name(c, &u.Source)
	number(c, &u.Input)
	number(c, &u.Read)
	number(c, &u.Write5m)
	number(c, &u.Write1h)
	number(c, &u.Output)
	number(c, &u.Reasoning)
	flags(c, &u.CacheUnknown, &u.Odd, &u.Cut)
	number(c, &u.Charged)
}

func rescue(c *coder, r *event.Rescue) {
	name(c, &r.Kind)
	number(c, &r.Tries)
	name(c, &r.Stages)
	flags(c, &r.Rescued)
	number(c, &r.TokensBefore)
	number(c, &r.TokensAfter)
	number(c, &r.WindowBefore)
	number(c, &r.WindowAfter)
}

func shaping(c *coder, s *event.Shaping) {
	name(c, &s.Model)
	text(c, &s.Parent)
	number(c, &s.Window)
	number(c, &s.Usable)
	number(c, &s.ClearLine)
	number(c, &s.CompactLine)
	number(c, &s.Compared)
	number(c, &s.Items)
	part(c, &s.TokensBefore, tokens)
	part(c, &s.TokensAfter, tokens)
	number(c, &s.HeldBefore)
	number(c, &s.HeldAfter)
	text(c, &s.Leading)
	number(c, &s.Diverged)
	text(c, &s.Decision)
	number(c, &s.TokensUsed)
	fraction(c, &s.Ratio)
	number(c, &s.Hint.Kind)
	number(c, &s.Hint.Tokens)
	flags(c, &s.Decided, &s.Broke, &s.Estimated)
	number(c, &s.Thoughts)
	text(c, &s.Contexts)
	number(c, &s.Offloaded)
	number(c, &s.Cleared)
	number(c, &s.Compacted)
	number(c, &s.TakenOut)
	number(c, &s.Causes)
	name(c, &s.Code)
	text(c, &s.Reason)
	number(c, &s.ShapeTime)
	text(c, &s.Inner)
}

func tokens(c *coder, t *event.Tokens) {
	number(c, &t.System)
	number(c, &t.Tools)
	number(c, &t.User)
	number(c, &t.Assistant)
	number(c, &t.Results)
	number(c, &t.Summary)
	number(c, &t.Images)
	number(c, &t.Other)
}

func bill(c *coder, b *event.Bill) {
	name(c, &b.Price)
	name(c, &b.Unpriced)
	number(c, &b.Raw)
	number(c, &b.Sent)
	number(c, &b.Billed)
	number(c, &b.Most)
	flags(c, &b.AtLeast, &b.Ruled, &b.Measured, &b.Beyond, &b.Subscription)
}
