package promisetest

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// own is how all text of epitome's own begins.
const own = "[epitome"

// change is a text and what was sent in its place.
type change struct {
	by       string // the role of who wrote it; "tool" for results
	was, now string
}

// compare returns the texts that differ between a value and what was sent in its place. ok is false if anything else
// differs: then now is no edit of was. It leaves out what was taken out of lists.
func compare(by, key string, was, now gjson.Result) (changes []change, ok bool) {
	switch {
	case was.Raw == now.Raw:
		return nil, true
	case names[key] || hidden[key]:
		return nil, false
	case was.IsObject() && now.IsObject():
		return compareObjects(by, was, now)
	case was.IsArray() && now.IsArray():
		return compareLists(by, was, now)
	case now.Type != gjson.String || key == "":
		return nil, false
	case was.Type == gjson.String:
		a, b := gjson.Parse(was.Str), gjson.Parse(now.Str)
		if key == "arguments" && gjson.Valid(was.Str) && a.IsObject() {
			if !gjson.Valid(now.Str) {
				return nil, false
			}
			return compare(by, "input", a, b)
		}
		return []change{{by, was.Str, now.Str}}, true
	case key == "content" || key == "output": // one text in the place of several parts
		return []change{{by, textsOf(was), now.Str}}, true
	}
	return nil, false
}

// compareObjects compares members. Thinking may go, marks for the cache may move, and a result may get a content.
func compareObjects(by string, was, now gjson.Result) (changes []change, ok bool) {
	kind := was.Get("type").Str
	switch role := was.Get("role").Str; {
	case role != "":
		by = role
	case kind == "tool_result" || strings.HasSuffix(kind, "_output"):
		by = "tool"
	case strings.HasSuffix(kind, "_call"):
		by = "assistant"
	}
	if frame(was) != frame(now) && unmark(was.Raw) == was.Raw && unmark(now.Raw) == now.Raw &&
		len(was.Map()) == len(now.Map()) {
		return nil, false
	}
	ok = true
	now.ForEach(func(key, value gjson.Result) bool {
		before := was.Get(gjson.Escape(key.Str))
		switch {
		case before.Exists():
			var more []change
			more, ok = compare(by, key.Str, before, value)
			changes = append(changes, more...)
		case key.Str == "content" && kind == "tool_result":
			changes = append(changes, change{by, "", value.String()})
		default:
			ok = key.Str == "cache_control" || key.Str == "prompt_cache_breakpoint"
		}
		return ok
	})
	was.ForEach(func(key, _ gjson.Result) bool {
		ok = ok && (now.Get(gjson.Escape(key.Str)).Exists() || hidden[key.Str] || key.Str == "prompt_cache_breakpoint")
		return ok
	})
	return changes, ok
}

// compareLists compares elements, of which some may be gone, and some may be epitome's own.
func compareLists(by string, was, now gjson.Result) (changes []change, ok bool) {
	before := was.Array()
	i := 0
	for _, value := range now.Array() {
		for ; ; i++ {
			if i == len(before) {
				if !isOwn(value) {
					return nil, false
				}
				break
			}
			if more, same := compare(by, "", before[i], value); same {
				changes = append(changes, more...)
				i++
				break
			}
		}
	}
	if by == "tool" && len(now.Array()) < len(before) { // what is left may show all of them
		for k := range changes {
			changes[k].was = textsOf(was)
		}
	}
	return changes, true
}

// textsOf returns all texts of a value, each on lines of its own.
func textsOf(value gjson.Result) string {
	var all []string
	texts("", value, func(text string) { all = append(all, text) })
	return strings.Join(all, "\n")
}

// isOwn reports whether all that a value says is epitome's own.
func isOwn(value gjson.Result) bool {
	all, count := true, 0
	texts("", value, func(text string) {
		count++
		all = all && strings.HasPrefix(strings.TrimSpace(text), own)
	})
	return all && count > 0
}

// frame is an object without the values of its members.
func frame(object gjson.Result) string {
	var b strings.Builder
	at := 0
	object.ForEach(func(_, value gjson.Result) bool {
		start := value.Index - object.Index
		b.WriteString(object.Raw[at:start])
		at = start + len(value.Raw)
		return true
	})
	return b.String() + object.Raw[at:]
}

// check says what is wrong with a change: a text of the user is sent whole, with or without a summary behind it, and
// other texts are made of their own lines and of epitome's.
func (c change) check() error {
	if c.by == "system" || c.by == "developer" {
		return fmt.Errorf("promise 2: the system's %.200q became %.200q", c.was, c.now)
	}
	if c.by == "user" {
		rest, whole := strings.CutPrefix(c.now, c.was)
		if !whole {
			rest = c.now
		}
		if !strings.HasPrefix(strings.TrimSpace(rest), own) {
			return fmt.Errorf("promise 8: the user's %.300q became %.300q", c.was, c.now)
		}
		return nil
	}
	if gjson.Valid(c.now) && strings.HasPrefix(c.now, `"`) { // JSON in a text
		c.was, c.now = gjson.Parse(c.was).Str, gjson.Parse(c.now).Str
	}
	if c.now == "" {
		return nil
	}
	known := map[string]bool{"": true}
	for line := range strings.SplitSeq(c.was, "\n") {
		known[line], known[strings.TrimSuffix(line, "\r")] = true, true
	}
	for line := range strings.SplitSeq(c.now, "\n") {
		quoted := strings.TrimPrefix(line, "> ")
		if !known[line] && !known[quoted] && !strings.HasPrefix(line, own) && !c.shows(quoted) {
			return fmt.Errorf("promise 8: %q is no line of %.300q", line, c.was)
		}
	}
	return nil
}

// shows reports whether a line that is none of the text may be one of JSON that is laid out, or what a terminal shows
// of the text, which has all its letters in this order.
func (c change) shows(line string) bool {
	bare := func(text string) string { return strings.Join(strings.Fields(text), "") }
	if strings.Contains(bare(c.was), bare(line)) {
		return true
	}
	if !strings.ContainsAny(c.was, "\r\b\x1b") {
		return false
	}
	rest := c.was
	for _, letter := range line {
		at := strings.IndexRune(rest, letter)
		if at < 0 && letter != ' ' {
			return false
		}
		rest = rest[max(0, at):]
	}
	return true
}
