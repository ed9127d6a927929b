package terminal

import (
	"os"

	"golang.org/x/term"
)

// Width is how many characters a line of a terminal has; 0 if f is none.
func Width(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
