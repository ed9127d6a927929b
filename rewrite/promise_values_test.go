package rewrite

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"epitome/rewrite/span"
)

// What stands behind the values of a call, or in the place of some of them.
var (
	sawRest = regexp.MustCompile(`^… \d+ more$`)
	sawCut  = regexp.MustCompile(`^ … (\d+) more characters`)
)

// answered reports whether a line is a preview of fields of one of the texts.
func answered(texts []string, line string) bool {
	for _, t := range texts {
		if v := gjson.Parse(t); strings.HasPrefix(strings.TrimSpace(t), "{") && holdsAll(v, line, 4) {
			return true
		}
	}
	return false
}

// holdsAll reports whether a text is "path: value" of fields in an object, of so many levels below the first, with
// commas between them.
func holdsAll(object gjson.Result, text string, levels int) bool {
	if !object.IsObject() {
		return false
	}
	for n := 0; text != ""; n++ {
		if sawRest.MatchString(text) {
			return true
		}
		rest := behindField(object, "", text, levels)
		if rest == text || n > 400 {
			return false
		}
		text = strings.TrimPrefix(rest, ", ")
	}
	return true
}

// behindField is what follows the field with which a text begins; the text if it begins with none.
func behindField(v gjson.Result, path, text string, levels int) (rest string) {
	rest = text
	v.ForEach(func(key, v gjson.Result) bool {
		at := path + "[" + key.String() + "]"
		if key.Type == gjson.String {
			if at = key.Raw[1 : len(key.Raw)-1]; at == "" || strings.ContainsAny(at, `. ,:[]\>`) {
				at = key.Raw
			}
			at = strings.TrimPrefix(path+"."+at, ".")
		}
		if said, ok := strings.CutPrefix(text, at+": "); ok {
			rest = behindValue(v, said, text)
		} else if said, ok := strings.CutPrefix(text, at+"[]."); ok && v.IsArray() {
			rest = behindNames(v.Array(), said, text)
		} else if levels > 0 && strings.HasPrefix(text, at) {
			rest = behindField(v, at, text, levels-1)
		}
		return rest == text
	})
	return rest
}

// sawMoreNames stands behind the names of the first objects of a list.
var sawMoreNames = regexp.MustCompile(`^, … (\d+) more`)

// behindNames is what follows "key: name, name" of the first objects of a list; all if they have no such names.
func behindNames(list []gjson.Result, said, all string) string {
	key, said, _ := strings.Cut(said, ": ")
	for n, item := range list {
		if m := sawMoreNames.FindStringSubmatch(said); m != nil && n > 0 {
			if m[1] != fmt.Sprint(len(list)-n) {
				return all
			}
			return said[len(m[0]):]
		}
		if n > 0 {
			said = strings.TrimPrefix(said, ", ")
		}
		rest := behindValue(item.Get(key), said, "")
		if rest == "" && n < len(list)-1 {
			return all
		}
		said = rest
	}
	return said
}

// behindValue is what follows a value with which said begins; all if it does not.
func behindValue(v gjson.Result, said, all string) string {
	if rest, ok := strings.CutPrefix(said, span.InOneLine([]byte(v.Raw), span.Span{End: len(v.Raw)})); ok {
		return rest
	}
	if v.Type == gjson.String {
		end, err := span.EndOfString([]byte(said), 0)
		if err != nil {
			return all
		}
		begin, cut := gjson.Parse(said[:end]).Str, sawCut.FindStringSubmatch(said[end:])
		if cut == nil || !strings.HasPrefix(v.Str, begin) ||
			cut[1] != fmt.Sprint(utf8.RuneCountInString(v.Str)-utf8.RuneCountInString(begin)) {
			return all
		}
		return said[end+len(cut[0]):]
	}
	if n := len(v.Array()); v.IsArray() {
		for _, items := range []string{" items", " item"} {
			if rest, ok := strings.CutPrefix(said, fmt.Sprint(n)+items); ok {
				return rest
			}
		}
	}
	return all
}
