// Package looks tells what a line of an output looks like by itself: code, a frame of a trace, a match of a search, a
// message of a log.
//
// It promises that it reads one line, and no more than a bounded number of its bytes.
package looks

import (
	"strings"
	"unicode"

	"epitome/rewrite/excerpt/stamp"
)

const digits = "0123456789"

// mostSeen is how many bytes of a line are looked at.
const mostSeen = 4_000

// Beginning is what is read for its names of a line, or of many lines that nobody reads one by one: all of it, or whole
// words of its first 4 MB.
func Beginning(line string) string {
	const most = 4 << 20
	if len(line) <= most {
		return line
	}
	return line[:strings.LastIndexAny(line[:most], " \t\n\",;")+1]
}

// IsChat reports whether a line begins with a level below that of warnings.
func IsChat(body string) bool {
	body = strings.TrimPrefix(body, "[")
	for _, level := range [...]string{"DEBUG", "INFO", "TRACE", "VERBOSE", "debug", "info", "trace", "level=debug", "level=info"} {
		if strings.HasPrefix(body, level) && len(body) > len(level) && strings.IndexByte(" \t]:", body[len(level)]) >= 0 {
			return true
		}
	}
	return false
}

// IsRetold reports whether a line tells on the way what would be a failure if a command had said it: it is one of a log
// of a low level, a try that others follow, an entry of a list, a remark of a tool's, or what a search found in a file.
func IsRetold(body string) bool {
	const near = 96 // bytes
	if IsChat(body) || isQuoted(body) {
		return true
	}
	for _, s := range [...]string{"* ", "- ", "# ", "//", "/*"} {
		if strings.HasPrefix(body, s) {
			return true
		}
	}
	head := body[:min(len(body), near)]
	for _, s := range [...]string{" INFO ", " DEBUG ", "[INFO]", "[DEBUG]", "level=info", "level=debug", "etry",
		"ttempt ", "aiting "} {
		if strings.Contains(head, s) {
			return true
		}
	}
	return false
}

// HasCross reports whether a line has a mark of what went wrong.
func HasCross(body string) bool {
	for _, mark := range [...]string{"✗", "✘", "✖", "✕", "❌"} {
		if strings.Contains(body[:min(len(body), mostSeen)], mark) {
			return true
		}
	}
	return false
}

// IsCode reports whether a line looks like a line of a program rather than of its output.
func IsCode(body string) bool {
	body = strings.TrimRight(body, " \t")
	if body == "" {
		return false
	}
	switch body[len(body)-1] {
	case '{', ';', '}':
		return body[0] != '{' && body[0] != '['
	}
	for _, s := range [...]string{"//", "/*", "* ", "if ", "return ", "func ", "def ", "const ", "import ", "from ", "raise ",
		"throw ", "assert ", "except ", "catch ", "} ", "case ", "let ", "var ", "class ", "#include", "pub fn ", "fn "} {
		if strings.HasPrefix(body, s) {
			return true
		}
	}
	return strings.Contains(body, ":= ") || strings.Contains(body, " => ") && strings.HasSuffix(body, ",")
}

// IsFramed reports whether a line stands in a frame, or is code beside its number.
func IsFramed(line string) bool {
	body, _ := stamp.Strip(line[:min(len(line), 80)])
	body = strings.TrimLeft(body, "0123456789> ")
	return strings.HasPrefix(body, "|") || strings.HasPrefix(body, "│")
}

// IsOwn reports whether a frame is of a program's own code rather than of a library.
func IsOwn(frame string) bool {
	frame = strings.TrimSpace(frame[:min(len(frame), mostSeen)])
	if strings.HasPrefix(frame, "internal/") || strings.HasPrefix(frame, "at internal/") { // of Go, and of Node
		return false
	}
	for _, part := range [...]string{"node_modules", "site-packages", "dist-packages", "node:internal", "(internal/", "java.base/",
		"jdk.internal", "java.lang.", "org.junit", "/rustc/", "core::", "std::", "/usr/lib", "/usr/local/", "lib/python", "System.",
		"Microsoft.", "created by ", "testing.", "venv/bin/", "conda/bin/", "libsanitizer", "at android.", "at androidx.",
		"at com.android.", "at dalvik.", "at kotlin.", "at kotlinx.",
		"(dart:", "(package:flutter", "(package:test_api", "(package:stack_trace",
		"/src/runtime/", "/src/testing/", "/pkg/mod/", "library/std/", "library/core/", ".cargo/registry"} {
		if strings.Contains(frame, part) {
			return false
		}
	}
	return true
}

// IsFound reports whether a line begins as the lines of a search do: path:31:
func IsFound(body string) bool {
	const longest = 200
	i := strings.IndexByte(body[:min(len(body), longest)], ':')
	if i < 2 || strings.IndexByte(body[:i], ' ') >= 0 {
		return false
	}
	n := len(body[i+1:]) - len(strings.TrimLeft(body[i+1:], digits))
	return n > 0 && i+1+n < len(body) && body[i+1+n] == ':'
}

// isQuoted reports whether a line is of a search and shows what stands in a file: behind the one blank of a message
// there is no other, and before it no column.
func isQuoted(body string) bool {
	if !IsFound(body) {
		return false
	}
	_, behind, _ := strings.Cut(body, ":")
	behind = strings.TrimLeft(behind, digits)[1:]
	return behind != "" && (behind[0] != ' ' || strings.HasPrefix(behind, "  ")) && !strings.ContainsAny(behind[:1], digits)
}

