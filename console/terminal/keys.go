package terminal

import "unicode/utf8"

// key is what somebody has pressed: a character, or one of those below.
type key rune

// Keys without a character. They lie behind all characters.
const (
	keyUp key = utf8.MaxRune + 1 + iota
	keyDown
	keyPageUp
	keyPageDown
	keyEnter
	keyEscape
	keyBack // takes back the last character
	keyQuit // Ctrl-C, or nobody can press anything any more
)

// keysIn reads keys as a terminal sends them. What was pressed at once comes at once: an escape that nothing follows is
// the key.
func keysIn(sent []byte) (keys []key) {
	for len(sent) > 0 {
		k, n := keyAt(sent)
		if k != 0 {
			keys = append(keys, k)
		}
		sent = sent[n:]
	}
	return keys
}

// keyAt reads the first key, and how many bytes it has; 0 is none that means anything here.
func keyAt(sent []byte) (k key, n int) {
	switch c := sent[0]; {
	case c == 0x1b && len(sent) > 1 && (sent[1] == '[' || sent[1] == 'O'):
		return sequenceAt(sent)
	case c == 0x1b:
		return keyEscape, 1
	case c == '\r' || c == '\n':
		return keyEnter, 1
	case c == 0x7f || c == 0x08:
		return keyBack, 1
	case c == 0x03 || c == 0x04:
		return keyQuit, 1
	case c < ' ':
		return 0, 1
	}
	r, n := utf8.DecodeRune(sent)
	return key(r), n
}

// sequenceAt reads an escape with what follows it, up to its last byte.
func sequenceAt(sent []byte) (k key, n int) {
	n = 2
	for n < len(sent) && (sent[n] < '@' || sent[n] > '~') {
		n++
	}
	if n == len(sent) {
		return 0, n
	}
	n++
	switch string(sent[2:n]) {
	case "A":
		return keyUp, n
	case "B":
		return keyDown, n
	case "5~":
		return keyPageUp, n
	case "6~":
		return keyPageDown, n
	}
	return 0, n
}
