// Package shell reads command lines for the files that they show and change.
//
// It promises to claim only what is sure: behind a variable, a wildcard, an unknown command or text that is no shell, it
// claims nothing. It runs nothing and looks at no disk.
package shell

import (
	"strings"
)

// effects are what commands do with files, as far as their text tells. What is not sure is left out.
type effects struct {
	Reads  []string // files whose content is shown
	Writes []string // files that are written, moved or deleted
	Only   bool     // what is shown is the files of reads and nothing else
	Looks  bool     // nothing is changed
}

// EffectsOf reads a command that runs in dir, which is empty where that is not known: its words, or lines of text.
func EffectsOf(dir string, words, lines []string) effects {
	s := script{only: true, looks: true, dir: dir}
	if len(words) > 0 {
		s.arguments(words)
	}
	for _, line := range lines {
		s.read(line)
	}
	e := effects{Reads: s.reads, Writes: s.writes, Looks: s.looks && !s.lost}
	if s.full {
		e.Reads = nil
	}
	e.Only = len(e.Reads) > 0 && s.only && !s.lost
	return e
}

// script reads shell commands for the files whose content they show and those they write. It follows quotes, here
// documents, pipelines, groups and changes of folder. Where it cannot be sure it claims nothing: what stands behind a
// variable or a wildcard, what a command does that is not in the table, and everything behind text that is no shell.
type script struct {
	reads  []string // files whose content is shown
	writes []string // files that are written, moved or deleted

	text string
	at   int
	dir  string // where relative paths begin; empty is where the agent is
	away bool   // the folder has become unknown

	only  bool // nothing has been shown but files in reads
	looks bool // nothing has been done that may change anything
	lost  bool // what follows is not understood
	vague bool // the last command that shows files shows some that are not known
	full  bool // more files are shown than there is room for

	words  []token // of the commands that are being read, the innermost last
	outs   []token // files that they write by redirection, likewise
	bodyAt int     // where the line ends behind which here documents stand, if bodyEnd > 0
	// bodyEnd is where the last of those ends.
	bodyEnd int

	level    int // of shells that read what another has been given
	depth    int // of groups and substitutions
	muted    int // substitutions around: what is shown goes somewhere else
	branches int // around, that may not be taken
}

// token is a word of a command.
type token struct {
	text string
	sure bool // the text is what the command gets: nothing in it is still to be replaced
	bare bool // it has no quotes
}

// command is one simple command, or the end of a group with its redirections.
type command struct {
	words  int    // where they begin in the script's
	outs   int    // likewise
	group  bool   // a group in parentheses has just ended
	hidden bool   // what it shows goes to a file
	input  token  // the file it is given
	body   string // the here document it is given
	test   bool   // inside [[ ]], where < and > compare
}

// pipeline is a run of commands of which each is given what the one before shows.
type pipeline struct {
	mark   int // how many reads there were before it
	stages int // commands that have been read
	unsure bool
	test   bool // its last command asked a question
}

// frame is a compound command that has not ended.
type frame struct {
	mark   int // of the pipeline that it stands in
	branch bool
}

// operator is what ends a command.
type operator uint8

const (
	atEnd operator = iota
	semicolon
	and
	or
	pipe
	closing
)

const (
	deepestGroup = 40
	deepestShell = 3
)

// read reads a text with commands.
func (s *script) read(text string) {
	s.text, s.at, s.bodyAt, s.bodyEnd = text, 0, 0, 0
	s.inOneLine()
}

// arguments reads a command that is given as its words.
func (s *script) arguments(words []string) {
	s.words = s.words[:0]
	for _, w := range words {
		s.words = append(s.words, token{w, true, false})
	}
	if len(words) > 0 {
		s.stage(&pipeline{mark: len(s.reads)}, &command{}, nil)
	}
}

// inOneLine reads commands up to the end of the text or, in a group, its parenthesis.
func (s *script) inOneLine() {
	var frames []frame
	p := pipeline{mark: len(s.reads)}
	for !s.lost {
		c := command{words: len(s.words), outs: len(s.outs)}
		op := s.command(&c)
		if s.bodyEnd > 0 && s.at > s.bodyAt {
			s.lost = true // the line ran on into what was taken for here documents
		}
		if s.lost {
			break
		}
		frames = s.stage(&p, &c, frames)
		s.words, s.outs = s.words[:c.words], s.outs[:c.outs]
		switch op {
		case atEnd, closing:
			s.lost = s.lost || (op == closing) != (s.depth > 0)
			s.leave(frames)
			return
		case pipe:
			p.stages++
		default:
			p = pipeline{mark: len(s.reads), unsure: op == or || op == and && (p.unsure || p.test)}
		}
	}
}

