package aside

import (
	"bytes"

	"epitome/sse"
)

// AppendEvent appends an event with other data than it has in raw. All its other lines stay as they are.
func AppendEvent(dst, raw, data []byte) []byte {
	put, ended := false, false
	for rest := sse.TrimMark(raw); len(rest) > 0; {
		f, behind, whole := sse.Next(rest)
		if !whole { // the stream ends within it
			rest = append(bytes.Clone(bytes.TrimRight(rest, "\r")), '\n')
			f, behind, _ = sse.Next(rest)
		}
		line := rest[:len(rest)-len(behind)]
		rest, ended = behind, f.End
		switch {
		case string(f.Name) != "data":
			dst = append(dst, line...)
		case !put:
			dst = append(append(dst, "data: "...), bytes.ReplaceAll(data, []byte("\n"), []byte("\ndata: "))...)
			dst = append(dst, line[len(bytes.TrimRight(line, "\r\n")):]...)
			put = true
		}
	}
	if !ended {
		dst = append(dst, '\n')
	}
	return dst
}
