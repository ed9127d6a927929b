// Package stamp knows what collectors of logs put before a line: times, steps of a build, names of containers and
// processes.
//
// It promises that a line is read by itself, and no more of it than a bounded number of bytes.
package stamp

import "strings"

// mostSeen is how many bytes of a line are looked at for colours.
const mostSeen = 4_000

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// Strip returns what a line says, without its end, without white space and without what collectors of logs put before
// it: times, steps of a build, names of containers. indent is how many columns of white space stand before it.
func Strip(line string) (body string, indent int) {
	body = strings.TrimRight(line, "\r\n")
	if strings.IndexByte(body[:min(len(body), mostSeen)], '\x1b') >= 0 {
		body = withoutColors(body[:min(len(body), mostSeen)])
	}
	const mostPrefixes = 4
	for range mostPrefixes {
		n := 0
		for n < len(body) && (body[n] == ' ' || body[n] == '\t') {
			if body[n] == '\t' {
				indent += 3
			}
			n++
			indent++
		}
		body = body[n:]
		skip := prefixLen(body)
		if skip == 0 {
			break
		}
		body, indent = body[skip:], 0
	}
	return body, indent
}

// prefixLen returns how many bytes of a prefix stand at the beginning of a line; 0 if there is none.
func prefixLen(s string) int {
	if len(s) < 6 {
		return 0
	}
	switch c := s[0]; {
	case isDigit(c):
		if n := logcatLen(s); n > 0 {
			return n
		}
		if n := halfDayLen(s); n > 0 {
			return n
		}
		n := timeLen(s)
		return n + kernelLen(s[n:])
	case c == '[':
		if n := rankLen(s); n > 0 {
			return n
		}
		return bracketLen(s)
	case c == '(':
		return processLen(s)
	case c == '=' && s[1] == '=' && isDigit(s[2]): // ==4242== of valgrind
		if n := 2 + digitsIn(s[2:]); strings.HasPrefix(s[n:], "==") {
			return n + 2
		}
	case c == '#' && isDigit(s[1]): // #12 3.456 of docker build
		i := 1 + digitsIn(s[1:])
		if i < len(s) && s[i] == ' ' {
			n := numberIn(s[i+1:])
			if end := i + 1 + n; end < len(s) && s[end] == ' ' && strings.IndexByte(s[i+1:end], '.') > 0 {
				return end
			}
		}
	case isMonth(s): // Nov 20 09:31:14 host
		if len(s) > 16 && s[3] == ' ' && s[9] == ':' && s[12] == ':' {
			return 15 + kernelLen(s[15:])
		}
	case isLetter(c), c == '@':
		if n := levelLen(s); n > 0 {
			return n
		}
		if n := tabbedLen(s); n > 0 {
			return n
		}
		if n := taskLen(s); n > 0 {
			return n
		}
		return columnLen(s)
	}
	return 0
}

// tabbedLen returns the length of the names of a job and a step with tabs behind them, before a time.
func tabbedLen(s string) int {
	const longest = 120
	at := 0
	for range 2 {
		i := strings.IndexByte(s[at:min(len(s), at+longest)], '\t')
		if i < 0 {
			return 0
		}
		at += i + 1
	}
	if timeLen(s[at:]) == 0 {
		return 0
	}
	return at
}

// taskLen returns the length of the name of a package in a workspace and of its task: @shop/refund test:
func taskLen(s string) int {
	const longest = 80
	i := 0
	for i < len(s) && i < longest && s[i] != ' ' && s[i] != ':' {
		i++
	}
	if i == len(s) || s[i] != ' ' {
		return 0
	}
	colon := strings.IndexByte(s[i:min(len(s), longest)], ':')
	if colon < 2 || i+colon+1 >= len(s) || s[i+colon+1] != ' ' {
		return 0
	}
	switch s[i+1 : i+colon] {
	case "test", "build", "lint", "typecheck", "check", "dev", "start", "compile", "format", "type-check", "tests":
		return i + colon + 1
	}
	return 0
}

