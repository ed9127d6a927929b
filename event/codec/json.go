// Package codec is exchanges as bytes: as JSON, as encoding/json writes them, and packed, as they lie in memory.
//
// It promises that AppendJSON writes the very bytes that encoding/json writes, and that what Unpack returns is equal to
// what was packed. Both take each field from a list, and cost no garbage: a test says when a field of an event is
// missing.
package codec

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"epitome/event"
)

// AppendJSON appends an exchange as encoding/json writes it. An error says that it cannot be JSON.
func AppendJSON(dst []byte, e *event.Exchange) ([]byte, error) {
	o := object{b: append(dst, '{')}
	o.text("id", e.ID)
	o.key("start")
	o.b = append(o.b, '"')
	var err error
	if o.b, err = e.Start.AppendText(o.b); err != nil {
		return nil, fmt.Errorf("cannot write the time of an exchange: %w", err)
	}
	o.b = append(o.b, '"')
	o.text("method", e.Method)
	o.text("path", e.Path)
	o.text("upstream", e.Upstream)
	o.anyText("client", e.Client)
	o.anyText("session", e.Session)
	o.anyText("dialect", e.Dialect)
	o.text("mode", e.Mode)
	o.text("action", e.Action)
	o.number("status", int64(e.Status))
	o.number("request_bytes", e.RequestBytes)
	o.number("response_bytes", e.ResponseBytes)
	o.any("sent_ns", int64(e.Sent))
	o.any("first_byte_ns", int64(e.FirstByte))
	o.number("duration_ns", int64(e.Duration))
	o.yes("reused", e.Reused)
	o.yes("streams", e.Streams)
	o.any("memory", int64(e.Memory))
	o.any("added", int64(e.Added))
	o.anyText("fault", string(e.Fault))
	o.anyText("error", e.Err)
	o.usage(&e.Usage)
	o.rescue(&e.Rescue)
	o.shaping(&e.Shaping)
	o.any("seq", int64(e.Seq))
	o.any("turn", int64(e.Turn))
	o.anyText("miss", string(e.Miss))
	o.bill(&e.Bill)
	return append(o.b, '}'), o.err
}

// object is one in the making: all but its closing brace.
type object struct {
	b   []byte
	err error
}

// open begins an object within this one.
func (o *object) open(name string) {
	o.key(name)
	o.b = append(o.b, '{')
}

func (o *object) end() { o.b = append(o.b, '}') }

// key begins a member. Names are of letters and underscores.
func (o *object) key(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) number(name string, n int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// any is a number that is left out if it is 0.
func (o *object) any(name string, n int64) {
	if n != 0 {
		o.number(name, n)
	}
}

// yes is left out if it is not so.
func (o *object) yes(name string, is bool) {
	if is {
		o.key(name)
		o.b = append(o.b, "true"...)
	}
}

func (o *object) text(name, s string) {
	o.key(name)
	o.value(s)
}

// item is a text in a list.
func (o *object) item(s string) {
	if o.b[len(o.b)-1] != '[' {
		o.b = append(o.b, ',')
	}
	o.value(s)
}

func (o *object) value(s string) {
	if isPlain(s) {
		o.b = append(append(append(o.b, '"'), s...), '"')
		return
	}
	quoted, _ := json.Marshal(s) // of a string it cannot fail
	o.b = append(o.b, quoted...)
}

// anyText is a text that is left out if it is empty.
func (o *object) anyText(name, s string) {
	if s != "" {
		o.text(name, s)
	}
}

// isPlain reports whether a text stands in JSON as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// Numbers between these are written without an exponent.
const (
	leastPlain = 1e-6
	mostPlain  = 1e21
)

// fraction is left out if it is 0.
func (o *object) fraction(name string, f float64) {
	if f == 0 {
		return
	}
	o.key(name)
	if size := math.Abs(f); size >= leastPlain && size < mostPlain {
		o.b = strconv.AppendFloat(o.b, f, 'f', -1, 64)
		return
	}
	text, err := json.Marshal(f)
	if err != nil {
		o.err = fmt.Errorf("cannot write %s of an exchange: %w", name, err)
	}
	o.b = append(o.b, text...)
}
