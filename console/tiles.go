package console

import (
	"github.com/dustin/go-humanize"

	"epitome/event/journal"
)

// tile is a figure with its name. A figure without a value has none.
type tile struct {
	Name, Help, Link string // Help explains the name; Link leads to more. Both may be empty
	Value, Note      string
}

// sumTiles returns what became of some requests.
func sumTiles(sums journal.Sums) (tiles []tile) {
	before, after, note := sums.TokensBefore, sums.TokensAfter, "before → after"
	if sums.Shaped == 0 && sums.Observed.Exchanges > 0 { // all conversations were only observed
		before, after, note = sums.Observed.TokensBefore, sums.Observed.TokensAfter, "before → after in mode on"
	}
	if before > 0 {
		tiles = append(tiles, tile{Name: "Tokens", Value: Tokens(before) + " → " + Tokens(after), Note: note,
			Help: "Tokens before and after epitome. Every request repeats the conversation so far."})
	}
	money := sums.Money
	if money.Oversized > 0 {
		alive := tile{Name: "Kept alive", Value: plural(money.Oversized, "request"),
			Note: "would have failed without epitome", Help: "These requests were larger than the model's window."}
		if money.KeptAlive > 0 {
			alive.Value, alive.Note = plural(money.KeptAlive, "conversation"), alive.Value+" "+alive.Note
		}
		tiles = append(tiles, alive)
	}
	if money.Compared > 0 || money.Own > 0 {
		name, amount := saving(money)
		tiles = append(tiles, tile{Name: name, Value: amount, Note: costs(money),
			Help: "The cost without epitome, against the cost with it, summaries included. Both are estimates of what " +
				"the provider charges, with its cache. Requests larger than the window have no price."})
	}
	if money.Measured > 0 {
		note := ""
		if money.Measured < sums.Exchanges {
			note = humanize.Comma(money.Measured) + " of " + plural(sums.Exchanges, "request")
		}
		if money.Subscription > 0 {
			note = humanize.Comma(money.Subscription) + " by subscription, at list prices"
		}
		tiles = append(tiles, tile{Name: "Billed", Value: Billed(money), Note: note,
			Help: "List price of the tokens that providers reported, without the cost of summaries. An answer that says " +
				"nothing of its cache is counted as read from it."})
	}
	if len(sums.Rebilled) > 0 {
		part, causes := Rebilled(sums)
		tiles = append(tiles, tile{Name: "Billed again", Value: part, Note: causes,
			Help: "The part of the bill for tokens that the provider's cache had held and lost."})
	}
	if cached, known := sums.Usage.Cached(); known {
		tiles = append(tiles, tile{Name: "Cached input", Value: Percent(cached),
			Note: Tokens(sums.Usage.Read) + " tokens from the provider's cache"})
	}
	if sums.Failed > 0 {
		tiles = append(tiles, tile{Name: "Failed", Link: "/-/troubles", Value: plural(sums.Failed, "request"),
			Note: "of " + humanize.Comma(sums.Exchanges)})
	}
	return tiles
}
