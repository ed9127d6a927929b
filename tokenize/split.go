package tokenize

// next returns the end of the piece that begins at b[i]; i < len(b). It cuts text exactly as the published pattern of
// o200k_base does, and looks at no character more than a fixed number of times:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func (s *classes) next(b []byte, i int) int {
	c, n := s.at(b, i)
	if end := s.word(b, i, c, n); end > i {
		return contraction(b, end)
	}
	if c&number != 0 {
		return s.digits(b, i+n)
	}
	if end := s.symbols(b, i, c, n); end > i {
		return end
	}
	return s.blanks(b, i)
}

// run returns the end of the run of characters that have a bit of set, from i on.
func (s *classes) run(b []byte, i int, set class) int {
	for i < len(b) {
		c := s.ascii[b[i]]
		if c&set != 0 {
			i++
			continue
		}
		if c != wide {
			break
		}
		c, n := s.wideAt(b, i)
		if c&set == 0 {
			break
		}
		i += n
	}
	return i
}

// word matches the first two alternatives, without the contraction; c and n are the class and length of the character
// at i.
func (s *classes) word(b []byte, i int, c class, n int) int {
	switch {
	case c&letter != 0: // cannot be a prefix
		_, end := s.wordFrom(b, i)
		return end
	case !c.prefix():
		return i
	}
	both, end := s.wordFrom(b, i+n)
	switch {
	case both:
		return end
	case c&(upper|lower) != 0: // a mark: it may be a word of its own, which goes before capitals behind it
		_, end = s.wordFrom(b, i)
		return end
	case end > i+n:
		return end
	}
	return i
}

// wordFrom matches at i without a prefix: capitals followed by small letters, where letters without case and marks
// are both. small says that there were any of the second kind; without, it is the second alternative that matches.
func (s *classes) wordFrom(b []byte, i int) (small bool, end int) {
	for end = i; end < len(b) && s.ascii[b[end]]&upper != 0; {
		end++
	}
	last := i // behind the last character of the run that is of both kinds, which none is in ASCII
	for end < len(b) {
		c, n := s.at(b, end)
		if c&upper == 0 {
			if c&lower != 0 {
				return true, s.run(b, end, lower)
			}
			break
		}
		if end += n; c&lower != 0 {
			last = end
		}
	}
	if last > i {
		return true, last
	}
	return false, end
}

// contraction returns the end of 's, 't, 're, 've, 'm, 'll or 'd at i, in any case; i if there is none.
func contraction(b []byte, i int) int {
	if i+1 >= len(b) || b[i] != '\'' {
		return i
	}
	switch b[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if i+2 < len(b) && b[i+2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if i+2 < len(b) && b[i+2]|0x20 == 'l' {
			return i + 3
		}
	}
	if b[i+1] == 0xc5 && i+2 < len(b) && b[i+2] == 0xbf { // the long s folds to s
		return i + 3
	}
	return i
}

// digits returns the end of a piece of up to three numbers, the first of which ends at i.
func (s *classes) digits(b []byte, i int) int {
	for range 2 {
		if i >= len(b) {
			break
		}
		c, n := s.at(b, i)
		if c&number == 0 {
			break
		}
		i += n
	}
	return i
}

// symbols matches a run of symbols with a blank before it and line ends behind it; i if there is none.
func (s *classes) symbols(b []byte, i int, c class, n int) int {
	end := i
	if b[i] == ' ' {
		if end++; end == len(b) {
			return i
		}
		c, n = s.at(b, end)
	}
	if !c.symbol() {
		return i
	}
	for end += n; end < len(b); end += n {
		if c, n = s.at(b, end); !c.symbol() {
			break
		}
	}
	for end < len(b) && (b[end] == '\r' || b[end] == '\n' || b[end] == '/') {
		end++
	}
	return end
}

// blanks matches a run of white space: through its last line end if it has one; else whole at the end of the text,
// and without its last character where something follows that can take it.
func (s *classes) blanks(b []byte, i int) int {
	last, lineEnd := i, i
	end := i
	for end < len(b) {
		c, n := s.at(b, end)
		if c&space == 0 {
			break
		}
		last, end = end, end+n
		if c&line != 0 {
			lineEnd = end
		}
	}
	switch {
	case lineEnd > i:
		return lineEnd
	case end == len(b) || last == i:
		return end
	}
	return last
}
