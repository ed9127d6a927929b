package census

import (
	"bytes"
	"fmt"
	"strings"

	"epitome/rewrite/wording"
)

// texts are the strings of a field as what they say.
type texts struct {
	wording.Texts
	speak bool // one of them has several words
	mute  bool // none of the first has
	next  int  // that is asked for
}

// add takes in a string with its quotes.
func (t *texts) add(value []byte) {
	const samples = 16 // among which one has several words where strings say something
	if t.mute {
		return
	}
	t.speak = t.speak || bytes.IndexByte(value, ' ') >= 0
	if t.Add(value[1 : len(value)-1]); !t.speak && t.Len() == samples {
		*t = texts{mute: true}
	}
}

// oddity says how much what the next string says differs from what the others say; 0 if it does not.
func (t *texts) oddity(value []byte) float64 {
	i := t.next
	if t.next++; !t.speak || i >= t.Len() {
		return 0
	}
	if n := t.Odd(i, value[1:len(value)-1]); n > 0 {
		return 1 / float64(n)
	}
	return 0
}

// describe says what the strings are like, and how many are; nothing if they are like many things.
func (t *texts) describe() string {
	const mostTold, longest = 4, 160 // forms, bytes
	if !t.speak {
		return ""
	}
	common, others := t.Common()
	var list []string
	for k, c := range common {
		if k == mostTold {
			list = append(list, "… "+more(len(common)-k, "form"))
			break
		}
		if len(c.Example) > longest || !c.Telling {
			return ""
		}
		list = append(list, fmt.Sprintf("like \"%s\" ×%d", c.Example, c.N))
	}
	if len(list) > 0 && others > 0 {
		list = append(list, fmt.Sprintf("others ×%d", others))
	}
	return strings.Join(list, ", ")
}
