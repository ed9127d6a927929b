package outline

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"epitome/rewrite/mark"
	"epitome/rewrite/span"
)

// Bounds of an outline.
const (
	finest         = 40  // steps of detail
	deepestOutline = 24  // objects and arrays in one another
	flatOutline    = 100 // bytes up to which an object or array stands in one line
	wholeAnyway    = 24  // characters of which an outline leaves out more, or none

	mostTold  = 16 << 20 // bytes of a text of which the list that matters is told
	mostItems = 1 << 20  // values of such a text
)

// detail is how much of a value an outline shows. What stands in a value has less, unless it stands there alone.
type detail int

// leastDetail is the detail below which an outline shows nothing of an object or array.
const leastDetail detail = 16

func (d detail) items() int { return int(d / leastDetail) } // of an array

func (d detail) keys() int { return int(4 * d / leastDetail) } // of an object

func (d detail) chars() int { return int(2 * d) } // of a string

// ofJSON shows a text that is one JSON object or array, or several, each in a line of its own; a few other lines may
// stand before and behind it. It shows real keys and the first items and values as they are written. Of the list that
// matters it tells what values its fields have, and shows the items that differ, whole. Notes, never within quotes, say
// how much is missing. It shows as much in breadth and depth as fits into keep tokens. ok is false if the text is
// something else, or if nothing fits.
//
//	{
//	 "total": 120,
//	 "items": [
//	  {"id": 1, "status": "settled"},
//	  … 119 more items
//	 ],
//	 "links": {… 3 keys}
//	}
//	.items has 120 items. Their fields:
//	 id: 1 to 120
//	 status: "settled" ×119, "stuck" ×1
//	Items that differ, whole:
//	.items[56] (status): {"id": 57, "status": "stuck"}
func ofJSON(text string, h Hint, keep int, count func(string) int) (out Outline, ok bool) {
	found, ok := findJSON(text)
	before, body, after := found.before, found.body, found.after
	if !ok || mark.HasForged(before) || mark.HasForged(after) {
		return out, false
	}
	if out = (Outline{Kind: JSON, Mixed: before+after != "", Numbered: found.numbered}); out.Mixed {
		keep -= count(before) + count(after) + 1
	}
	o := outliner{body: []byte(body), before: found.lines, most: max(keep, 1), first: firstItems, unread: h.Unread}
	o.laid = h.LaidOut && !out.Mixed && !out.Numbered
	shown := o.show(keep, count)
	if shown == "" {
		return Outline{}, false
	}
	if after != "" && !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	out.Text = before + shown + after
	return out, true
}

// show shows the body, which should be valid JSON; it returns nothing if it is not, or if nothing fits.
func (o *outliner) show(keep int, count func(string) int) (outline string) {
	o.focus.at = -1
	root, ok := o.root()
	if !ok {
		return ""
	}
	var l *list
	if len(o.body) <= mostTold && !span.IsBusy(o.body, mostItems) {
		l = o.findList(&root)
	}
	for share := 3; l != nil && share > 0; share-- { // quarters of keep: the list must be seen too
		told := l.tell(keep*share/4, count)
		if told == "" {
			break
		}
		room := keep - count(told) - 1
		if outline = o.fitItems(&root, l, room, count); outline != "" {
			return outline + "\n" + told
		}
	}
	o.focus = focus{at: -1}
	return o.fit(&root, keep, count)
}

// fitAround shows root with the first items of the list in it, whole if they fit; it returns nothing if none of them
// does.
func (o *outliner) fitAround(root *outlined, l *list, keep int, count func(string) int) (outline string) {
	o.focus = focus{at: l.at.Start, records: l.holdsRecords(), whole: l.holdsRecords()}
	if outline = o.fit(root, keep, count); o.focus.seen {
		return outline
	}
	o.focus.whole = false
	if outline = o.fit(root, keep, count); o.focus.seen {
		return outline
	}
	return ""
}

// fitItems is fitAround with as many items whole as fit, where nobody reads the others.
func (o *outliner) fitItems(root *outlined, l *list, keep int, count func(string) int) (outline string) {
	if outline = o.fitAround(root, l, keep, count); !o.unread || outline == "" || !o.focus.whole {
		return outline
	}
	sort.Search(min(len(l.items), o.most)-firstItems, func(i int) bool {
		o.first = firstItems + 1 + i
		text := o.fitAround(root, l, keep, count)
		if text == "" || !o.focus.whole {
			return true
		}
		outline = text
		return false
	})
	return outline
}

