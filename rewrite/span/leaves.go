package span

// Leaves gives f the place of each value that holds no others in the valid text b[i:], in their order, and returns
// where the text ends. An object that is odd, with a key twice or one with escapes, is left out from there on.
func Leaves(b []byte, i int, f func(Span)) (end int) {
	var err error
	deeper := func(i int) (int, error) { return Leaves(b, i, f), nil }
	switch {
	case i >= len(b):
		return i
	case b[i] == '{':
		end, err = Members(b, i, func(_ []byte, i int) (int, error) { return deeper(i) })
	case b[i] == '[':
		end, err = Elements(b, i, deeper)
	default:
		if end, err = EndOfValue(b, i); err == nil {
			f(Span{i, end})
		}
	}
	if err != nil {
		return len(b)
	}
	return end
}
