package shell

import "strings"

// token is a word of a command.
type token struct {
	text string
	sure bool // the text is what the command gets: nothing in it is still to be replaced
	bare bool // it has no quotes
}

// reader reads the words of a text with commands: quotes, escapes, substitutions and here documents.
type reader struct {
	text string
	at   int  // the next byte of the text
	lost bool // what follows is not understood

	bodyAt  int // where the line ends behind which here documents stand, if bodyEnd > 0
	bodyEnd int // where the last of those ends

	unread   bool   // commands in backquotes were passed over
	commands func() // reads the commands of a substitution, from its parenthesis to behind the closing one
}

// begin puts the reader at the beginning of a text. What it has lost it does not find again.
func (r *reader) begin(text string) { r.text, r.at, r.bodyAt, r.bodyEnd = text, 0, 0, 0 }

// more reports whether there is anything left to read.
func (r *reader) more() bool { return r.at < len(r.text) && !r.lost }

// sees reports whether the text goes on with the prefix.
func (r *reader) sees(prefix string) bool { return strings.HasPrefix(r.text[r.at:], prefix) }

// skipComment goes on to the end of the line.
func (r *reader) skipComment() {
	if n := strings.IndexByte(r.text[r.at:], '\n'); n >= 0 {
		r.at += n
	} else {
		r.at = len(r.text)
	}
}

// endLine goes behind the end of a line, and behind the here documents that follow it.
func (r *reader) endLine() {
	r.at++
	if r.bodyEnd > 0 {
		r.at, r.bodyEnd = max(r.at, r.bodyEnd), 0
	}
}

// overran reports whether the line ran on into what was taken for here documents.
func (r *reader) overran() bool { return r.bodyEnd > 0 && r.at > r.bodyAt }

// document reads the here document that ends at a line with the delimiter. tabs says that tabs before it do not count.
func (r *reader) document(delimiter string, tabs bool) string {
	if r.bodyEnd == 0 {
		r.bodyAt, r.bodyEnd = len(r.text), len(r.text)
		if n := strings.IndexByte(r.text[r.at:], '\n'); n >= 0 {
			r.bodyAt, r.bodyEnd = r.at+n, r.at+n+1
		}
	}
	start := r.bodyEnd
	for end := start; end < len(r.text); {
		line := r.text[end:]
		n := strings.IndexByte(line, '\n') + 1
		if n == 0 {
			n = len(line)
		}
		line = strings.TrimRight(line[:n], "\r\n")
		if tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == delimiter {
			r.bodyEnd = end + n
			return r.text[start:end]
		}
		end += n
	}
	r.bodyEnd = len(r.text)
	return r.text[start:]
}

// operator reads what ends a command: ; & | && || |& or a parenthesis.
func (r *reader) operator() operator {
	ch := r.text[r.at]
	r.at++
	double := r.at < len(r.text) && r.text[r.at] == ch
	if double && ch != ')' {
		r.at++
	}
	switch {
	case ch == ')':
		return closing
	case ch == '|' && double:
		return or
	case ch == '|':
		if r.sees("&") {
			r.at++
		}
		return pipe
	case ch == '&' && double:
		return and
	}
	return semicolon
}

// redirection reads the sign of a redirection, and the white space behind it. It is empty if there is none.
func (r *reader) redirection() string {
	for _, sign := range [...]string{"<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">"} {
		if !r.sees(sign) {
			continue
		}
		r.at += len(sign)
		for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\t') {
			r.at++
		}
		return sign
	}
	return ""
}

// isDigit reports whether a word is one digit, as the number of a stream is.
func isDigit(word string) bool { return len(word) == 1 && '0' <= word[0] && word[0] <= '9' }

// The bytes that end a word, and those that mean something inside it.
const (
	wordEnds = " \t\r\n;&|()<>"
	special  = wordEnds + "'\"\\$`*?[{}"
)

// word reads one word.
func (r *reader) word() token {
	start := r.at
	if r.sees("<(") || r.sees(">(") {
		r.at++
		r.substitution()
		return token{}
	}
	n := strings.IndexAny(r.text[start:], special)
	if n < 0 {
		n = len(r.text) - start
	}
	r.at += n
	if r.at == len(r.text) || strings.IndexByte(wordEnds, r.text[r.at]) >= 0 {
		return token{r.text[start:r.at], true, true}
	}
	w := unfinished{token: token{sure: true, bare: true}, built: append(make([]byte, 0, 2*n+16), r.text[start:r.at]...)}
	for r.more() && strings.IndexByte(wordEnds, r.text[r.at]) < 0 {
		r.piece(&w)
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

// piece reads the next part of a word: one byte, an escape, or all that stands in quotes.
func (r *reader) piece(w *unfinished) {
	switch ch := r.text[r.at]; ch {
	case '\'':
		w.bare = false
		start := r.at + 1
		n := strings.IndexByte(r.text[start:], '\'')
		w.built = append(w.built, r.text[start:start+max(n, 0)]...)
		r.skipPast(2, n)
	case '"':
		w.bare = false
		r.quoted(w)
	case '\\':
		r.escape(w, wordEnds+special)
	case '$', '`':
		r.expansion(w)
	case '*', '?', '[', '{', '}':
		w.wild = true
		w.built = append(w.built, ch)
		r.at++
	default:
		w.built = append(w.built, ch)
		r.at++
	}
}

// quoted reads a part in double quotes.
func (r *reader) quoted(w *unfinished) {
	for r.at++; r.more(); {
		n := strings.IndexAny(r.text[r.at:], "\"\\$`")
		if n < 0 {
			break
		}
		w.built = append(w.built, r.text[r.at:r.at+n]...)
		r.at += n
		switch r.text[r.at] {
		case '"':
			r.at++
			return
		case '\\':
			r.escape(w, "\"\\$`\n")
		default:
			r.expansion(w)
		}
	}
	r.lost = true
}

// escape reads a backslash. It stays before a byte that is not in meant: so paths of Windows stay what they are.
func (r *reader) escape(w *unfinished, meant string) {
	next := r.text[r.at+1 : min(r.at+2, len(r.text))]
	r.at += 1 + len(next)
	switch {
	case next == "\n":
	case next == "" || strings.Contains(meant, next):
		w.bare = false
		w.built = append(w.built, next...)
	default:
		w.built = append(append(w.built, '\\'), next...)
	}
}

// expansion reads what the shell replaces by something that is not known here.
func (r *reader) expansion(w *unfinished) {
	w.sure, w.bare = false, false
	rest := r.text[r.at+1:]
	switch {
	case r.text[r.at] == '`':
		r.skipPast(2, strings.IndexByte(rest, '`'))
		r.unread = true
	case strings.HasPrefix(rest, "("):
		r.at++
		r.substitution()
	case strings.HasPrefix(rest, "{"):
		r.skipPast(2, strings.IndexByte(rest, '}'))
	case strings.HasPrefix(rest, "'"): // with escapes
		end := 1
		for end < len(rest) && rest[end] != '\'' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		r.skipPast(2, end)
	default:
		r.at++
		w.built = append(w.built, '$')
	}
}

// substitution reads commands in parentheses whose output goes into a word, or passes over arithmetic.
func (r *reader) substitution() {
	if r.sees("((") {
		r.skipPast(2, strings.Index(r.text[r.at:], "))"))
		return
	}
	r.commands()
}

// skipPast goes on by n bytes and more. A negative n says that what was looked for is not there: then it is lost.
func (r *reader) skipPast(more, n int) {
	if n < 0 || r.at+n+more > len(r.text) {
		r.at, r.lost = len(r.text), true
		return
	}
	r.at += n + more
}
