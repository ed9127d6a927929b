package rewrite

// shortestBlob is the least length of a blob, in bytes. No path and no name is as long.
const shortestBlob = 1000

// blobs finds the runs of at least 1,000 bytes that base64 is written with, in either alphabet, without a break between
// them. Hexadecimal digits and drawn lines are such runs too. Spans are of the text, in order, and as long as they can be.
func blobs(text string) (found []Span) {
	// Only one byte in a thousand is looked at where there is no blob: each blob covers such a place.
	for start := 0; start+shortestBlob <= len(text); {
		end := start + shortestBlob
		first := end
		for first > start && inBlob(text[first-1]) {
			first--
		}
		if first > start { // text[first-1] is a break
			start = first
			continue
		}
		for end < len(text) && inBlob(text[end]) {
			end++
		}
		found = append(found, Span{start, end})
		start = end
	}
	return found
}

func inBlob(c byte) bool {
	switch c {
	case '+', '/', '=', '_', '-':
		return true
	}
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
