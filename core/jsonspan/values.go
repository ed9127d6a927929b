package jsonspan

// HasMoreValues reports whether a JSON text has more than most values. A value within a string is none, and a text that
// is not JSON may be either.
func HasMoreValues(b []byte, most int) bool {
	if len(b) < 2*most { // each takes two bytes at least
		return false
	}
	n := 0
	for i := 0; i < len(b) && n <= most; i++ {
		switch b[i] {
		case '"':
			end, err := EndOfString(b, i)
			if err != nil {
				return false
			}
			i = end - 1
		case ',', '[', '{':
			n++
		}
	}
	return n > most
}
