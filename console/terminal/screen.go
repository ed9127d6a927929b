package terminal

import (
	"context"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// between is how long what is shown stays.
const between = time.Second

// Width is how many characters a line of a terminal has; 0 if f is none.
func Width(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// IsScreen reports whether something can be drawn on out, and keys come from in.
func IsScreen(in, out *os.File) bool {
	return term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"
}

// sizeOf is how many characters a line of the terminal has, and how many lines there are. Some do not say.
func sizeOf(out *os.File) (width, height int) {
	width, height, err := term.GetSize(int(out.Fd()))
	if err != nil || width == 0 || height == 0 {
		return 80, 24
	}
	return width, height
}

// Show draws the screen anew each second, and does what keys ask for, until one asks for the end or ctx does.
func (t *Top) Show(ctx context.Context, in, out *os.File) error {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(int(in.Fd()), before) }()
	_, _ = out.WriteString("\x1b[?1049h\x1b[?25l") // another screen, without a cursor
	defer func() { _, _ = out.WriteString("\x1b[?25h\x1b[?1049l") }()
	keys := make(chan key)
	go readKeys(ctx, in, keys)
	tick := time.NewTicker(between)
	defer tick.Stop()
	_ = t.Refresh() // what failed is shown
	for {
		if _, err := out.WriteString(painted(t.frame(sizeOf(out)))); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			_ = t.Refresh()
		case k := <-keys:
			quits, asks := t.press(k)
			if quits {
				return nil
			}
			if asks {
				_ = t.Refresh()
			}
		}
	}
}

// painted draws lines over what stands on the screen.
func painted(lines []string) string {
	return "\x1b[H" + strings.Join(lines, "\x1b[K\r\n") + "\x1b[K\x1b[J"
}

// readKeys hands on keys until there are none any more, which is an end too.
func readKeys(ctx context.Context, in *os.File, keys chan<- key) {
	buffer := make([]byte, 256)
	for {
		n, err := in.Read(buffer)
		pressed := keysIn(buffer[:n])
		if err != nil {
			pressed = append(pressed, keyQuit)
		}
		for _, k := range pressed {
			select {
			case keys <- k:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}
