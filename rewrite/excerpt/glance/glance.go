// Package glance reads the words of one line: which of them tell of failure, success or a count, and the shape that the
// line shares with others of its form.
//
// It promises that it reads a line once, and no more than a bounded number of its bytes; and that two lines with
// different words of meaning have different shapes.
package glance

import (
	"strings"
	"unicode/utf8"

	"epitome/rewrite/excerpt/looks"
)

// Set are the kinds of words that a line has.
type Set uint32

// What a word can say.
const (
	Fail    Set = 1 << iota // something failed
	Trouble                 // something is not as it should be
	Warn
	Pass
	None      // no, zero, without: what follows is not there
	Count     // what totals count
	Ask       // if, when, on: what follows has not happened
	Pod       // a state in which a container is stuck
	Exit      // something has ended
	Place     // no word: a place in a file, such as refund.go:31
	State     // how a thing stands that is not ready
	Web       // http
	Full      // no word: 100%
	Abroad    // no word: one of those that say something is of another language
	Undefined // nan: no number
)

// meaningOf returns what a word in lower case says.
func meaningOf(word []byte) Set {
	switch string(word) {
	case "error", "failed", "failure", "fatal", "panic", "panicked", "exception", "traceback", "critical", "emerg",
		"severe", "fail", "crit", "segfault", "aborted", "crashed", "faulted":
		return Fail
	case "oomkilled", "crashloopbackoff", "imagepullbackoff", "errimagepull", "evicted", "failedscheduling",
		"failedmount", "unhealthy", "backoff", "runcontainererror", "invalidimagename":
		return Pod
	case "errors", "failures", "exceptions", "fails", "failing":
		return Fail | Count
	case "cannot", "can't", "unable", "couldn't", "denied", "refused", "unreachable", "timeout", "undefined",
		"unresolved", "invalid", "unexpected", "missing", "mismatch", "mismatched", "conflict", "conflicts", "killed",
		"unknown", "unsupported", "illegal", "rejected", "corrupt", "corrupted", "violation", "forbidden",
		"unauthorized", "terminated", "abort", "broken", "unmet", "incompatible", "duplicate",
		"deadlock", "expired", "stuck", "lost", "leak", "overflow", "underflow", "outofmemory", "oom",
		"expected", "doesn't", "isn't", "wasn't", "didn't", "couldnt", "conflicting":
		return Trouble
	case "warning", "warn", "deprecated", "deprecation", "warnings":
		return Warn
	case "passed", "ok", "success", "succeeded", "successfully", "successful", "pass", "passing":
		return Pass
	case "no", "zero", "without", "none", "never":
		return None
	case "exit", "exited":
		return Exit
	case "if", "when", "on", "for", "handle", "handling", "handles", "ignore", "ignoring", "ignored", "avoid":
		return Ask
	case "tests", "test", "problems", "problem", "skipped", "vulnerabilities", "suites", "assertions", "examples",
		"todo", "issues", "specs":
		return Count
	case "pending":
		return Count | State
	case "containercreating", "terminating", "notready", "degraded", "restarting", "condition":
		return State
	case "http":
		return Web
	case "nan":
		return Undefined
	}
	return 0
}

// longestWord is the most letters of a word that meaningOf knows.
const longestWord = 18

// Glance is what is seen of a line at first sight.
type Glance struct {
	All    Set    // that it has anywhere
	Words  Set    // that stand for themselves, not in a path or a name
	Strong Set    // those of them that the line is about: at its beginning, before a colon, in brackets or capitals
	Named  bool   // it has the name of an error before a colon or at its end, such as ValueError
	Errs   bool   // it has such a name anywhere but in a path
	Shape  uint64 // equal for lines that differ only in numbers, paths and quoted names, and in no word of meaning
	Bad    int    // what totals count as failed; -1 if nothing is counted
	Good   int    // and as passed
}

