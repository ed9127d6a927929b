package terminal

import (
	"fmt"
	"math"
	"strings"

	"epitome/console/figure"
	"epitome/console/story"
)

// Line is a conversation in one line.
func Line(s story.Status) string {
	parts := []string{windowOf(s)}
	if s.Cached >= 0 {
		parts = append(parts, "cache "+share(s.Cached))
	}
	if s.Saved != nil {
		parts = append(parts, savedWords(*s.Saved))
	}
	if s.Last != "" {
		parts = append(parts, plain(s.Last))
	}
	return "epitome " + strings.Join(parts, " · ")
}

// Status is the same with a name before each figure.
func Status(s story.Status) string {
	saving := "unknown: no price is known"
	if s.Saved != nil {
		saving = savedWords(*s.Saved)
	}
	last := plain(s.Last)
	if last == "" {
		last = "none yet"
	}
	t := table{columns: []column{{left: true}, {left: true}}, rows: [][]string{
		{"conversation", plain(s.ID)}, {"model", plain(s.Model)}, {"window", windowOf(s)}, {"cache", share(s.Cached)},
		{"money", saving}, {"last decision", last}, {"as of", s.AsOf.Local().Format("Jan 2 15:04:05")},
	}}
	return strings.Join(t.lines(0)[1:], "\n") + "\n"
}

// windowOf is how much of its window a conversation fills.
func windowOf(s story.Status) string {
	if s.Window == 0 {
		return figure.Tokens(int64(s.Tokens)) + " tokens"
	}
	return fmt.Sprintf("%s/%s %s", figure.Tokens(int64(s.Tokens)), figure.Tokens(int64(s.Window)), share(s.Share))
}

// savedWords says what was saved; what cost more is called so.
func savedWords(dollars float64) string {
	if nano := int64(math.Round(dollars * 1e9)); nano >= 0 {
		return "saved " + figure.Dollars(nano)
	}
	return "extra cost " + figure.Dollars(int64(math.Round(-dollars*1e9)))
}
