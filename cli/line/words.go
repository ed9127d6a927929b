package line

import (
	"fmt"
	"strings"
)

// Words are those of a line that have not been read.
type Words struct {
	rest     []string
	attached *string // what stands behind the = of the flag that is being read
	literal  bool    // behind --, no word is a flag
}

// Decoder is a value that reads its own words.
type Decoder interface {
	Decode(words *Words) error
}

// Peek is the next word, if there is one.
func (w *Words) Peek() (word string, ok bool) {
	switch {
	case w.attached != nil:
		return *w.attached, true
	case len(w.rest) > 0:
		return w.rest[0], true
	}
	return "", false
}

// Next takes the next word, if there is one.
func (w *Words) Next() (word string, ok bool) {
	word, ok = w.Peek()
	if w.attached != nil {
		w.attached = nil
	} else if ok {
		w.rest = w.rest[1:]
	}
	return word, ok
}

// Value takes the next word as a value of this kind. A word that looks like a flag is none.
func (w *Words) Value(kind string) (string, error) {
	plain := w.attached != nil || w.literal
	word, ok := w.Next()
	if !ok {
		return "", fmt.Errorf("write a %s value behind it", kind)
	}
	if !plain {
		return word, refuseFlag(kind, word)
	}
	return word, nil
}

// takePlain takes all words up to the first that looks like a flag.
func (w *Words) takePlain() []string {
	n := 0
	for n < len(w.rest) && (w.literal || !looksLikeFlag(w.rest[n])) {
		n++
	}
	taken := w.rest[:n]
	w.rest = w.rest[n:]
	return taken
}

// looksLikeFlag is false for a dash alone, which commonly stands for a standard stream.
func looksLikeFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

// refuseFlag is an error if a word that is to be a value looks like a flag.
func refuseFlag(kind, word string) error {
	if looksLikeFlag(word) {
		return &flagError{kind, word}
	}
	return nil
}

// flagError is a flag in the place of a value.
type flagError struct{ kind, word string }

func (e *flagError) Error() string {
	size := "short"
	if strings.HasPrefix(e.word, "--") {
		size = "long"
	}
	return fmt.Sprintf("expected %s value but got %q (%s flag)", e.kind, e.word, size)
}
