package wording

import "bytes"

// Bounds of what is learned of numbers.
const (
	mostNumbers = 12 // of a text
	mostCounted = 8  // values of a number that are counted
	farAway     = 5  // times the next number
)

// scale is what is known of the numbers that stand in one place of the texts of a wording.
type scale struct {
	n        int
	most     float64
	next     float64 // the greatest but that
	mostAt   int     // the text that has the greatest
	values   []counted
	many     bool // there are more than are counted
	hasRare  bool
	hasGiant bool
}

// counted is a number and how often it came.
type counted struct {
	value float64
	n     int
}

// add takes in the number of a text.
func (s *scale) add(v float64, text int) {
	switch s.n++; {
	case s.n == 1:
		s.most, s.next, s.mostAt = v, 0, text
	case v > s.most:
		s.most, s.next, s.mostAt = v, s.most, text
	case v > s.next:
		s.next = v
	}
	if s.many {
		return
	}
	for k := range s.values {
		if s.values[k].value == v {
			s.values[k].n++
			return
		}
	}
	if len(s.values) == mostCounted {
		s.values, s.many = nil, true
		return
	}
	s.values = append(s.values, counted{value: v, n: 1})
}

// findOdd finds out whether some of the numbers are odd, and returns how many: those that are rare where few others
// come, and one that is far greater than all others.
func (s *scale) findOdd() (odd int) {
	const mostUsual = 3
	if s.hasRare, s.hasGiant = false, false; s.n < leastTexts {
		return 0
	}
	rare, usual := 0, 0
	for _, v := range s.values {
		if v.n <= max(1, s.n/rareShare) {
			rare += v.n
		} else {
			usual++
		}
	}
	if s.hasRare = !s.many && usual > 0 && usual <= mostUsual && rare <= max(1, s.n/rareShare) && rare > 0; s.hasRare {
		return rare
	}
	if s.hasGiant = s.next > 0 && s.most > farAway*s.next; s.hasGiant {
		return 1
	}
	return 0
}

// oddity returns how often a number came, if it is odd; otherwise 0.
func (s *scale) oddity(v float64, text int) int {
	if s.hasGiant && text == s.mostAt {
		return 1
	}
	if !s.hasRare {
		return 0
	}
	for _, c := range s.values {
		if c.value == v && c.n <= max(1, s.n/rareShare) {
			return c.n
		}
	}
	return 0
}

// numbersOf appends the numbers of a text that stand alone, or with a unit behind them. Those of times, dates, paths
// and names are none; nor are there any where they are too many.
func numbersOf(text []byte, list []float64) []float64 {
	for start, end := nextWord(text, 0); start < end; start, end = nextWord(text, end) {
		if v, ok := numberOf(text[start:end]); ok && !isOfTime(text, start, end) {
			if len(list) == mostNumbers {
				return list[:0]
			}
			list = append(list, v)
		}
	}
	return list
}

// numberOf reads a word that is a number, perhaps with a unit behind it; of a range its end.
func numberOf(word []byte) (v float64, ok bool) {
	const mostDigits, longestUnit = 15, 2
	if k := bytes.LastIndex(word, []byte("..")); k > 0 {
		word = word[k+len(".."):]
	}
	i, digits, scale := 0, 0, 0.
	for i < len(word) && (isDigit(word[i]) || word[i] == '.' && scale == 0 && digits > 0) {
		if word[i] == '.' {
			scale = 1
		} else {
			digits++
			v = 10*v + float64(word[i]-'0')
			scale *= 10
		}
		i++
	}
	if digits == 0 || digits > mostDigits || len(word)-i > longestUnit {
		return 0, false
	}
	for _, c := range word[i:] {
		if c != '%' && (c|0x20 < 'a' || c|0x20 > 'z') {
			return 0, false
		}
	}
	if scale > 1 {
		v /= scale
	}
	return v, true
}

// isOfTime reports whether a number stands beside another one with a colon between them.
func isOfTime(text []byte, start, end int) bool {
	return start > 1 && text[start-1] == ':' && isDigit(text[start-2]) ||
		end+1 < len(text) && text[end] == ':' && isDigit(text[end+1])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
