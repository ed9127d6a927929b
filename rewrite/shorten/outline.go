package shorten

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"epitome/rewrite/span"
)

// Bounds of an outline.
const (
	finest         = 40  // the last step of detail
	deepestOutline = 24  // objects and arrays in one another
	flatOutline    = 100 // bytes up to which an object or array stands in one line
	wholeAnyway    = 24  // characters that are not worth a note that they are missing
)

// detail is how much of a value an outline shows. It decreases from a value to those in it, unless there is only one.
type detail int

// leastDetail is the least at which something in an object or array is shown.
const leastDetail detail = 16

func (d detail) items() int { return int(d / leastDetail) } // of an array

func (d detail) keys() int { return int(4 * d / leastDetail) } // of an object

func (d detail) chars() int { return int(2 * d) } // of a string

// OutlineOf previews a text that is one JSON object or array, or several, each in a line of its own: real keys, the
// first items and values as they are written, and notes, never within quotes, of how much is missing. It shows as
// much in breadth and depth as fits into keep tokens. ok is false if the text is something else, or if nothing fits.
//
//	{
//	 "total": 120,
//	 "items": [
//	  {"id": 1, "body": "It begins" … 1234 more characters},
//	  … 119 more items
//	 ],
//	 "links": {… 3 keys}
//	}
func OutlineOf(text string, keep int, count func(string) int) (outline string, ok bool) {
	o := outliner{body: []byte(text), most: max(keep, 1), room: 16 * max(keep, 1)}
	root, ok := o.root()
	if !ok {
		return "", false
	}
	// More detail is nearly always longer. Where it is not, what is found has still been seen to fit.
	sort.Search(finest+1, func(step int) bool {
		d := leastDetail
		for range step {
			d += d / 4
		}
		o.out = o.out[:0]
		o.value(&root, d, 0)
		if o.full() || count(string(o.out)) > keep {
			return true
		}
		outline = string(o.out)
		return false
	})
	return outline, outline != ""
}

// outlined is a value of the text.
type outlined struct {
	key   span.Span // with its quotes; empty if it has none
	at    span.Span
	what  string // that it has several of; empty if it is no object or array
	known bool   // the rest was looked up
	first []outlined
	n     int // values in it
}

// outliner writes outlines of one text.
type outliner struct {
	body []byte
	out  []byte
	room int // bytes of out beyond which no outline fits
	most int // values that are remembered of an object or array: each of them that is shown takes a token
	flat int // bytes of out up to which all stands in one line; 0 if it need not
}

// root returns the whole text as a value.
func (o *outliner) root() (root outlined, ok bool) {
	start := span.SkipSpace(o.body, 0)
	if start == len(o.body) || kindOf(o.body[start]) == "" {
		return root, false
	}
	root = o.outlined(span.Span{}, span.Span{Start: start, End: len(o.body)})
	if span.Valid(o.body) {
		return root, true
	}
	root.what = "line"
	return root, o.eachLine(func(line span.Span) bool {
		return kindOf(o.body[line.Start]) != "" &&
			span.Valid(line.Of(o.body))
	})
}

func (o *outliner) outlined(key, at span.Span) outlined {
	return outlined{key: key, at: at, what: kindOf(o.body[at.Start])}
}

// kindOf returns what a value that begins so has several of; nothing if it is no object or array.
func kindOf(first byte) string {
	switch first {
	case '{':
		return "key"
	case '[':
		return "item"
	}
	return ""
}

// eachLine gives f the lines that are not empty, without white space before them, as long as it returns true, and
// says whether it always did.
func (o *outliner) eachLine(f func(span.Span) bool) bool {
	for start := 0; start < len(o.body); {
		end := len(o.body)
		if n := bytes.IndexByte(o.body[start:], '\n'); n >= 0 {
			end = start + n
		}
		line := span.Span{Start: min(span.SkipSpace(o.body, start), end), End: end}
		if !line.Empty() && !f(line) {
			return false
		}
		start = end + 1
	}
	return true
}

// look finds the values in v, once. The text is valid: there are no errors.
func (o *outliner) look(v *outlined) {
	if v.known {
		return
	}
	v.known = true
	key := span.Span{}
	note := func(i int) (int, error) {
		end, err := span.EndOfValue(o.body, i)
		if v.n++; len(v.first) < o.most && err == nil {
			v.first = append(v.first, o.outlined(key, span.Span{Start: i, End: end}))
		}
		return end, err
	}
	switch v.what {
	case "line":
		o.eachLine(func(line span.Span) bool {
			_, err := note(line.Start)
			return err == nil
		})
	case "item":
		_, _ = span.Elements(o.body, v.at.Start, note)
	case "key":
		// Not members: a preview may show keys that stand twice, or are written with escapes.
		_, _ = span.Walk(o.body, v.at.Start, '{', func(i int) (int, error) {
			end, err := span.EndOfString(o.body, i)
			if err != nil {
				return 0, err
			}
			key = span.Span{Start: i, End: end}
			return note(span.SkipSpace(o.body, span.SkipSpace(o.body, end)+1))
		})
	}
}

// full reports whether what was written so far is too long already.
func (o *outliner) full() bool { return len(o.out) > o.room || o.flat > 0 && len(o.out) > o.flat }

