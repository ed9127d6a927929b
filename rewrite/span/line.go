package span

// InOneLine returns a valid value without line breaks, and with a space behind each colon and comma.
func InOneLine(body []byte, at Span) string {
	out := make([]byte, 0, at.End-at.Start+16)
	for i := at.Start; i < at.End; {
		switch c := body[i]; c {
		case ' ', '\n', '\t', '\r':
			i++
		case ':', ',':
			out = append(out, c, ' ')
			i++
		case '"':
			end, err := EndOfString(body, i)
			if err != nil {
				return string(out)
			}
			out = append(out, body[i:end]...)
			i = end
		default:
			out = append(out, c)
			i++
		}
	}
	return string(out)
}
