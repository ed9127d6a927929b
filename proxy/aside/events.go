package aside

import (
	"bytes"
	"cmp"
	"errors"

	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite/aside"
	"epitome/sse"
)

// What is held of a stream, in bytes.
const (
	mostEvent  = 16 << 20 // of one event
	mostAnswer = 64 << 20 // of all rounds of an answer, as far as they are to be sent again
)

// endless is why an answer ends that is longer.
func endless() error {
	return &wire.Failure{Fault: event.Truncated, Err: errors.New("the answer is longer than what is held of one")}
}

// stream passes on a round of a streamed answer. more says that another one follows.
func (r *Relay) stream() (more bool, err error) {
	put, waiting := r.give, []byte(nil)
	if r.Turn.Alone() {
		put = func(piece []byte) error {
			if waiting = append(waiting, piece...); len(waiting) > mostAnswer {
				return endless()
			}
			return nil
		}
	} else if err = r.begin(wire.ChunkedLength); err != nil {
		return false, err
	}
	ended := false
	e := events{hearing: r.Turn.Hear(), ends: func() {
		if ended = true; !r.Turn.Alone() { // else the client gets nothing yet, and may never do
			r.keep()
		}
	}}
	err = r.content(func(piece []byte) error {
		out, err := e.take(piece)
		return cmp.Or(put(out), err, r.hold(e.hearing.Size()+len(e.come)+len(waiting)))
	})
	if err == nil {
		err = put(e.rest())
	}
	if err != nil {
		return false, err
	}
	r.hears()
	if more, err = r.Turn.Next(); err != nil || more {
		return more, err
	}
	if r.now.Length == wire.UntilClose && !ended { // only the end of the answer tells that the connection's end is it
		return false, &wire.Failure{Fault: event.Truncated, Err: wire.ErrTruncated}
	}
	r.keep()
	if err = r.begin(wire.ChunkedLength); err == nil && len(waiting) > 0 {
		err = r.give(waiting)
	}
	if err != nil {
		return false, err
	}
	return false, r.finish()
}

// events are those of one round, as they come.
type events struct {
	hearing aside.Hearing
	ends    func() // called before the client gets the end of the answer
	come    []byte // and was not given yet
	looked  int    // bytes of it up to which no event ends
}

// take takes what has come, and returns what the client gets.
func (e *events) take(piece []byte) (out []byte, err error) {
	e.come = append(e.come, piece...)
	for {
		n := e.end()
		if n < 0 {
			break
		}
		out = e.hear(out, e.come[:n])
		if e.come, e.looked = e.come[n:], 0; e.hearing.Size() > mostAnswer {
			return out, endless()
		}
	}
	if len(e.come) > mostEvent {
		return out, &wire.Failure{Fault: event.Truncated, Err: errors.New("an event of the answer is too long to be read")}
	}
	return out, nil
}

// end is where the first event ends; -1 if that has not come.
func (e *events) end() int {
	for {
		f, rest, ok := sse.Next(e.come[e.looked:])
		if !ok {
			return -1
		}
		if e.looked = len(e.come) - len(rest); f.End {
			return e.looked
		}
	}
}

// hear takes one event.
func (e *events) hear(out, raw []byte) []byte {
	var data []byte
	some := false
	for f := range sse.Fields(raw) {
		switch {
		case string(f.Name) == "data" && some:
			data = append(append(bytes.Clone(data), '\n'), f.Value...)
		case string(f.Name) == "data":
			data, some = f.Value, true
		}
	}
	if !some {
		return append(out, raw...)
	}
	before := len(out)
	out, ends := e.hearing.Event(out, raw, data)
	if ends && len(out) > before {
		e.ends()
	}
	return out
}

// rest is what the client gets of an event without an end, behind all others.
func (e *events) rest() []byte {
	if len(bytes.TrimSpace(e.come)) == 0 {
		return e.come
	}
	return e.hear(nil, e.come)
}