// focus is the list that is told beside the outline.
type focus struct {
	at      int  // where it begins; -1 if there is none
	records bool // it holds objects, or rows: few of them are shown
	whole   bool // those are shown whole
	seen    bool // some of its items are shown
}

// fit shows root in as much detail as fits. More detail is nearly always longer. Where it is not, the outline still
// fits: each one is counted.
func (o *outliner) fit(root *outlined, keep int, count func(string) int) (outline string) {
	o.room = 16 * max(keep, 1)
	seen := false
	sort.Search(finest+1, func(step int) bool {
		d := leastDetail
		for range step {
			d += d / 4
		}
		o.out, o.focus.seen = o.out[:0], false
		o.writeValue(root, d, 0)
		if o.isFull() || count(string(o.out)) > keep {
			return true
		}
		outline, seen = string(o.out), o.focus.seen
		return false
	})
	o.focus.seen = seen
	return outline
}

// cutJSON finds the JSON in a text: all of it, or all but a few lines before and behind. body is empty if there is
// none.
func cutJSON(text string) (before, body, after string) {
	const mostBefore, mostAfter, leastBody = 1_000, 1_000, 4_000 // bytes
	const mostTried = 3
	start, tried, all := 0, 0, []byte(text)
	for start <= min(mostBefore, len(text)) && tried < mostTried {
		i := start + span.SkipSpace(all[start:min(len(text), start+mostBefore)], 0)
		if i < len(text) && kindOf(text[i]) != "" {
			tried++
			end, err := span.EndOfValue(all[i:], 0)
			switch rest := strings.TrimSpace(text[min(len(text), i+end):]); {
			case err != nil:
			case rest == "" || kindOf(rest[0]) != "": // perhaps a value in each line
				return text[:start], text[start:], ""
			case end >= leastBody && len(rest) <= mostAfter && text[i+end] == '\n' && span.Valid(all[i:i+end]):
				return text[:start], text[start : i+end], rest
			}
		}
		n := strings.IndexByte(text[start:], '\n')
		if n < 0 {
			break
		}
		start += n + 1
	}
	return "", "", ""
}

