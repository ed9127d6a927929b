package shell

import "strings"

// command is one simple command, or the end of a group with its redirections.
type command struct {
	words  []token
	outs   []token // files that it writes by redirection
	begun  bool    // it has a word
	group  bool    // a group in parentheses has just ended
	hidden bool    // what it shows goes to a file
	// redirected says that a redirection may fail, or hide what the command says.
	redirected bool
	input      token  // the file it is given
	body       string // the here document it is given
	test       bool   // inside [[ ]], where < and > compare
}

// pipeline is a run of commands of which each is given what the one before shows.
type pipeline struct {
	mark   int  // how many files were claimed as read before it
	stages int  // commands that have been read
	unsure bool // it may not be done
	test   bool // its last command asked a question
	doubt  bool // its exit code may be that of what came before it, or turned round
	fails  bool // it may end with exit code 1 and show nothing
}

// frame is a compound command that has not ended.
type frame struct {
	mark   int  // of the pipeline that it stands in
	branch bool // it has parts of which not all are done
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
	mostSteps    = 5_000 // in one text: what is behind them is not understood
	wordsOfStep  = 8     // that cost as much as another command
	workOfStep   = 4
)

// script reads shell commands, and claims what they do. It follows quotes, here documents, pipelines, groups and
// compound commands. Behind text that is no shell it claims nothing.
type script struct {
	words reader
	does  claims
	depth int // of groups and substitutions

	read []token // words of the commands that are being read, the innermost command last
	outs []token // files that these write by redirection, likewise
}

// newScript makes a script that goes on from what is claimed.
func newScript(from claims) *script {
	s := &script{does: from}
	s.words.commands = s.substitution
	return s
}

// readText reads a text with commands.
func (s *script) readText(text string) {
	s.words.begin(text)
	s.readList()
}

// readWords reads a command that is given as its words.
func (s *script) readWords(words []string) {
	list := make([]token, len(words))
	for i, w := range words {
		list[i] = token{w, true, false}
	}
	s.does.stage(&pipeline{mark: len(s.does.reads)}, &command{words: list})
}

// looksOnly reports whether nothing has been done that may change anything.
func (s *script) looksOnly() bool { return s.does.looks && !s.words.unread && !s.words.lost }

// reportsOnly reports whether nothing has been done but to look, and to ask how things stand.
func (s *script) reportsOnly() bool { return s.does.reports && !s.words.unread && !s.words.lost }

// showsOnly reports whether nothing has been shown but the files that are claimed as read.
func (s *script) showsOnly() bool { return s.does.only && !s.words.lost }

// readList reads commands up to the end of the text or, in a group, its parenthesis.
func (s *script) readList() {
	var frames []frame
	p := pipeline{mark: len(s.does.reads)}
	for !s.words.lost {
		firstWord, firstOut := len(s.read), len(s.outs)
		var c command
		op := s.readCommand(&c)
		s.does.steps += 1 + (len(s.read)-firstWord)/wordsOfStep
		if s.words.overran() || s.does.steps > mostSteps {
			s.words.lost = true
		}
		if s.words.lost {
			break
		}
		c.words, c.outs = s.read[firstWord:], s.outs[firstOut:]
		var ok bool
		frames, ok = s.does.keywords(&p, &c, frames)
		s.words.lost = !ok
		s.does.stage(&p, &c)
		s.read, s.outs = s.read[:firstWord], s.outs[:firstOut]
		switch op {
		case atEnd, closing:
			s.words.lost = s.words.lost || (op == closing) != (s.depth > 0)
			s.does.leave(frames)
			return
		case pipe:
			p.stages++
		default:
			p = pipeline{mark: len(s.does.reads), unsure: op == or || op == and && (p.unsure || p.test),
				doubt: op == and && (p.doubt || p.fails)}
		}
	}
}

// readCommand reads words and redirections up to an operator.
func (s *script) readCommand(c *command) operator {
	r := &s.words
	for r.more() {
		switch ch := r.text[r.at]; {
		case ch == ' ' || ch == '\t' || ch == '\r' || c.test && strings.IndexByte("\n&|()<>;", ch) >= 0:
			r.at++
		case r.sees("\\\n"):
			r.at += 2
		case ch == '#':
			r.skipComment()
		case ch == '\n':
			r.endLine()
			return semicolon
		case r.sees("&>"):
			r.at++
			s.redirect(c, 1)
		case ch == ';' || ch == '&' || ch == '|' || ch == ')':
			return r.operator()
		case ch == '(':
			s.group(c)
		case (ch == '<' || ch == '>') && !strings.HasPrefix(r.text[r.at+1:], "("):
			s.redirect(c, 1)
		default:
			s.argument(c)
		}
	}
	return atEnd
}

// group reads a group in parentheses, which changes folders for itself alone.
func (s *script) group(c *command) {
	if c.begun || c.group || s.words.sees("((") {
		s.words.lost = true // a function, an array, arithmetic
		return
	}
	held := s.does.folder
	s.nested()
	s.does.folder, c.group = held, true
}

// nested reads what stands between parentheses.
func (s *script) nested() {
	s.words.at++
	if s.depth++; s.depth > deepestGroup {
		s.words.lost = true
		return
	}
	s.readList()
	s.depth--
}

// substitution reads commands in parentheses whose output goes into a word. They change folders for themselves alone.
func (s *script) substitution() {
	held := s.does.folder
	s.does.muted++
	s.nested()
	s.does.muted--
	s.does.folder = held
}

// argument reads a word of a command, or the number of a stream with its redirection.
func (s *script) argument(c *command) {
	r := &s.words
	start := r.at
	w := r.word()
	isNumber := w.bare && r.at-start == 1 && isDigit(w.text)
	if isNumber && r.at < len(r.text) && (r.text[r.at] == '<' || r.text[r.at] == '>') {
		s.redirect(c, int(w.text[0]-'0'))
		return
	}
	if w.bare && (w.text == "[[" || w.text == "]]") {
		c.test = w.text == "[["
	}
	s.read, c.begun = append(s.read, w), true
}

// redirect reads a redirection of a stream.
func (s *script) redirect(c *command, stream int) {
	r := &s.words
	sign := r.redirection()
	if sign == "" {
		return
	}
	w := r.word()
	c.redirected = true
	switch sign {
	case "<<", "<<-":
		c.body = r.document(w.text, sign == "<<-")
	case "<":
		c.input = w
	case ">>", ">|", ">", ">&":
		if sign == ">&" && (w.text == "-" || isDigit(w.text)) {
			return // to another stream, which is shown too
		}
		c.hidden = c.hidden || stream == 1
		s.outs = append(s.outs, w)
	}
}
