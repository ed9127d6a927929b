package rewrite

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// describe is the key of a call whose arguments were read.
func (c *call) describe() string {
	switch c.use {
	case runs, computes:
		if k := c.commandKey(); k != "" {
			return k
		}
	case fetches:
		if k := c.line(anAddress, longestKey); k != "" {
			return k
		}
	case relocates, copies:
		if from, to := c.texts(aSource), c.texts(aTarget); len(from) > 0 && len(to) > 0 {
			return ending(from[0], longestKey/2-2) + " -> " + ending(to[0], longestKey/2-2)
		}
	case patches:
		if len(c.writes) > 0 {
			return joined(c.writes, longestKey)
		}
	case searches, lists:
		if k := c.searchKey(); k != "" {
			return k
		}
	}
	if k := c.pathKey(); k != "" {
		return k
	}
	for _, s := range [...]says{aCommand, commands, aQuery, anAddress} {
		if k := c.line(s, longestKey); k != "" {
			return k
		}
	}
	return c.firstTexts()
}

// line is what an argument says, on one line; of a list its texts.
func (c *call) line(s says, room int) string {
	v := c.found[s].Of(c.raw)
	switch {
	case len(v) == 0:
		return ""
	case v[0] == '"':
		return oneLine(c.text(s), room)
	case v[0] == '[':
		return joined(c.texts(s), room)
	}
	return oneLine(v, room)
}

// commandKey is the first line of a command.
func (c *call) commandKey() string {
	line := c.text(aCommand)
	if line == "" {
		argv := c.texts(aCommand)
		if len(argv) == 3 && invites(argv[1]) {
			argv = argv[2:]
		}
		line = strings.Join(argv, " ")
	}
	line = firstLine(line)
	if _, rest, ok := strings.Cut(line, " && "); ok && len(line) > longestKey && strings.HasPrefix(line, "cd ") {
		line = "… " + rest // what is done tells more than where
	}
	return oneLine(line, longestKey)
}

// searchKey is what is looked for and where.
func (c *call) searchKey() string {
	what := c.line(aQuery, longestKey/2)
	where := c.line(aPath, longestKey/2)
	switch {
	case what == "":
		return where
	case where == "":
		return c.line(aQuery, longestKey)
	}
	room := longestKey - len(" in ") - utf8.RuneCountInString(what)
	return what + " in " + ending(c.line(aPath, longestPath), room)
}

// pathKey is the files with the part that is wanted of them, in the words of the arguments.
func (c *call) pathKey() string {
	paths := c.texts(aPath)
	if len(paths) == 0 {
		return ""
	}
	part := ""
	for _, r := range c.ranges {
		if v := r.value.Of(c.raw); r.name != nil && len(v) < 16 {
			part += ", " + string(r.name) + " " + string(v)
		}
	}
	if part != "" {
		part = " " + oneLine("("+part[2:]+")", longestKey/2)
	}
	room := longestKey - utf8.RuneCountInString(part)
	if len(paths) == 1 {
		return ending(paths[0], room) + part
	}
	return joined(paths, room) + part
}

// firstTexts are the first three short strings among the arguments, else the first string, else all as it stands.
func (c *call) firstTexts() string {
	var short []string
	var long []byte
	if start := space(c.raw, 0); start < len(c.raw) {
		_, _ = members(c.raw, start, func(key []byte, i int) (int, error) { // has been read before without an error
			end, err := value(c.raw, i)
			switch {
			case c.raw[i] != '"' || end-i == 2 || argumentOf(key).says == anAside:
			case end-i > longestKey:
				if long == nil {
					long = c.raw[i:end]
				}
			case len(short) < 3:
				short = append(short, plain(c.raw[i:end]))
			}
			return end, err
		})
	}
	switch {
	case len(short) > 0:
		return joined(short, longestKey)
	case long != nil:
		return oneLine(plain(long), longestKey)
	case len(bytes.Trim(c.raw, "{} \n\t\r")) == 0:
		return ""
	}
	return oneLine(c.raw, longestKey)
}

// firstLine is the first line of a text that holds something.
func firstLine(s string) string {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// joined is texts one after the other, as far as there is room, in characters.
func joined(texts []string, room int) string {
	if len(texts) == 1 {
		return oneLine(texts[0], room)
	}
	return oneLine(strings.Join(texts, ", "), room)
}

// ending is a text on one line of which, if there is not room for all of it, the end is kept.
func ending(s string, room int) string {
	s = oneLine(s, longestPath)
	if n := utf8.RuneCountInString(s); n > room {
		for n >= room {
			_, size := utf8.DecodeRuneInString(s)
			s = s[size:]
			n--
		}
		s = "…" + s
	}
	return s
}

// oneLine is a text with every run of white space and control characters as one space, in valid UTF-8, and of at most
// room characters: of a longer one the beginning.
func oneLine[T string | []byte](text T, room int) string {
	out := make([]byte, 0, min(len(text), 2*room))
	n, gap, last := 0, false, 0 // characters, white space since the last of them, where the last of room begins
	for _, r := range string(text[:min(len(text), 64<<10)]) {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			gap = n > 0
			continue
		}
		if gap {
			gap = false
			if n++; n == room {
				last = len(out)
			}
			out = append(out, ' ')
		}
		if n++; n == room {
			last = len(out)
		}
		if n > room {
			return strings.TrimRight(string(out[:last]), " ") + "…"
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