// outlined is a value of the text.
type outlined struct {
	key   span.Span // with its quotes; empty outside of objects
	at    span.Span
	what  string // the name of one value in it; empty if it is no object or array
	known bool   // first and n are filled in
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

	focus  focus
	first  int  // objects of that list that are shown
	before int  // lines before the body
	laid   bool // lines are counted as span.Layout has them
	unread bool // nobody reads what is not shown
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

// kindOf names one value in a value that begins with first; empty if that is no object or array.
func kindOf(first byte) string {
	switch first {
	case '{':
		return "key"
	case '[':
		return "item"
	}
	return ""
}

// eachLine gives f each line that is not empty, without white space before it, until f returns false. It reports
// whether f never did.
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

// findValues fills in what v knows of the values in it, once.
func (o *outliner) findValues(v *outlined) {
	if v.known {
		return
	}
	v.known = true
	o.eachValue(v, func(key, at span.Span) {
		if v.n++; len(v.first) < o.most {
			v.first = append(v.first, o.outlined(key, at))
		}
	})
}

// eachValue gives f the values in v, with the keys of an object. root has checked the text, so no error can come.
func (o *outliner) eachValue(v *outlined, f func(key, at span.Span)) {
	key := span.Span{}
	note := func(i int) (int, error) {
		end, err := span.EndOfValue(o.body, i)
		if err == nil {
			f(key, span.Span{Start: i, End: end})
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

// isFull reports whether out is too long already.
func (o *outliner) isFull() bool { return len(o.out) > o.room || o.flat > 0 && len(o.out) > o.flat }

// writeValue writes v with its key.
func (o *outliner) writeValue(v *outlined, d detail, depth int) {
	if !v.key.Empty() {
		o.writeText(v.key, d)
		o.out = append(o.out, ": "...)
	}
	size := v.at.End - v.at.Start
	switch {
	case v.what == "line":
		o.findValues(v)
		o.writeElements(v, d, depth-1)
	case v.what != "":
		o.findValues(v)
		o.writeNested(v, d, depth)
	case o.body[v.at.Start] == '"':
		o.writeText(v.at, d)
	case size > d.chars()+wholeAnyway: // a part of a number would be another number
		o.out = fmt.Appendf(o.out, "… a number of %d characters", size)
	default:
		o.out = append(o.out, v.at.Of(o.body)...)
	}
}

// writeNested writes an object or array, in one line if that is short.
func (o *outliner) writeNested(v *outlined, d detail, depth int) {
	open := o.body[v.at.Start]
	o.out = append(o.out, open)
	if o.flat > 0 {
		o.writeElements(v, d, depth)
	} else if start := len(o.out); !o.writeInLine(v, d, depth) {
		o.out = o.out[:start]
		o.writeElements(v, d, depth)
		o.writeNewLine(depth)
	}
	o.out = append(o.out, open+2) // ] is [ + 2, and } is { + 2
}

// writeInLine writes the values in v without a line break, and reports whether they are short enough for that. Numbers
// always are.
func (o *outliner) writeInLine(v *outlined, d detail, depth int) bool {
	o.flat = len(o.out) + flatOutline
	if v.what == "item" && !slices.ContainsFunc(v.first,
		func(v outlined) bool { return v.what != "" || o.body[v.at.Start] == '"' }) {
		o.flat = math.MaxInt
	}
	o.writeElements(v, d, depth)
	fits := len(o.out) <= o.flat
	o.flat = 0
	return fits
}

// writeElements writes the values in v, and how many more there are.
func (o *outliner) writeElements(v *outlined, d detail, depth int) {
	shown := v.countShown(d, depth)
	inside := d
	listed := v.at.Start == o.focus.at && v.what != "" && shown > 0
	if v.n > 1 {
		inside = d * 2 / 3
	}
	if listed {
		o.focus.seen = o.focus.whole || !o.focus.records || inside >= leastDetail
		if o.focus.records {
			shown = min(o.first, len(v.first))
		}
	}
	for i := range v.first[:shown] {
		if o.isFull() {
			return
		}
		o.writeSeparator(v, i, depth)
		if item := &v.first[i]; listed && o.focus.whole {
			o.out = append(o.out, labelled(o.body, item)...)
		} else {
			o.writeValue(item, inside, depth+1)
		}
	}
	if missing := v.n - shown; missing > 0 {
		o.writeSeparator(v, shown, depth)
		o.out = append(append(o.out, "… "...), amount(missing, shown > 0, v.what)...)
	}
}

// labelled returns a value with its key, whole, in one line.
func labelled(body []byte, v *outlined) string {
	text := span.InOneLine(body, v.at)
	if !v.key.Empty() {
		text = string(v.key.Of(body)) + ": " + text
	}
	return text
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

// writeSeparator writes what stands before the i-th of the values in v.
func (o *outliner) writeSeparator(v *outlined, i, depth int) {
	if i > 0 && v.what != "line" {
		o.out = append(o.out, ',')
	}
	switch {
	case v.what == "line" && i > 0:
		o.out = append(o.out, '\n')
	case v.what == "line":
	case o.flat == 0:
		o.writeNewLine(depth + 1)
	case i > 0:
		o.out = append(o.out, ' ')
	}
}

func (o *outliner) writeNewLine(depth int) {
	o.out = append(append(o.out, '\n'), strings.Repeat(" ", depth)...)
}

// amount says that n things are missing; more says that others of them are there.
func amount(n int, more bool, what string) string {
	if more {
		what = "more " + what
	}
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// writeText writes a JSON string as it is written, or its beginning and how much is missing. Escapes stay whole.
func (o *outliner) writeText(at span.Span, d detail) {
	inner := o.body[at.Start+1 : at.End-1]
	end, missing := cutText(inner, d.chars())
	o.out = append(append(append(o.out, '"'), inner[:end]...), '"')
	if missing > 0 {
		o.out = append(append(o.out, " … "...), amount(missing, true, "character")...)
	}
}

// cutText returns where the first chars characters of a string without its quotes end, and how many more there are.
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

// charLen returns how many bytes the first character takes in a JSON string.
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