// value writes v with its key.
func (o *outliner) value(v *outlined, d detail, depth int) {
	if !v.key.Empty() {
		o.text(v.key, d)
		o.out = append(o.out, ": "...)
	}
	size := v.at.End - v.at.Start
	switch {
	case v.what == "line":
		o.look(v)
		o.several(v, d, depth-1)
	case v.what != "":
		o.look(v)
		o.nested(v, d, depth)
	case o.body[v.at.Start] == '"':
		o.text(v.at, d)
	case size > d.chars()+wholeAnyway: // a part of a number would be another number
		o.out = fmt.Appendf(o.out, "… a number of %d characters", size)
	default:
		o.out = append(o.out, v.at.Of(o.body)...)
	}
}

// nested writes an object or array, in one line if that is short.
func (o *outliner) nested(v *outlined, d detail, depth int) {
	open := o.body[v.at.Start]
	o.out = append(o.out, open)
	if o.flat > 0 {
		o.several(v, d, depth)
	} else if start := len(o.out); !o.oneLine(v, d, depth) {
		o.out = o.out[:start]
		o.several(v, d, depth)
		o.newLine(depth)
	}
	o.out = append(o.out, open+2) // ] is [ + 2, and } is { + 2
}

// oneLine writes what is in v without a line break, and says whether it may stay so. An array of numbers may always.
func (o *outliner) oneLine(v *outlined, d detail, depth int) bool {
	o.flat = len(o.out) + flatOutline
	if v.what == "item" && !slices.ContainsFunc(v.first,
		func(v outlined) bool { return v.what != "" || o.body[v.at.Start] == '"' }) {
		o.flat = math.MaxInt
	}
	o.several(v, d, depth)
	fits := len(o.out) <= o.flat
	o.flat = 0
	return fits
}

// several writes the values in v, and how many more there are.
func (o *outliner) several(v *outlined, d detail, depth int) {
	shown := v.countShown(d, depth)
	inside := d
	if v.n > 1 {
		inside = d * 2 / 3
	}
	for i := range v.first[:shown] {
		if o.full() {
			return
		}
		o.between(v, i, depth)
		o.value(&v.first[i], inside, depth+1)
	}
	if missing := v.n - shown; missing > 0 {
		o.between(v, shown, depth)
		o.out = append(append(o.out, "… "...), amount(missing, shown > 0, v.what)...)
	}
}

// countShown returns how many of the values in v are written.
func (v *outlined) countShown(d detail, depth int) int {
	switch {
	case d < leastDetail || depth >= deepestOutline:
		return 0
	case v.what == "key":
		return min(d.keys(), len(v.first))
	}
	return min(d.items(), len(v.first))
}

// between writes what stands before the i-th of the values in v.
func (o *outliner) between(v *outlined, i, depth int) {
	if i > 0 && v.what != "line" {
		o.out = append(o.out, ',')
	}
	switch {
	case v.what == "line" && i > 0:
		o.out = append(o.out, '\n')
	case v.what == "line":
	case o.flat == 0:
		o.newLine(depth + 1)
	case i > 0:
		o.out = append(o.out, ' ')
	}
}

func (o *outliner) newLine(depth int) {
	o.out = append(append(o.out, '\n'), strings.Repeat(" ", depth)...)
}

// amount returns a number of things that are missing, more if others of them are there.
func amount(n int, more bool, what string) string {
	if more {
		what = "more " + what
	}
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// text writes a JSON string as it is written, or its beginning and how much is missing. Escapes stay whole.
func (o *outliner) text(at span.Span, d detail) {
	inner := o.body[at.Start+1 : at.End-1]
	end, missing := cutText(inner, d.chars())
	o.out = append(append(append(o.out, '"'), inner[:end]...), '"')
	if missing > 0 {
		o.out = append(append(o.out, " … "...), amount(missing, true, "character")...)
	}
}

// cutText finds where the first so many characters of a string without its quotes end, and how many more there are.
func cutText(inner []byte, chars int) (end, missing int) {
	if len(inner) <= chars+wholeAnyway {
		return len(inner), 0
	}
	for n := 0; n < chars && end < len(inner); n++ {
		end += charLen(inner[end:])
	}
	for i := end; i < len(inner); missing++ {
		i += charLen(inner[i:])
	}
	if missing <= wholeAnyway {
		return len(inner), 0
	}
	return end, missing
}

// charLen returns the length of the first character of what stands in a JSON string.
func charLen(b []byte) int {
	if b[0] != '\\' {
		_, n := utf8.DecodeRune(b)
		return n
	}
	if b[1] != 'u' {
		return 2
	}
	const escaped = len(`\u0000`)
	if len(b) >= 2*escaped && isEscape(b, "89abAB") && isEscape(b[escaped:], "cdefCDEF") {
		return 2 * escaped // both halves of one character
	}
	return escaped
}

// isEscape reports whether b begins with half of a character: \ud and one of these digits.
func isEscape(b []byte, digits string) bool {
	return b[0] == '\\' && b[1] == 'u' && b[2]|' ' == 'd' && strings.IndexByte(digits, b[3]) >= 0
}
