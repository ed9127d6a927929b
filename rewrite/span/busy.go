package span

// IsBusy reports whether a text in JSON has more than so many values: each costs its own, however short it is. A value
// in a string is none. A text that is no JSON may be either.
func IsBusy(b []byte, most int) bool {
	if len(b) < 2*most { // each takes two bytes at least
		return false
	}
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end, err := EndOfString(b, i)
			if err != nil {
				return false
			}
			i = end - 1
		case ',', '[', '{':
			if most--; most < 0 {
				return true
			}
		}
	}
	return false
}