// StartsInFile reports whether a line begins with a line and a column that stand alone, as linters write them below the
// name of a file: 31:9
func StartsInFile(body string) bool {
	body = strings.TrimLeft(body[:min(len(body), 80)], " \t")
	line := len(body) - len(strings.TrimLeft(body, digits))
	if line == 0 || line == len(body) || body[line] != ':' {
		return false
	}
	rest := strings.TrimLeft(body[line+1:], digits)
	return len(rest) < len(body)-line-1 && rest != "" && (rest[0] == ' ' || rest[0] == '\t')
}

// IsPlace reports whether a line names a line of a file and says nothing else: src/refund.ts:31:9
func IsPlace(body string) bool {
	const longest = 300
	if len(body) >= longest {
		return false
	}
	body = strings.TrimSpace(body)
	if strings.HasPrefix(body, `File "`) { // of OCaml
		return strings.HasSuffix(body, ":") && strings.Contains(body, `", line`) && strings.Contains(body, ", characters ")
	}
	body = strings.TrimSuffix(body, ":")
	file := strings.TrimRight(body, digits)
	if name, is := strings.CutPrefix(file, "In "); is { // of ShellCheck
		return file != body && strings.HasSuffix(name, " line ")
	}
	if file == body || !strings.HasSuffix(file, ":") {
		return false
	}
	if before := strings.TrimRight(file[:len(file)-1], digits); strings.HasSuffix(before, ":") {
		file = before
	}
	file = file[:len(file)-1]
	if at := strings.IndexByte(file, '@'); at > 0 && file[at-1] != '/' && file[at-1] != '\\' {
		return false // a function's, of a trace
	}
	return strings.ContainsAny(file, `./\`) && !strings.ContainsAny(file, " \t\"'()") &&
		!strings.Contains(file, "://") && HasLetters(file)
}

// IsFile reports whether a line is the name of a file and nothing else, but for a colon behind it.
func IsFile(body string) bool {
	const longest = 300
	name := strings.TrimSuffix(strings.TrimSpace(body[:min(len(body), longest)]), ":")
	if len(name) > 2 && name[1:3] == `:\` {
		name = name[2:] // behind the drive
	}
	return len(body) < longest && strings.ContainsAny(name, `./\`) && !strings.ContainsAny(name, " \t:*\"<>|?")
}

// HasPlace reports whether a frame names a line of a file.
func HasPlace(frame string) bool {
	if strings.Contains(frame, `", line `) || strings.Contains(frame, ":line ") {
		return true
	}
	for i := 1; i+1 < len(frame); i++ {
		if frame[i] != ':' || frame[i+1] < '0' || frame[i+1] > '9' {
			continue
		}
		k := i
		for k > 0 && isWordByte(frame[k-1]) {
			k--
		}
		if k > 0 && k < i && frame[k-1] == '.' {
			return true
		}
	}
	return false
}

// isWordByte reports whether a byte stands in a file's ending.
func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|' ' >= 'a' && c|' ' <= 'z'
}

// HasLetters reports whether a line is more than signs: a row of carets says nothing alone.
func HasLetters(line string) bool { return strings.ContainsFunc(line, unicode.IsLetter) }

// HasLevel reports whether one of the first words of a line is the level of a message of a log, in capitals, in
// brackets or behind level=.
func HasLevel(line string) bool {
	const most, longest = 6, 80 // words, of which a time is three, and bytes
	line = line[:min(len(line), longest)]
	for range most {
		line = strings.TrimLeft(line, " \t:])>|")
		end := strings.IndexAny(line, " \t:])>|\r\n")
		if end < 0 {
			return false
		}
		word, said := strings.CutPrefix(line[:end], "level=")
		if !said {
			word, said = strings.CutPrefix(word, "[")
		}
		switch word {
		case "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL", "TRACE":
			return true
		case "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical", "trace":
			if said {
				return true
			}
		}
		line = line[end:]
	}
	return false
}

// IsNameOfError reports whether a word is made like ValueError or NullPointerException.
func IsNameOfError(word string) bool {
	for _, end := range [...]string{"Error", "Exception", "Failure", "Fault", "Interrupt", "Panic"} {
		if len(word) > len(end) && word[len(word)-len(end):] == end {
			return true
		}
	}
	return false
}

// EndsName reports whether a name that ends at text[at] is followed by a colon, or ends its line.
func EndsName(text string, at int) bool {
	return at == len(text) || text[at] == ':' || text[at] == '\r'
}

// Indent returns how many columns of white space a line begins with.
func Indent(line string) (columns int) {
	const tab = 4
	for i := range min(len(line), mostSeen) {
		switch line[i] {
		case ' ':
			columns++
		case '\t':
			columns += tab
		default:
			return columns
		}
	}
	return columns
}

// IsLetter reports whether a byte is a letter of ASCII.
func IsLetter(c byte) bool { return c|' ' >= 'a' && c|' ' <= 'z' }

// IsBlob reports whether a line is one of bytes in base 64, as certificates and images have them.
func IsBlob(body string) bool {
	const least, most = 60, 4_000 // bytes; a longer line is read in part anyway
	if len(body) < least || len(body) > most {
		return false
	}
	upper, lower, digit := false, false, false
	for i := range len(body) {
		switch c := body[i]; {
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= '0' && c <= '9':
			digit = true
		case c != '+' && c != '/' && c != '=':
			return false
		}
	}
	return upper && lower && digit
}

// IsRaised reports whether a line begins with a name with a capital in it, of one part or several, that ends it or has
// a colon behind it: psycopg2.errors.UndefinedColumn: no such column. Such a line tells what a trace ends in.
func IsRaised(body string) bool {
	body, _ = stamp.Strip(body[:min(len(body), mostSeen)])
	end := strings.IndexByte(body, ':')
	if end < 0 {
		end = len(body)
	}
	isOther := func(r rune) bool { return r != '.' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return strings.ContainsFunc(body[:end], unicode.IsUpper) && !strings.ContainsFunc(body[:end], isOther)
}
