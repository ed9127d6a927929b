package rewrite

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"epitome/unit"
)

// With is l with another number under the key of the given name, in which dashes stand for underscores as in "clear-at", or
// with the numbers of the preset that value names. The error says what to write, and does not repeat the value.
func (l Limits) With(name, value string) (Limits, error) {
	key := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	if key == "preset" {
		return l.withPreset(value)
	}
	if key == "cache_life" {
		return l.withCacheLife(value)
	}
	if l.counted(key) == nil && l.measured(key) == nil {
		return l, unknownHeader(name)
	}
	if count := l.counted(key); count != nil {
		n, err := strconv.Atoi(value)
		if least := leastCount(key); err != nil || n < least || n > mostTokens {
			return l, fmt.Errorf("cannot use x-epitome-%s: write a whole number from %d to %d", strings.ToLower(name), least, mostTokens)
		}
		*count = n
	}
	if share := l.measured(key); share != nil {
		n, err := strconv.ParseFloat(value, 64)
		if least, most := bounds(key); err != nil || !(n >= least && n <= most) { // nor what is not a number
			return l, fmt.Errorf("cannot use x-epitome-%s: write a number from %v to %v", strings.ToLower(name), least, most)
		}
		*share = n
	}
	return l, nil
}

func (l Limits) withPreset(name string) (Limits, error) {
	if l.SetPreset(name) != nil {
		var names []string
		for _, p := range presets() {
			names = append(names, p.name)
		}
		return l, fmt.Errorf("cannot use x-epitome-preset: write one of %s", strings.Join(names, ", "))
	}
	return l, nil
}

func (l Limits) withCacheLife(value string) (Limits, error) {
	if l.CacheLife.UnmarshalText([]byte(value)) != nil || l.CacheLife < 0 {
		return l, errors.New("cannot use x-epitome-cache-life: write a time with its unit, as 5m or 1h")
	}
	return l, nil
}

// mostWrong is how many letters of a header's name may be wrong for another one to be meant.
const mostWrong = 3

// unknownHeader says which header may have been meant.
func unknownHeader(name string) error {
	var all Limits
	names := []string{"mode", "preset", "cache-life", "compact", "summarize-mode", "summarize-detail"}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Limits]()) {
		if key := f.Tag.Get("toml"); all.counted(key) != nil || all.measured(key) != nil {
			names = append(names, strings.ReplaceAll(key, "_", "-"))
		}
	}
	advice, least := "write x-epitome-mode, x-epitome-preset, x-epitome-compact, x-epitome-summarize-mode, x-epitome-summarize-detail, or x-epitome-KEY with the KEY of a number of [rewrite]", mostWrong+1
	for _, known := range names {
		if n := unit.Distance(strings.ToLower(name), known); n < least && n < len(known)-1 {
			advice, least = "did you mean x-epitome-"+known+"?", n
		}
	}
	return fmt.Errorf("unknown header x-epitome-%.60s; %s", strings.ToLower(name), advice)
}

// counted is the whole number under a key: tokens, bytes, groups.
func (l *Limits) counted(key string) *int {
	switch key {
	case "offload_tokens":
		return &l.Offload
	case "offload_keep":
		return &l.OffloadKeep
	case "offload_read_tokens":
		return &l.OffloadReads
	case "offload_read_keep":
		return &l.ReadsKeep
	case "screen_tokens":
		return &l.Screen
	case "names":
		return &l.Names
	case "recall_tokens":
		return &l.Recall
	case "clear_at_least":
		return &l.ClearAtLeast
	case "keep_tokens":
		return &l.KeepTail
	case "warn_at":
		return &l.WarnAt
	case "cutover_at":
		return &l.CutoverAt
	case "anti_thrash_window":
		return &l.Thrash
	case "protect_tokens":
		return &l.Protect
	case "protect_groups":
		return &l.Groups
	}
	return l.Rules.counted(key)
}

func (r *Rules) counted(key string) *int {
	switch key {
	case "newest_turns":
		return &r.Turns
	case "newest_messages":
		return &r.Messages
	case "newest_tool_results":
		return &r.Pairs
	case "assistant_tokens":
		return &r.Assistant
	}
	return nil
}

// measured is the share or factor under a key.
func (l *Limits) measured(key string) *float64 {
	switch key {
	case "offload_share":
		return &l.OffloadShare
	case "clear_at":
		return &l.ClearAt
	case "rent":
		return &l.Rent
	case "cached_price":
		return &l.CachedPrice
	case "compact_at":
		return &l.CompactAt
	case "compact_to":
		return &l.Target
	case "prepare_at":
		return &l.PrepareAt
	}
	return nil
}

// leastCount is the smallest whole number that makes sense under a key.
func leastCount(key string) int {
	if key == "offload_tokens" || key == "offload_read_tokens" {
		return 1
	}
	return 0
}

// bounds are between what a share or factor makes sense.
func bounds(key string) (least, most float64) {
	switch key {
	case "rent":
		return 0, 1_000
	case "offload_share", "clear_at", "compact_at", "compact_to", "prepare_at":
		return 0.01, 1
	}
	return 0, 1
}

// mostTokens is more than any model holds.
const mostTokens = 100_000_000
