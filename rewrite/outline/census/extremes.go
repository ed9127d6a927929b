package census

import (
	"bytes"
	"strings"
)

// extremes are the two least and the two greatest of numbers.
type extremes struct {
	n                  int
	least, most        float64
	second, nextToMost float64
	leastAt, mostAt    int // items
	leastText          string
	mostText           string
}

func (e *extremes) add(n float64, text []byte, item int) {
	if e.n++; e.n == 1 {
		*e = extremes{1, n, n, n, n, item, item, string(text), string(text)}
		return
	}
	switch {
	case n < e.least || n == e.least && compareEnds(text, e.leastText) < 0:
		e.second, e.least, e.leastAt, e.leastText = e.least, n, item, string(text)
	case n < e.second || e.n == 2:
		e.second = n
	}
	switch {
	case n > e.most || n == e.most && compareEnds(text, e.mostText) > 0:
		e.nextToMost, e.most, e.mostAt, e.mostText = e.most, n, item, string(text)
	case n > e.nextToMost || e.n == 2:
		e.nextToMost = n
	}
}

// compareEnds compares two texts of one number; of times, by what stands below the seconds.
func compareEnds(a []byte, b string) int {
	const zone = "\"ZUTC "
	return strings.Compare(string(bytes.TrimRight(a, zone)), strings.TrimRight(b, zone))
}

// timeForm is what a date is written like, with a time or without.
const timeForm = "0000-00-00 00:00:00"

// timeShape is how much of timeForm a date has, and the zone behind it. Only dates of one shape can be compared.
type timeShape struct {
	length int
	zone   string
}

// times are the extremes of times of one shape.
type times struct {
	extremes
	shape timeShape
}

// timeOf reads a quoted date, with a time or without, as a number that grows with it. What is below a second the texts
// tell. Times of other zones than UTC are none, and so are those with AM or PM.
func timeOf(value []byte) (n float64, shape timeShape, ok bool) {
	text := value[1 : len(value)-1]
	if len(text) < len("0000-00-00") || text[4] != '-' {
		return 0, shape, false
	}
	for _, zone := range [...]string{"Z", " UTC"} {
		if rest, found := bytes.CutSuffix(text, []byte(zone)); found {
			text, shape.zone = rest, zone
			break
		}
	}
	shape.length = min(len(text), len(timeForm))
	for k, c := range text[:shape.length] {
		switch want := timeForm[k]; {
		case want == '0' && c >= '0' && c <= '9':
			n = 10*n + float64(c-'0')
		case want == '0' || c != want && (want != ' ' || c != 'T'):
			return 0, shape, false
		}
	}
	switch shape.length {
	case len("0000-00-00"), len("0000-00-00 00:00"):
		return n, shape, true
	case len(timeForm):
		return n, shape, isFraction(text[shape.length:])
	}
	return 0, shape, false
}

// isFraction reports whether a text is what stands behind the seconds of a time: nothing, or digits behind a point.
func isFraction(text []byte) bool {
	return len(text) == 0 || len(text) > 1 && (text[0] == '.' || text[0] == ',') && len(bytes.Trim(text[1:], "0123456789")) == 0
}