// MostSeen is how many bytes of a line are looked at.
const MostSeen = 4_000

// Of reads a line, without what stands before its body, once.
func Of(body string) Glance {
	s := reader{text: body[:min(len(body), MostSeen)], token: hashStart, before: -1}
	s.Bad, s.Shape = -1, hashStart
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case isLetter(c):
			s.findHex()
			s.word()
		case isDigit(c):
			s.findHex()
			s.number()
		default:
			if c >= utf8.RuneSelf && utf8.RuneStart(c) {
				s.readAbroad()
			}
			s.other(c)
		}
	}
	s.endToken()
	return s.Glance
}

// reader reads one line.
type reader struct {
	Glance
	text  string
	at    int
	token uint64 // hash of the piece that is read, which ends at white space and at signs such as : and =
	told  uint64 // hash of its words that meaningOf knows: they tell two names apart
	name  bool   // the piece is a path or a quoted name, which the shape leaves out
	some  bool   // there is something of it

	quote  int // where the quoted part ends that has begun
	hex    int // where the hexadecimal number ends that has begun
	id     int // where the last long number ended, of digits or hexadecimal
	before int // the number that stands right before this one word; -1 if none
	wanted Set // the counted word right before, whose number follows a colon or =
	last   Set // the word before
	n      int // words that were read
}

const hashStart, hashPrime = 14695981039346656037, 1099511628211

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// word reads a run of letters.
func (s *reader) word() {
	start := s.at
	var low [longestWord]byte
	n, upper, inner := 0, true, false
	for s.at < len(s.text) {
		c := s.text[s.at]
		if !isLetter(c) && (c != '\'' || s.at+1 == len(s.text) || s.text[s.at+1] != 't') {
			break
		}
		if c >= 'a' {
			upper = false
		} else if s.at > start && c < 'a' && s.text[s.at-1] >= 'a' {
			inner = true
		}
		if n < longestWord {
			low[n] = c | 0x20
		}
		n++
		if s.at >= s.hex {
			s.token = (s.token ^ uint64(c)) * hashPrime
		}
		s.at++
	}
	s.some = true
	meaning, stressed := Set(0), upper && n > 2
	if n <= longestWord {
		if meaning = meaningOf(low[:n]); meaning == 0 {
			if meaning = meaningAbroad(low[:n]); meaning != 0 {
				s.All |= Abroad
			}
			stressed = stressed || meaning != 0 && strings.HasPrefix(s.text[s.at:], " :") // as French has it
		}
	}
	if meaning&^(State|Web|Undefined) != 0 {
		for _, c := range low[:n] {
			s.told = (s.told ^ uint64(c)) * hashPrime
		}
	}
	if inner || n > len("error") && meaning == 0 {
		if looks.IsNameOfError(s.text[start:s.at]) {
			s.Named = s.Named || looks.EndsName(s.text, s.at)
			s.Errs = s.Errs || s.Named || start == 0 || s.text[start-1] != '/'
		}
	}
	s.All |= meaning
	if standsAlone(s.text, start, s.at) {
		s.note(meaning, start, stressed)
	}
	s.n++
}

// note keeps what a word says that stands for itself. stressed says that its form alone makes it what the line is
// about.
func (s *reader) note(meaning Set, start int, stressed bool) {
	counted := meaning & (Count | Fail | Pass | Warn)
	if counted != 0 && s.before >= 0 { // 3 failed
		s.tally(meaning, s.before)
	}
	if s.before == 0 || s.last&None != 0 { // 0 errors, no errors
		s.before, s.last = -1, None
		return
	}
	s.before, s.wanted = -1, counted&^Count&(Fail|Pass|Warn)
	s.Words |= meaning
	next := byte(0)
	if s.at < len(s.text) {
		next = s.text[s.at]
	}
	if strongAt := start == 0 || stressed || next == ':' || next == ']' || next == '!' || s.level(start); strongAt &&
		!(s.last&Ask != 0 && !stressed && next != ':') {
		s.Strong |= meaning
	}
	s.last = meaning
}

