package pages

import (
	"epitome/console/figure"
	"epitome/console/story"
	"epitome/event"
)

// tile is a figure with its name. A figure without a value has none.
type tile struct {
	Name, Help, Link string // Help explains the name; Link leads to more. Both may be empty
	Value, Note      string
}

// Tiles returns the sums of the overview.
func (o *overview) Tiles() []tile { return sumTiles(o.Total) }

// SumTiles returns the sums of the conversation.
func (c *conversation) SumTiles() []tile { return sumTiles(c.Sums) }

// isObserved reports whether all conversations in sums were only observed.
func isObserved(sums story.Sums) bool { return sums.Shaped == 0 && sums.Observed.Exchanges > 0 }

// sumTiles returns what became of some requests.
func sumTiles(sums story.Sums) (tiles []tile) {
	before, after, note := sums.TokensBefore, sums.TokensAfter, "before → after"
	if isObserved(sums) {
		before, after, note = sums.Observed.TokensBefore, sums.Observed.TokensAfter, "before → after in mode on"
	}
	if before > 0 {
		tiles = append(tiles, tile{Name: "Tokens", Value: arrow(before, after), Note: note, Help: "Tokens of all requests " +
			"as agents sent them, and as epitome sent them on. Each request has the whole conversation."})
	}
	money := sums.Money
	if money.Died > 0 {
		tiles = append(tiles, tile{Name: "Kept alive", Value: plural(money.Died, "conversation"),
			Note: plural(money.Beyond, "request") + " over the window",
			Help: "Conversations with a request that was larger than the model's window before."})
	}
	if money.Ruled > 0 || money.Own > 0 {
		saved := savedTile(money.Raw, money.Sent, money.Own)
		saved.Note = plural(money.Ruled, "request") + ": " + saved.Note
		saved.Help = "Estimated cost before, less estimated cost after, less the cost of summaries. " +
			"Requests over the window have no price and are not counted."
		tiles = append(tiles, saved)
	}
	if money.Measured > 0 {
		note := plural(money.Measured, "request")
		if money.Listed > 0 {
			note += ", " + figure.Thousands(money.Listed) + " by subscription, at list prices"
		}
		tiles = append(tiles, tile{Name: "Billed", Value: billed(money.Billed, money.Most, money.AtLeast > 0), Note: note,
			Help: "List price of the tokens that providers reported."})
	}
	if u := sums.Usage; u.CacheInput > 0 {
		tiles = append(tiles, tile{Name: "Cached input", Link: "/-/causes", Value: ratio(u.Read, u.CacheInput),
			Note: figure.Tokens(u.Read) + " tokens from the provider's cache"})
	}
	if sums.Failed > 0 {
		tiles = append(tiles, tile{Name: "Failed", Link: "/-/troubles", Value: plural(sums.Failed, "request"),
			Note: "of " + figure.Thousands(sums.Exchanges)})
	}
	return tiles
}

// Tiles returns the figures of a turn.
func (t turn) Tiles() (tiles []tile) {
	before, after := int64(t.TokensBefore.Total()), int64(t.TokensAfter.Total())
	if before > 0 {
		note := "before → after"
		if t.Window > 0 {
			note += ", " + ratio(after, t.Window) + " of the window"
		}
		tiles = append(tiles, tile{Name: "Tokens", Value: arrow(before, after), Note: note})
	}
	if u := t.Usage; u.Source == event.UsageProvider && !u.CacheUnknown && u.Input > 0 {
		cached := tile{Name: "Cached input", Value: ratio(u.Read, u.Input), Note: "of " + figure.Tokens(int64(u.Input)) + " tokens"}
		if t.Miss != event.NoMiss {
			cached.Note = missText(t.Miss)
		}
		tiles = append(tiles, cached)
	}
	if b := t.Bill; b.Measured {
		tiles = append(tiles, tile{Name: "Billed", Value: billed(b.Billed, b.Most, b.AtLeast),
			Note: figure.Tokens(int64(t.Usage.Input)) + " tokens in, " + figure.Tokens(int64(t.Usage.Output)) + " out"})
	}
	if t.Bill.Beyond {
		tiles = append(tiles, tile{Name: "Kept alive", Value: "over the window", Note: "the provider would have refused it"})
	} else if t.Bill.Ruled {
		tiles = append(tiles, savedTile(t.Bill.Raw, t.Bill.Sent, 0))
	}
	return tiles
}

// savedTile says what was saved, all in nano-dollars: the cost before, less that after, less own cost of summaries.
func savedTile(before, after, own int64) tile {
	saved := before - after - own
	t := tile{Name: "Saved", Value: figure.Dollars(saved)}
	if saved < 0 {
		t = tile{Name: "Extra cost", Value: figure.Dollars(-saved)}
	}
	t.Note = figure.Dollars(before) + " without epitome, " + figure.Dollars(after) + " with it"
	if own > 0 {
		t.Note += ", plus " + figure.Dollars(own) + " for summaries"
	}
	return t
}

// billed returns an amount in nano-dollars, with what it is at most where the provider's answers leave that open.
func billed(nano, most int64, atLeast bool) string {
	switch {
	case atLeast:
		return "≥ " + figure.Dollars(nano)
	case most > nano:
		return figure.Dollars(nano) + " – " + figure.Dollars(most)
	}
	return figure.Dollars(nano)
}

// arrow returns two numbers of tokens, before and after.
func arrow(before, after int64) string { return figure.Tokens(before) + " → " + figure.Tokens(after) }
