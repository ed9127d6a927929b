package aside

import (
	"slices"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/rewrite/span"
)

// cacheMark is a mark for the cache that the client has set on a block of an earlier round. It holds for all up to the
// block's end.
type cacheMark struct {
	value []byte // as the client has it
	upto  int    // how much of the rounds' text ends there, without blanks; 0 where the block is none
	block string // what tells the block from others, where it is no text
}

// addMark adds the mark of a block, if it has one.
func addMark(marks []cacheMark, b gjson.Result, upto int) []cacheMark {
	if value := b.Get("cache_control"); value.IsObject() {
		return append(marks, cacheMark{value: []byte(value.Raw), upto: upto, block: markOf(b)})
	}
	return marks
}

// marked are rounds with the marks on the blocks on which the client has them. Of text that it has joined, that is the
// block in which it ends. Each mark is put once: a server takes four.
func marked(rounds []aside.Round, marks []cacheMark) []aside.Round {
	if len(marks) == 0 {
		return rounds
	}
	rounds, marks = slices.Clone(rounds), slices.Clone(marks)
	said := 0
	for i := range rounds {
		var edits []span.Edit
		_, err := span.Elements(rounds[i].Said, 0, func(at int) (int, error) {
			end, err := span.EndOfValue(rounds[i].Said, at)
			if err != nil {
				return 0, err
			}
			b, before, isText := gjson.ParseBytes(rounds[i].Said[at:end]), said, false
			if isText = b.Get("type").Str == "text"; isText {
				said += len(aside.Unblanked(b.Get("text").Str))
			}
			n := slices.IndexFunc(marks, func(m cacheMark) bool {
				return isText && m.upto > before && m.upto <= said || !isText && m.upto == 0 && m.block == markOf(b)
			})
			if n >= 0 {
				edits = append(edits, setMark(rounds[i].Said, at, marks[n].value)...)
				marks = slices.Delete(marks, n, n+1)
			}
			return end, nil
		})
		if put, failed := span.Splice(rounds[i].Said, edits); err == nil && failed == nil {
			rounds[i].Said = put
		}
	}
	return rounds
}

// setMark puts a mark on the block that begins at list[at].
func setMark(list []byte, at int, value []byte) []span.Edit {
	o, err := span.ObjectAt(list, at)
	if err != nil {
		return nil
	}
	o.Set("cache_control", string(value))
	return o.Edits()
}
