package span

// IsBusy reports whether a text in JSON has more than so many values: each costs its own, however short it is. A value
// in a string is none. A text that is no JSON may be either.
func IsBusy(b []byte, most int) bool {
	if len(b) < 2*most { // each takes two bytes at least
		return false
	}
	n, ok := valuesIn(b, most)
	return ok && n > most
}

// valuesIn counts values until they are more than most. ok is false if a string has no end.
func valuesIn(b []byte, most int) (n int, ok bool) {
	for i := 0; i < len(b) && n <= most; i++ {
		switch b[i] {
		case '"':
			end, err := EndOfString(b, i)
			if err != nil {
				return n, false
			}
			i = end - 1
		case ',', '[', '{':
			n++
		}
	}
	return n, true
}