// leave closes compound commands that have not ended.
func (s *script) leave(frames []frame) {
	for _, f := range frames {
		if f.branch {
			s.branches--
		}
	}
}

// command reads words and redirections up to an operator.
func (s *script) command(c *command) operator {
	for s.at < len(s.text) && !s.lost {
		switch ch := s.text[s.at]; {
		case ch == ' ' || ch == '\t' || ch == '\r' || c.test && strings.IndexByte("\n&|()<>;", ch) >= 0:
			s.at++
		case ch == '\\' && strings.HasPrefix(s.text[s.at:], "\\\n"):
			s.at += 2
		case ch == '#':
			if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
				s.at += n
			} else {
				s.at = len(s.text)
			}
		case ch == '\n':
			s.at++
			if s.bodyEnd > 0 {
				s.at, s.bodyEnd = max(s.at, s.bodyEnd), 0
			}
			return semicolon
		case ch == '&' && strings.HasPrefix(s.text[s.at:], "&>"):
			s.at++
			s.redirect(c, 1)
		case ch == ';' || ch == '&' || ch == '|' || ch == ')':
			return s.operator(ch)
		case ch == '(':
			s.group(c)
		case (ch == '<' || ch == '>') && !strings.HasPrefix(s.text[s.at+1:], "("):
			s.redirect(c, 1)
		default:
			s.argument(c)
		}
	}
	return atEnd
}

func (s *script) operator(ch byte) operator {
	s.at++
	double := s.at < len(s.text) && s.text[s.at] == ch
	if double && ch != ')' {
		s.at++
	}
	switch {
	case ch == ')':
		return closing
	case ch == '|' && double:
		return or
	case ch == '|':
		if strings.HasPrefix(s.text[s.at:], "&") {
			s.at++
		}
		return pipe
	case ch == '&' && double:
		return and
	}
	return semicolon
}

// group reads a group in parentheses, which changes folders for itself alone.
func (s *script) group(c *command) {
	if len(s.words) > c.words || c.group || strings.HasPrefix(s.text[s.at:], "((") {
		s.lost = true // a function, an array, arithmetic
		return
	}
	dir, away := s.dir, s.away
	s.nested()
	s.dir, s.away, c.group = dir, away, true
}

// nested reads what stands between parentheses.
func (s *script) nested() {
	s.at++
	if s.depth++; s.depth > deepestGroup {
		s.lost = true
		return
	}
	s.inOneLine()
	s.depth--
}

// argument reads a word of a command, or the number of a stream with its redirection.
func (s *script) argument(c *command) {
	start := s.at
	w := s.word()
	isNumber := w.bare && s.at-start == 1 && isDigit(w.text)
	if isNumber && s.at < len(s.text) && (s.text[s.at] == '<' || s.text[s.at] == '>') {
		s.redirect(c, int(w.text[0]-'0'))
		return
	}
	if w.bare && (w.text == "[[" || w.text == "]]") {
		c.test = w.text == "[["
	}
	s.words = append(s.words, w)
}

// digit reports whether a word is one digit, as the number of a stream is.
func isDigit(word string) bool { return len(word) == 1 && '0' <= word[0] && word[0] <= '9' }

// redirect reads a redirection of a stream.
func (s *script) redirect(c *command, stream int) {
	rest := s.text[s.at:]
	for _, sign := range [...]string{"<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">"} {
		if !strings.HasPrefix(rest, sign) {
			continue
		}
		s.at += len(sign)
		for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
			s.at++
		}
		w := s.word()
		switch sign {
		case "<<", "<<-":
			c.body = s.document(w.text, sign == "<<-")
		case "<":
			c.input = w
		case ">>", ">|", ">", ">&":
			if sign == ">&" && (w.text == "-" || isDigit(w.text)) {
				return // to another stream, which is shown too
			}
			c.hidden = c.hidden || stream == 1
			s.outs = append(s.outs, w)
		}
		return
	}
}

// document is the here document that ends at a line with the delimiter.
func (s *script) document(delimiter string, tabs bool) string {
	if s.bodyEnd == 0 {
		s.bodyAt, s.bodyEnd = len(s.text), len(s.text)
		if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
			s.bodyAt, s.bodyEnd = s.at+n, s.at+n+1
		}
	}
	start := s.bodyEnd
	for end := start; end < len(s.text); {
		line := s.text[end:]
		n := strings.IndexByte(line, '\n') + 1
		if n == 0 {
			n = len(line)
		}
		line = strings.TrimRight(line[:n], "\r\n")
		if tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == delimiter {
			s.bodyEnd = end + n
			return s.text[start:end]
		}
		end += n
	}
	s.bodyEnd = len(s.text)
	return s.text[start:]
}

