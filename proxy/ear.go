package proxy

import (
	"bytes"
	"io"
	"math"
	"slices"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/tokenize"
)

// Ratios take what answers tell of how models count. Their methods may be called from any goroutine.
type Ratios interface {
	// Learn takes how many tokens a request used as the provider counts, of which counted were counted here.
	Learn(s tokenize.Source, counted, used int)
}

// ear listens to an answer. The zero value hears nothing.
type ear struct {
	dialect Dialect // of the answer; nil if there is none to listen to
	end     []byte  // what came last; of an encoded answer all of it, until that is too much
	gone    *gone   // what was read of what is in end no more; nil if all of it is
	counted int32   // tokens of the request, without any ratio; 0 if its usage is not to be held against them
	on      bool
	learns  bool // what is heard is of a request that was shaped
	coded   bool // the answer has a content coding
}

// gone is what was read of a part of an answer before it was let go.
type gone struct {
	begin []byte // as far as it tells of tokens
	named bool   // events have names
	kind  []byte // what the last event is called whose name was let go: the end may begin within it
}

const (
	mostEnd   = 4 << 10  // bytes in which usage stands at an answer's end
	mostBegin = 2 << 10  // bytes in which it stands at the beginning
	mostCoded = 96 << 10 // bytes of an encoded answer that are kept to be decoded
	mostKind  = 64       // bytes of a line that names an event
)

// eventLine is what begins a line that names an event, and what ends the one before it.
const eventLine = "\nevent:"

// Hear takes a run of the body.
func (e *ear) Hear(run []byte) {
	switch {
	case !e.on:
	case e.coded:
		if e.end = append(e.end, run...); len(e.end) > mostCoded {
			e.on, e.end = false, nil // the request's own count stays
		}
	case len(run) >= mostEnd:
		kept, cut := len(e.end), len(run)-mostEnd
		e.forget(run)
		if !e.nameLast(run, cut) {
			e.nameBefore(e.end[:kept], run, cut)
		}
		e.end = append(e.end[:0], run[cut:]...)
	default:
		if len(e.end)+len(run) > 2*mostEnd {
			e.forget(nil)
			e.nameLast(e.end, len(e.end)-mostEnd)
			e.end = append(e.end[:0], e.end[len(e.end)-mostEnd:]...)
		}
		e.end = append(e.end, run...)
	}
}

// forget reads the beginning, before it is let go for the first time. run is what comes behind what was kept.
func (e *ear) forget(run []byte) {
	if e.gone != nil {
		return
	}
	begin := run
	if len(e.end) > 0 {
		e.end = append(e.end, run[:min(max(mostBegin-len(e.end), 0), len(run))]...)
		begin = e.end
	}
	begin = begin[:min(mostBegin, len(begin))]
	name := []byte(eventLine)[1:]
	e.gone = &gone{begin: bytes.Clone(begin), named: bytes.Contains(begin, name)}
	if bytes.HasPrefix(begin, name) {
		e.gone.call(begin[len(name):])
	}
}

// nameLast keeps what the last event is called that begins before cut, and reports whether there is one.
func (e *ear) nameLast(heard []byte, cut int) bool {
	if !e.gone.named {
		return false
	}
	at := lastName(heard[:min(cut+len(eventLine)-1, len(heard))])
	if at < 0 {
		return false
	}
	e.gone.call(heard[at+len(eventLine):])
	return true
}

// nameBefore is nameLast for a run that names no event before cut: the name may stand where the runs meet, or before.
func (e *ear) nameBefore(kept, run []byte, cut int) {
	var room [2*mostKind + len(eventLine)]byte
	meet := append(room[:0], kept[max(0, len(kept)-mostKind-len(eventLine)):]...)
	end := len(meet) + min(cut, mostKind)
	if !e.nameLast(append(meet, run[:mostKind]...), end) {
		e.nameLast(kept, len(kept))
	}
}

// lastName is where the last line begins that names an event; -1 if none does. It is near the end, or far from it: to
// search backward through an event of a megabyte would take a millisecond, as no processor helps with that.
func lastName(heard []byte) int {
	const near = 512
	name, from := []byte(eventLine), max(0, len(heard)-near)
	if at := bytes.LastIndex(heard[from:], name); at >= 0 {
		return from + at
	}
	last, heard := -1, heard[:min(from+len(name)-1, len(heard))]
	for {
		at := bytes.Index(heard[last+1:], name)
		if at < 0 {
			return last
		}
		last += 1 + at
	}
}

// call takes the name of the last event, of which line is the rest.
func (g *gone) call(line []byte) {
	line, _, _ = bytes.Cut(line[:min(mostKind, len(line))], []byte("\n"))
	g.kind = append(g.kind[:0], bytes.TrimSpace(line)...)
}

// Torn is what the event is called within which the kept end of an answer may begin; empty if none is known.
func (e *ear) Torn() []byte {
	if e.gone == nil {
		return nil
	}
	return e.gone.kind
}

// Usage is what the answer says of its tokens, and how many of them the request had; 0 if it does not say. end is what
// ReadEnd has read of it.
func (e *ear) Usage(end []byte) (u event.Usage, input int) {
	if end == nil {
		return u, 0
	}
	if e.gone != nil {
		end = slices.Concat(e.gone.begin, []byte("\n"), end)
	}
	return e.dialect.Usage(end)
}

// ReadEnd reads what was kept of the answer: all of it, or its end, which begins anywhere. Of one that is coded, at
// most so many bytes are read. It returns nil if the coding is not known.
func (e *ear) ReadEnd(a *wire.Answer, most int64) []byte {
	if !e.coded {
		return e.end
	}
	coding := wire.Values(a.Block, "content-encoding")
	r, err := wire.NewDecoder(string(coding), bytes.NewReader(e.end), most)
	if err != nil {
		return nil
	}
	defer func() { _ = r.Close() }()
	all, _ := io.ReadAll(r)
	return all
}

// Listen has the ear hear an answer from its beginning.
func (e *ear) Listen(a *wire.Answer) {
	*e = ear{on: e.dialect != nil, dialect: e.dialect}
	coding := wire.Values(a.Block, "content-encoding")
	e.coded = len(coding) > 0 && !wire.EqualFold(coding, "identity")
}

// Learn has what is heard taught. counted is how many tokens of the vocabulary were sent.
func (e *ear) Learn(counted int) {
	e.learns = true
	e.Count(counted)
}

// Count says how many tokens of the vocabulary were sent.
func (e *ear) Count(tokens int) { e.counted = int32(min(tokens, math.MaxInt32)) }

// Of has the ear hear answers in a dialect, from the next Listen on.
func (e *ear) Of(d Dialect) { e.dialect = d }

// Hears reports whether there is a dialect to hear answers in.
func (e *ear) Hears() bool { return e.dialect != nil }

// Learns reports whether what is heard is of a request that was shaped, and how many tokens of the vocabulary it had.
func (e *ear) Learns() (counted int, ok bool) { return int(e.counted), e.learns }

// countUsage puts our own count of what was sent in the place of one that the answer does not tell.
func countUsage(e *event.Exchange) {
	if sent := ownCount(e); sent > 0 {
		e.Usage.Source, e.Usage.Input, e.Usage.CacheUnknown = event.UsageCounted, sent, true
	}
}

// ownCount is how many tokens were sent by our own count; 0 if they were not counted.
func ownCount(e *event.Exchange) int {
	if e.Mode == event.ModeObserve {
		return e.TokensBefore.Total()
	}
	return e.TokensAfter.Total()
}