// level reports whether the word at start is the value of a level, as in level=error and "level":"error".
func (s *reader) level(start int) bool {
	const longest = 12
	from := max(0, start-longest)
	for i := start - 1; i >= from; i-- {
		switch c := s.text[i]; {
		case c == '=' || c == ':':
			return i >= 3 && (s.text[i-1] == 'l' || s.text[i-1] == '"' && i >= 4 && s.text[i-2] == 'l' ||
				s.text[i-1] == 'y' || s.text[i-1] == '"' && s.text[i-2] == 'y') // level, lvl, severity
		case c == '"' || c == ' ' || c == '[' || c == '<':
		default:
			return false
		}
	}
	return start > 0 && (s.text[start-1] == '[' || s.text[start-1] == '<')
}

// tally adds what a total counts.
func (s *reader) tally(meaning Set, n int) {
	s.Bad = max(s.Bad, 0)
	switch {
	case meaning&Fail != 0:
		s.Bad = min(s.Bad+n, 1<<30)
	case meaning&Pass != 0:
		s.Good = min(s.Good+n, 1<<30)
	}
}

// number reads a run of digits.
func (s *reader) number() {
	start, n := s.at, 0
	for s.at < len(s.text) && isDigit(s.text[s.at]) {
		n = min(10*n+int(s.text[s.at]-'0'), 1<<30)
		s.at++
	}
	if s.some = true; start >= s.hex && !s.isFraction(start) {
		s.token = (s.token ^ '0') * hashPrime
	}
	if start > 0 && (s.text[start-1] == ':' || s.text[start-1] == '(') {
		s.All |= Place
	}
	if n == 100 && s.at < len(s.text) && s.text[s.at] == '%' {
		s.All |= Full
	}
	if !standsAlone(s.text, start, s.at) {
		return
	}
	if s.wanted != 0 { // Failures: 0
		s.tally(s.wanted, n)
		if n == 0 {
			s.Words &^= s.wanted &^ Count
			s.Strong &^= s.wanted
		}
		s.wanted = 0
		return
	}
	s.before = n
}

// Hash is the shape of the lines that one text stands for.
func Hash(s string) uint64 {
	h := uint64(hashStart)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * hashPrime
	}
	return h
}

// isPoint reports whether a sign stands inside numbers.
func isPoint(c byte) bool { return c == '.' || c == ',' }

// isFraction reports whether the digits at start go on with a number, as in 1.5.
func (s *reader) isFraction(start int) bool {
	return start > 1 && isPoint(s.text[start-1]) && isDigit(s.text[start-2])
}

// findHex finds where a hexadecimal number ends that begins here, such as that of a commit or a piece of a UUID. A
// word such as added is none, nor is bad1.
func (s *reader) findHex() {
	const shortest, fewest = 7, 2 // letters and digits, digits
	if s.at > 0 && (isLetter(s.text[s.at-1]) || isDigit(s.text[s.at-1])) {
		return
	}
	start, n := s.at, 0
	if strings.HasPrefix(s.text[s.at:], "0x") {
		start += 2
	}
	end := start
	for end < len(s.text) && (isDigit(s.text[end]) || s.text[end]|0x20 >= 'a' && s.text[end]|0x20 <= 'f') {
		if isDigit(s.text[end]) {
			n++
		}
		end++
	}
	if end == start || end < len(s.text) && isLetter(s.text[end]) {
		return
	}
	size := end - start
	piece := s.id > 0 && s.at == s.id+1 && s.text[s.id] == '-' && (size == 4 || size == 12)
	if start == s.at && !piece && (size < shortest || n < fewest) {
		return
	}
	s.id = end
	if n < size || start > s.at {
		s.hex = end
		s.token = (s.token ^ '0') * hashPrime
	}
}

