package answer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"epitome/rewrite/span"
)

// What a preview looks at.
const (
	deepest       = 3   // objects in one another
	mostFields    = 256 // fields, the first ones
	firstItems    = 8   // of a list that may hold an error
	longestValue  = 60  // characters of a string
	longestReason = 160 // of one that says what went wrong, or how it stands
	longestPath   = 80  // bytes
	longestList   = 80  // bytes of a list that is told whole, if it holds no others
)

// field is a value of an object, at its path.
type field struct {
	path, value string
	worth       int
}

func (f *field) inWords() string { return f.path + ": " + f.value }

// What a field is worth: a reason is told before a state, that before a name, and that before anything else.
const (
	worthLittle = iota + 1
	worthName   // by which it is found again
	worthState  // how it stands
	worthReason // what went wrong, and why
)

// worthOfWord is what the last word of a key, folded, tells; 0 if nothing is known of it.
func worthOfWord(word string) int {
	switch word {
	case "error", "errors", "errormessages", "message", "reason", "detail", "ename", "evalue", "warning":
		return worthReason
	case "status", "state", "result", "outcome", "success", "ok", "confirmed", "total", "amount", "charged",
		"refunded", "balance", "count", "created", "updated", "deleted", "text", "text/plain", "stdout", "stderr":
		return worthState
	case "id", "key", "number", "reference", "ticket", "confirmation":
		return worthName
	}
	return 0
}

// wraps reports whether the only object of a list under a key may be all that was answered.
func wraps(key string) bool {
	switch key {
	case "outputs", "data", "result", "results", "items", "rows", "records", "content", "documents":
		return true
	}
	return false
}

// Known is what need not be said again where it tells no state.
type Known struct {
	Given func(value string) bool // whether the call says a value, as it stands
	Told  map[string]bool         // fields that stand in other previews; those of this one are added. It may be nil
}

// Preview returns fields of the JSON object that an answer is, as "path: value" with commas between them, in their
// order, in at most room bytes; empty if it is no such object, or hardly more than a text. Those go first that say what
// went wrong, then those that say how it stands, then ids. Numbers are as they stand; of a list its length is told, and
// of a long string that it is cut.
func Preview(text string, room int, known Known) string {
	body := objectOf(text)
	if body == nil {
		return ""
	}
	root := gjson.ParseBytes(body)
	if isText(root) {
		return ""
	}
	r := reader{known: known}
	r.object(root, "", 0)
	order := make([]int, len(r.fields))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return r.fields[b].worth - r.fields[a].worth })
	taken, size := make([]bool, len(r.fields)), 0
	for _, k := range order {
		n := len(r.fields[k].path) + len(": ") + len(r.fields[k].value) + len(", ")
		if taken[k] = size+n-len(", ") <= room; taken[k] {
			size += n
		}
	}
	var list []string
	for k, f := range r.fields {
		if taken[k] {
			list = append(list, f.inWords())
			if known.Told != nil {
				known.Told[f.inWords()] = true
			}
		}
	}
	return strings.Join(list, ", ")
}

// isText reports whether an object is hardly more than a long text that is no message: its lines tell more than that.
func isText(root gjson.Result) (found bool) {
	const least = 500 // bytes
	root.ForEach(func(key, v gjson.Result) bool {
		n := len(v.Raw)
		found = v.Type == gjson.String && n > least && n > len(root.Raw)/2 && worthOf(key.Str) < worthReason
		return !found
	})
	return found
}

// reader collects the fields of an answer.
type reader struct {
	known  Known
	fields []field
	seen   int
}

func (r *reader) object(v gjson.Result, path string, depth int) {
	v.ForEach(func(key, v gjson.Result) bool {
		if r.seen++; r.seen > mostFields {
			return false
		}
		r.value(v, joined(path, key), worthOf(key.Str), depth)
		return true
	})
}

// joined is the path of a key in an object.
func joined(path string, key gjson.Result) string {
	name := Key(key.Raw[1 : len(key.Raw)-1])
	if path == "" {
		return name
	}
	return path + "." + name
}

// Key is a key as it is told, of which the text between its quotes is given: within these where it could be taken for
// more than one.
func Key(name string) string {
	if name == "" || strings.ContainsFunc(name, isOdd) {
		return `"` + name + `"`
	}
	return name
}

// isOdd reports whether a sign could part keys and values, or lines.
func isOdd(c rune) bool {
	return strings.ContainsRune(`. ,:[]\>…`, c) || unicode.IsSpace(c) || !unicode.IsPrint(c)
}

// value takes in one value, or those in it.
func (r *reader) value(v gjson.Result, path string, worth, depth int) {
	switch {
	case len(path) > longestPath || isEmpty(v):
	case v.IsObject():
		if depth < deepest {
			r.object(v, path, depth+1)
		}
	case v.IsArray():
		r.list(v, path, worth, depth)
	case worth <= worthName && r.known.Given(v.Raw):
	default:
		if f := (field{path, shown(v, worth), worth}); worth >= worthState || !r.known.Told[f.inWords()] {
			r.fields = append(r.fields, f)
		}
	}
}