// The bytes that end a word, and those that mean something inside it.
const (
	wordEnds = " \t\r\n;&|()<>"
	special  = wordEnds + "'\"\\$`*?[{}"
)

// word reads one word.
func (s *script) word() token {
	start := s.at
	if strings.HasPrefix(s.text[start:], "<(") || strings.HasPrefix(s.text[start:], ">(") {
		s.at++
		s.substitution()
		return token{}
	}
	n := strings.IndexAny(s.text[start:], special)
	if n < 0 {
		n = len(s.text) - start
	}
	s.at += n
	if s.at == len(s.text) || strings.IndexByte(wordEnds, s.text[s.at]) >= 0 {
		return token{s.text[start:s.at], true, true}
	}
	w := unfinished{token: token{sure: true, bare: true}, built: append(make([]byte, 0, 2*n+16), s.text[start:s.at]...)}
	for s.at < len(s.text) && !s.lost && strings.IndexByte(wordEnds, s.text[s.at]) < 0 {
		s.piece(&w)
	}
	w.text = string(w.built)
	alone := w.text == "[" || w.text == "[[" || w.text == "{" || w.text == "}"
	w.sure = w.sure && (!w.wild || alone)
	return w.token
}

// unfinished is a word that is being put together.
type unfinished struct {
	token
	built []byte
	wild  bool // it has wildcards or braces
}

// piece reads the next part of a word: up to a quote, or a quoted part.
func (s *script) piece(w *unfinished) {
	switch ch := s.text[s.at]; ch {
	case '\'':
		w.bare = false
		start := s.at + 1
		n := strings.IndexByte(s.text[start:], '\'')
		w.built = append(w.built, s.text[start:start+max(n, 0)]...)
		s.skipPast(2, n)
	case '"':
		w.bare = false
		s.quoted(w)
	case '\\':
		s.escape(w, wordEnds+special)
	case '$', '`':
		s.replaced(w)
	case '*', '?', '[', '{', '}':
		w.wild = true
		w.built = append(w.built, ch)
		s.at++
	default:
		w.built = append(w.built, ch)
		s.at++
	}
}

// quoted reads a part in double quotes.
func (s *script) quoted(w *unfinished) {
	for s.at++; s.at < len(s.text) && !s.lost; {
		n := strings.IndexAny(s.text[s.at:], "\"\\$`")
		if n < 0 {
			break
		}
		w.built = append(w.built, s.text[s.at:s.at+n]...)
		s.at += n
		switch s.text[s.at] {
		case '"':
			s.at++
			return
		case '\\':
			s.escape(w, "\"\\$`\n")
		default:
			s.replaced(w)
		}
	}
	s.lost = true
}

// escape reads a backslash. Before what it has no meaning for it stays: so do paths of Windows.
func (s *script) escape(w *unfinished, meant string) {
	next := s.text[s.at+1 : min(s.at+2, len(s.text))]
	s.at += 1 + len(next)
	switch {
	case next == "\n":
	case next == "" || strings.Contains(meant, next):
		w.bare = false
		w.built = append(w.built, next...)
	default:
		w.built = append(append(w.built, '\\'), next...)
	}
}

// replaced reads what the shell replaces by something that is not known here.
func (s *script) replaced(w *unfinished) {
	w.sure, w.bare = false, false
	rest := s.text[s.at+1:]
	switch {
	case s.text[s.at] == '`':
		s.skipPast(2, strings.IndexByte(rest, '`'))
		s.looks = false
	case strings.HasPrefix(rest, "("):
		s.at++
		s.substitution()
	case strings.HasPrefix(rest, "{"):
		s.skipPast(2, strings.IndexByte(rest, '}'))
	case strings.HasPrefix(rest, "'"): // with escapes
		end := 1
		for end < len(rest) && rest[end] != '\'' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		s.skipPast(2, end)
	default:
		s.at++
		w.built = append(w.built, '$')
	}
}

// substitution reads commands whose output goes into a word.
func (s *script) substitution() {
	if strings.HasPrefix(s.text[s.at:], "((") { // arithmetic
		s.skipPast(2, strings.Index(s.text[s.at:], "))"))
		return
	}
	dir, away := s.dir, s.away
	s.muted++
	s.nested()
	s.muted--
	s.dir, s.away = dir, away
}

// skipPast goes on by n bytes, which were found or not, and more.
func (s *script) skipPast(more, n int) {
	if n < 0 || s.at+n+more > len(s.text) {
		s.at, s.lost = len(s.text), true
		return
	}
	s.at += n + more
}
