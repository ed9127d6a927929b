// Package linenumber knows the numbers that tools put before the lines of a file that they read.
//
// It promises that lines count as numbered only where their numbers rise, so that times are none; that it reads the
// beginning of a text alone to tell; and that its time grows with the text and no faster.
package linenumber

import "strings"

// Mark is what stands behind the number of each line; empty if the lines have none.
type Mark string

var marks = [...]Mark{"→", "\t", ":", "|", " |"}

// Of returns how the lines of a text are numbered.
func Of(text string) Mark {
	const most, share = 60, 8 // lines that are looked at, tenths of them that have a number
	const mostEmpty = 5_000   // lines that may stand between those
	var votes [len(marks)]int
	looked, empty, last := 0, 0, -1
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \r\n")
		if line == "" {
			if empty++; empty > mostEmpty {
				break
			}
			continue
		}
		if looked++; looked > most {
			looked--
			break
		}
		n, digits := number(line)
		if digits == 0 || n <= last {
			continue
		}
		for k, m := range marks {
			if strings.HasPrefix(line[digits:], string(m)) {
				votes[k]++
				last = n
			}
		}
	}
	for k, m := range marks {
		if looked > 0 && votes[k]*10 >= looked*share {
			return m
		}
	}
	return ""
}

// number returns the number that a text begins with, and how many digits it has; 0 of one that is too long.
func number(s string) (n, digits int) {
	const longest = 9
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		if digits == longest {
			return 0, 0
		}
		n = 10*n + int(s[digits]-'0')
		digits++
	}
	return n, digits
}

// Len returns how many bytes of a line stand before what it says.
func (m Mark) Len(line string) int {
	if m == "" {
		return 0
	}
	at := len(line) - len(strings.TrimLeft(line, " "))
	_, digits := number(line[at:])
	if digits == 0 || !strings.HasPrefix(line[at+digits:], string(m)) {
		return 0
	}
	return at + digits + len(m)
}

// Strip returns what a line says without its number.
func (m Mark) Strip(line string) string { return line[m.Len(line):] }

// Number returns the number of a line; 0 if it has none.
func (m Mark) Number(line string) int {
	if m.Len(line) == 0 {
		return 0
	}
	n, _ := number(strings.TrimLeft(line, " "))
	return n
}

// Bare returns a text without the numbers of its lines. Lines without one stay as they are.
func (m Mark) Bare(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		b.WriteString(m.Strip(line))
	}
	return b.String()
}