// other reads a byte that is neither letter nor digit.
func (s *reader) other(c byte) {
	s.at++
	ends := false
	switch c {
	case ' ', '\t', '\r':
		s.endToken()
		return
	case ':', '=':
		s.before, ends = -1, true
	case '"', '\'', '`':
		if ends = !s.quoted(c); !ends {
			s.endPiece(c)
			s.name, s.some = true, true
		}
		s.wanted, s.before = 0, -1
	case '/', '\\':
		s.name, s.wanted, s.before = true, 0, -1
	case '.':
		s.name = s.name || s.isFile()
	default:
		ends = strings.IndexByte(",;|()[]{}<>", c) >= 0
		s.wanted, s.before = 0, -1
	}
	if isPoint(c) && s.at > 1 && s.at < len(s.text) && isDigit(s.text[s.at-2]) && isDigit(s.text[s.at]) {
		return // of a number
	}
	if ends {
		s.endPiece(c)
		return
	}
	s.some = true
	if s.at < 2 || s.text[s.at-2] != c { // of a ruler, one piece
		s.token = (s.token ^ uint64(c)) * hashPrime
	}
}

// isFile reports whether a point stands before the end of a file's name.
func (s *reader) isFile() bool {
	const longest = 4
	end := s.at
	for end < len(s.text) && end <= s.at+longest && isLetter(s.text[end]) {
		end++
	}
	if s.at < 2 || !isLetter(s.text[s.at-2]) && !isDigit(s.text[s.at-2]) || end == s.at || end > s.at+longest {
		return false
	}
	return end == len(s.text) || strings.IndexByte(" \t\r:,;)]'\"`>", s.text[end]) >= 0
}

// quoted finds the end of what stands behind an opening quotation mark, if that is a name or a path. Its words are left
// to the line, but not to its shape.
func (s *reader) quoted(mark byte) bool {
	const longest = 200
	if s.at > 1 && strings.IndexByte(" \t([", s.text[s.at-2]) < 0 { // it stands inside a word, or ends one
		return false
	}
	rest := s.text[s.at:min(len(s.text), s.at+longest)]
	for i, named := 0, false; i < len(rest) && rest[i] != ' ' && rest[i] != '\t'; i++ {
		if rest[i] == mark {
			if named {
				s.quote = s.at + i
			}
			return named
		}
		named = named || !isLetter(rest[i])
	}
	return false
}

// endPiece ends what was read before a sign, and puts the sign into the shape.
func (s *reader) endPiece(sign byte) {
	if s.at <= s.quote {
		return
	}
	s.endToken()
	if s.at < 2 || s.text[s.at-2] != sign {
		s.Shape = (s.Shape ^ uint64(sign)) * hashPrime
	}
}

// endToken puts the piece that was read into the shape.
func (s *reader) endToken() {
	if !s.some || s.at < s.quote {
		return
	}
	h := s.token
	if s.name {
		h = 1 ^ s.told
	}
	s.Shape = (s.Shape ^ h) * hashPrime
	s.Shape ^= s.Shape >> 29
	s.token, s.told, s.name, s.some = hashStart, 0, false, false
}

// standsAlone reports whether text[start:end] is no part of a name or a path.
func standsAlone(text string, start, end int) bool {
	if start > 0 {
		switch c := text[start-1]; {
		case c == '/' || c == '_' || c == '-' || c == '\\' || c == '@' || c == '$' || isLetter(c) || isDigit(c):
			return false
		case c == '.' && start > 1 && text[start-2] != ' ' && text[start-2] != '.':
			return false
		}
	}
	if end < len(text) {
		switch c := text[end]; {
		case c == '/' || c == '_' || c == '-' || c == '\\' || c == '(' || isLetter(c) || isDigit(c):
			return false
		case c == '.' && end+1 < len(text) && (isLetter(text[end+1]) || isDigit(text[end+1])):
			return false
		}
	}
	return true
}
