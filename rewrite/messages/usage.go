package messages

import (
	"slices"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/rewrite/span"
	"epitome/rewrite/spent"
	"epitome/sse"
)

// inputs are the names of what together is the input of a request: what was read from a cache, and what was written to
// one, is not in the first.
var inputs = [...]string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}

const (
	writtenToCache = 1 // of inputs
	readFromCache  = 2
)

// usage is what an answer says of its request's size. What it says last is true.
type usage struct {
	of     [len(inputs)]int // by inputs; -1 is not said
	last   int              // the input of the last turn, if the model had several before it answered; else 0
	output int              // -1 is not said
	// of what was written to the cache, what is held for an hour; -1 is not said
	long   int
	beside sums // what compactions of the provider's took, which no other number has
}

// sums are what turns took.
type sums struct{ input, read, written, output int }

func newUsage() usage { return usage{of: [...]int{-1, -1, -1}, output: -1, long: -1} }

// take takes what an object says of sizes.
func (u *usage) take(v gjson.Result) {
	if !v.IsObject() {
		return
	}
	v.ForEach(func(key, value gjson.Result) bool {
		switch i := slices.Index(inputs[:], key.Str); {
		case i >= 0:
			if n := spent.Tokens(value); n >= 0 {
				u.of[i] = n
			}
		case key.Str == "output_tokens":
			u.output = max(u.output, spent.Tokens(value))
		case key.Str == "cache_creation":
			u.long = spent.Tokens(value.Get("ephemeral_1h_input_tokens"))
		case key.Str == "iterations":
			u.takeTurns(value)
		}
		return true
	})
}

// takeTurns takes what is said of several turns that are one answer.
func (u *usage) takeTurns(turns gjson.Result) {
	u.beside = sums{}
	for _, turn := range turns.Array() {
		one := newUsage()
		switch turn.Get("type").Str {
		case "message":
			one.take(turn)
			u.last = one.sum()
		case "compaction":
			one.take(turn)
			b := &u.beside
			b.input, b.read = b.input+one.sum(), b.read+max(one.of[readFromCache], 0)
			b.written, b.output = b.written+max(one.of[writtenToCache], 0), b.output+max(one.output, 0)
		}
	}
}

// sum is the whole input of all turns.
func (u *usage) sum() (input int) {
	for _, n := range u.of {
		input += max(n, 0)
	}
	return input
}

// window is what filled the model's window.
func (u *usage) window() int {
	if u.last > 0 {
		return u.last
	}
	return u.sum()
}

// record returns what that is, as every dialect says it.
func (u *usage) record() spent.Said {
	s := spent.Nothing()
	if u.of[0] < 0 || u.output < 0 {
		return s
	}
	s.Input, s.Read, s.Output = u.sum()+u.beside.input, u.of[readFromCache], u.output+u.beside.output
	if u.beside.read > 0 {
		s.Read = max(s.Read, 0) + u.beside.read
	}
	if written := u.of[writtenToCache]; written >= 0 || u.beside.written > 0 {
		s.Write1h = min(max(u.long, 0), max(written, 0))
		s.Write5m = max(written, 0) - s.Write1h + u.beside.written
	}
	return s
}

// join takes what stood at the beginning of a stream, as far as its end does not say it again.
func (u *usage) join(opening spent.Said) {
	if opening.Input < 0 {
		return
	}
	written := -1
	if opening.Write5m >= 0 {
		written = opening.Write5m + opening.Write1h
	}
	of := [...]int{opening.Input - max(opening.Read, 0) - max(written, 0), written, opening.Read}
	for i := range of {
		if u.of[i] < 0 {
			u.of[i] = of[i]
		}
	}
	if u.long < 0 {
		u.long = opening.Write1h
	}
	u.output = max(u.output, opening.Output)
}

// Opening is what the beginning of a stream says.
func (Wire) Opening(heard []byte) spent.Said {
	for f := range sse.Fields(heard) {
		if string(f.Name) != "data" || !gjson.ValidBytes(f.Value) {
			continue
		}
		if e := gjson.ParseBytes(f.Value); e.Get("type").Str == "message_start" {
			u := newUsage()
			u.take(e.Get("message.usage"))
			return u.record()
		}
	}
	return spent.Nothing()
}

// Usage is what an answer says of its tokens, and how many of them filled the window: what came from a cache and went
// to one, too. That is 0 if it is not said, and if only a part of it may have been heard. What a stream said at its
// beginning is in the record alone. A stream tells at its beginning what its request took, and at its end what the
// model wrote: without that it is cut.
func (Wire) Usage(heard []byte, opening spent.Said) (all event.Usage, input int) {
	u, isStream, isWhole := newUsage(), false, false
	ends := false // the last event that tells numbers was heard
	for f := range sse.Fields(heard) {
		if string(f.Name) != "data" || !gjson.ValidBytes(f.Value) {
			continue
		}
		switch e := gjson.ParseBytes(f.Value); e.Get("type").Str {
		case "message_start":
			isStream, isWhole = true, true
			u.take(e.Get("message.usage"))
		case "message_delta":
			isStream, ends = true, ends || e.Get("usage.output_tokens").Exists()
			u.take(e.Get("usage"))
		}
	}
	misses := false
	switch {
	case !isStream:
		u.take(lastUsage(heard))
	case !isWhole:
		misses = slices.Contains(u.of[:], -1) // the beginning of the stream may have said the rest
	}
	if input = u.window(); misses && u.last == 0 {
		input = 0
	}
	u.join(opening)
	if misses && opening.Input < 0 {
		return all, input
	}
	all = u.record().Usage()
	all.Cut = all.Source != "" && !ends && (isStream || opening.Input >= 0)
	return all, input
}

// lastUsage is what an answer that is no stream, or its end, says of sizes. Inputs of tools may have that name in them.
func lastUsage(heard []byte) gjson.Result {
	const name = "usage"
	v := span.LastMember(heard, name, func(v span.Span) bool { return span.Closes(heard[v.End:], 1) })
	switch {
	case !v.Empty():
		return gjson.ParseBytes(v.Of(heard))
	case span.Valid(heard): // it stands in front of a long answer
		return gjson.GetBytes(heard, name)
	}
	return gjson.Result{}
}