// minuteLen returns the length of a date and a time without seconds: 2026-11-20 09:31
func minuteLen(s string) int {
	const like = "0000-00-00 00:00"
	if len(s) <= len(like) || s[len(like)] != ' ' && s[len(like)] != '\t' && s[len(like)] != ']' {
		return 0
	}
	for i, c := range []byte(like) {
		switch {
		case c == '0' && isDigit(s[i]), c == s[i], c == ' ' && s[i] == 'T', c == '-' && s[i] == '/':
		default:
			return 0
		}
	}
	return len(like)
}

// timeLen returns the length of a date, a time or both.
func timeLen(s string) int {
	if n := minuteLen(s); n > 0 {
		return n
	}
	i := 0
	for i < len(s) && i < 40 && (isDigit(s[i]) || strings.IndexByte("-:/.,TZ+", s[i]) >= 0) {
		i++
	}
	// 09:31:14, 2026-11-20, 2026/11/20, and what is made of them
	if i < 8 || i == len(s) || s[i] != ' ' && s[i] != '\t' && s[i] != '|' {
		return 0
	}
	parts := 0
	for k := range i {
		if s[k] == '-' || s[k] == ':' || s[k] == '/' {
			parts++
		}
	}
	if parts < 2 || s[i-1] == ':' { // file:31:9: is none
		return 0
	}
	return i
}

// bracketLen returns the length of a time or of progress in brackets: [09:31:14], [ 12%], [12/345].
func bracketLen(s string) int {
	end := strings.IndexByte(s[:min(len(s), 40)], ']')
	if end < 3 {
		return 0
	}
	digit := false
	for _, c := range []byte(s[1:end]) {
		switch {
		case isDigit(c):
			digit = true
		case strings.IndexByte(" %/:.,-+TZ", c) < 0:
			return 0
		}
	}
	if !digit {
		return 0
	}
	if strings.HasPrefix(s[end+1:], ": ") { // of fastlane
		end++
	}
	return end + 1
}

// columnLen returns the length of the name of a container, with the bar behind it.
func columnLen(s string) int {
	const longest = 40
	i := 0
	for i < len(s) && i < longest && (isLetter(s[i]) || isDigit(s[i]) || s[i] == '-' || s[i] == '_' || s[i] == '.') {
		i++
	}
	name := i
	for i < len(s) && i < longest && s[i] == ' ' {
		i++
	}
	if name > 1 && i > name && i+1 < len(s) && s[i] == '|' && s[i+1] == ' ' {
		return i + 1
	}
	return 0
}

func isMonth(s string) bool {
	switch s[:3] {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec":
		return true
	}
	return false
}

// digitsIn returns how many digits stand at the beginning.
func digitsIn(s string) int {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

// numberIn returns how many digits and dots stand at the beginning.
func numberIn(s string) int {
	i := 0
	for i < len(s) && (isDigit(s[i]) || s[i] == '.') {
		i++
	}
	return i
}

// withoutColors takes sequences of terminal control out.
func withoutColors(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\x1b' {
			out = append(out, s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '[' {
			i += 2
			for i < len(s) && (s[i] < '@' || s[i] > '~') {
				i++
			}
		}
	}
	return string(out)
}

// Longest is within how many bytes a line has its time, if it has one.
const Longest = 48

// Clock returns the time of day in the beginning of a line, as 09:31:14 or behind a date as 09:31, in seconds; -1 if
// there is none.
func Clock(s string) int32 {
	two := func(k int) int32 {
		if !isDigit(s[k]) || !isDigit(s[k+1]) {
			return -10_000
		}
		return 10*int32(s[k]-'0') + int32(s[k+1]-'0')
	}
	if n := minuteLen(strings.TrimPrefix(s, "[")); n > 0 {
		n += len(s) - len(strings.TrimPrefix(s, "["))
		return 3600*two(n-len("00:00")) + 60*two(n-len("00"))
	}
	for i := 2; i+6 <= len(s); i++ {
		if s[i] != ':' || s[i+3] != ':' {
			continue
		}
		if h, m, sec := two(i-2), two(i+1), two(i+4); h >= 0 && m >= 0 && sec >= 0 {
			return 3600*h + 60*m + sec
		}
	}
	return -1
}