// list takes in how long a list is, or its only object, or the messages that it is made of, and the errors in it.
func (r *reader) list(v gjson.Result, path string, worth, depth int) {
	if len(v.Raw) <= longestList && !strings.ContainsAny(v.Raw[1:], "{[") {
		r.fields = append(r.fields, field{path, span.InOneLine([]byte(v.Raw), span.Span{End: len(v.Raw)}), worth})
		return
	}
	n, isTold := 0, false
	isOnly := wraps(path[strings.LastIndexByte(path, '.')+1:]) && v.Get("#").Int() == 1
	v.ForEach(func(_, item gjson.Result) bool {
		at := fmt.Sprintf("%s[%d]", path, n)
		if n++; n > firstItems {
			return true
		}
		switch {
		case worth == worthReason && item.Str != "":
			isTold = true
			r.value(item, at, worth, depth)
		case item.IsObject() && depth < deepest &&
			(isOnly || worth == worthReason || item.Get("output_type").Str == "error"):
			isTold = true
			r.object(item, at, depth+1)
		}
		return true
	})
	if isTold {
		return
	}
	items := "items"
	if n == 1 {
		items = "item"
	}
	r.fields = append(r.fields, field{path, fmt.Sprintf("%d %s", n, items), worth})
	if key, names := namesOf(v); len(names) > 1 && !r.known.Given(names[0]) {
		more := ""
		if n > len(names) {
			more = fmt.Sprintf(", … %d more", n-len(names))
		}
		r.fields = append(r.fields, field{path + "[]." + key, strings.Join(names, ", ") + more, worthLittle})
	}
}

// naming are the keys, the best first, under which the objects of a list have names. Behind them comes the first key of
// an id, unless gjson would take it for a path.
var naming = [...]string{"title", "name", "subject", "identifier", "id", "key", "number", "url"}

// namesOf are the names of the first objects of a list, as they stand, and their key; none if one of these has none.
func namesOf(list gjson.Result) (key string, names []string) {
	const most, longestName = 3, 40 // names, characters
	keys := naming[:]
	list.Get("0").ForEach(func(k, _ gjson.Result) bool {
		isName := worthOf(k.Str) == worthName && !strings.ContainsAny(k.Str, `.*?|#@\`)
		if isName {
			keys = append(keys[:len(keys):len(keys)], k.Str)
		}
		return !isName
	})
	for _, key := range keys {
		names = nil
		list.ForEach(func(_, item gjson.Result) bool {
			v := item.Get(key)
			isName := item.IsObject() && v.Exists() && !v.IsObject() && !v.IsArray() && v.Type != gjson.Null
			if isName {
				names = append(names, Cut(v, longestName))
			}
			return isName && len(names) < most
		})
		if len(names) == min(most, int(list.Get("#").Int())) {
			return key, names
		}
	}
	return "", nil
}

// shown is a value as it stands, or its beginning.
func shown(v gjson.Result, worth int) string {
	if worth >= worthState {
		return Cut(v, longestReason)
	}
	return Cut(v, longestValue)
}

// Cut is a value as it stands; of a string of more than most characters the beginning, and how much is missing.
func Cut(v gjson.Result, most int) string {
	if v.Type != gjson.String || len(v.Raw) <= most+2 {
		return v.Raw
	}
	end, n := 0, 0
	for i := 1; i < len(v.Raw)-1; i += sizeOfSign(v.Raw[i:]) {
		if n++; n <= most {
			end = i + sizeOfSign(v.Raw[i:])
		}
	}
	if n <= most {
		return v.Raw
	}
	return fmt.Sprintf(`%s" … %d more characters`, v.Raw[:end], n-most)
}

// sizeOfSign is how many bytes the first character takes of the inside of a JSON string.
func sizeOfSign(s string) int {
	switch {
	case s[0] != '\\':
		_, n := utf8.DecodeRuneInString(s)
		return n
	case len(s) < 6 || s[1] != 'u':
		return 2
	case len(s) >= 12 && isHalf(s, "89ab") && isHalf(s[6:], "cdef"):
		return 12
	}
	return 6
}

// isHalf reports whether a text begins with a half of a pair of UTF-16, of which the third digit is one of these.
func isHalf(s, third string) bool {
	return s[0] == '\\' && s[1] == 'u' && s[2]|0x20 == 'd' && strings.IndexByte(third, s[3]|0x20) >= 0
}

// worthOf is what a key is worth by its last word.
func worthOf(key string) int {
	last := strings.ToLower(key)
	if at := strings.LastIndexAny(last, "_-. "); at >= 0 {
		last = last[at+1:]
	}
	switch worth := worthOfWord(last); {
	case worth > 0:
		return worth
	case strings.HasSuffix(key, "Id"), strings.HasSuffix(key, "ID"):
		return worthName
	}
	return worthLittle
}
