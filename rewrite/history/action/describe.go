package action

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// describe returns the key of the call, whose arguments were read.
func (c *callReader) describe() string {
	switch c.use {
	case running, computing:
		if k := c.commandKey(); k != "" {
			return k
		}
	case fetching:
		if k := c.lineOf(anAddress, longestKey); k != "" {
			return k
		}
	case relocating, copying:
		if from, to := c.texts(aSource), c.texts(aTarget); len(from) > 0 && len(to) > 0 {
			return shorten.Ending(from[0], longestKey/2-2) + " -> " + shorten.Ending(to[0], longestKey/2-2)
		}
	case patching:
		if len(c.action.Writes) > 0 {
			return shorten.Joined(c.action.Writes, longestKey)
		}
	case searching, listing:
		if k := c.searchKey(); k != "" {
			return k
		}
	}
	if k := c.pathKey(); k != "" {
		return k
	}
	for _, s := range [...]meaning{aCommand, aCommandList, aQuery, anAddress} {
		if k := c.lineOf(s, longestKey); k != "" {
			return k
		}
	}
	return c.firstTexts()
}

// lineOf returns the argument with the meaning s on one line of at most room characters; of a list its texts.
func (c *callReader) lineOf(s meaning, room int) string {
	v := c.found[s].Of(c.raw)
	switch {
	case len(v) == 0:
		return ""
	case v[0] == '"':
		return shorten.OneLine(c.text(s), room)
	case v[0] == '[':
		return shorten.Joined(c.texts(s), room)
	}
	return shorten.OneLine(v, room)
}

// CommandOf returns the whole command that a call gives to a shell, and the folder in which it is to run; empty if the
// call says none.
func CommandOf(name string, arguments []byte, freeText bool) (command, folder string) {
	c := callReader{raw: arguments, use: useOf(name)}
	switch {
	case c.use != running && c.use != computing:
		return "", ""
	case freeText:
		return string(arguments), ""
	case !c.readArguments():
		return "", ""
	}
	return c.command(), c.text(aFolder)
}

// command returns the command of a shell, or its words with spaces between them.
func (c *callReader) command() string {
	if line := c.text(aCommand); line != "" {
		return line
	}
	argv := c.texts(aCommand)
	if len(argv) == 3 && shell.TakesCommands(argv[1]) {
		argv = argv[2:]
	}
	return strings.Join(argv, " ")
}

// commandKey returns the first line of a command.
func (c *callReader) commandKey() string {
	line := shorten.FirstLine(c.command())
	if _, rest, ok := strings.Cut(line, " && "); ok && len(line) > longestKey && strings.HasPrefix(line, "cd ") {
		line = "… " + rest // what is done tells more than where
	}
	return shorten.OneLine(line, longestKey)
}

// searchKey returns what is looked for and where.
func (c *callReader) searchKey() string {
	what := c.lineOf(aQuery, longestKey/2)
	where := c.lineOf(aPath, longestKey/2)
	switch {
	case what == "":
		return where
	case where == "":
		return c.lineOf(aQuery, longestKey)
	}
	room := longestKey - len(" in ") - utf8.RuneCountInString(what)
	return what + " in " + shorten.Ending(c.lineOf(aPath, shell.LongestPath), room)
}

// SearchOf returns what a call searches for, and where; empty if it does not say that, or does something else.
func SearchOf(name string, arguments []byte, freeText bool) (pattern, path string) {
	c := callReader{raw: arguments, use: useOf(name)}
	if c.use != searching || freeText || !c.readArguments() {
		return "", ""
	}
	return c.lineOf(aQuery, longestKey), c.lineOf(aPath, longestKey)
}

// pathKey returns the files with the part that is wanted of them, in the words of the arguments.
func (c *callReader) pathKey() string {
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
		part = " " + shorten.OneLine("("+part[2:]+")", longestKey/2)
	}
	room := longestKey - utf8.RuneCountInString(part)
	if len(paths) == 1 {
		return shorten.Ending(paths[0], room) + part
	}
	return shorten.Joined(paths, room) + part
}

// firstTexts returns the first three short strings among the arguments, else the first string, else all as it stands.
func (c *callReader) firstTexts() string {
	var short []string
	var long []byte
	if start := span.SkipSpace(c.raw, 0); start < len(c.raw) {
		// has been read before without an error
		_, _ = span.Members(c.raw, start, func(key []byte, i int) (int, error) {
			end, err := span.EndOfValue(c.raw, i)
			switch {
			case c.raw[i] != '"' || end-i == 2 || argumentOf(key).meaning == anAside:
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
		return shorten.Joined(short, longestKey)
	case long != nil:
		return shorten.OneLine(plain(long), longestKey)
	case len(bytes.Trim(c.raw, "{} \n\t\r")) == 0:
		return ""
	}
	return shorten.OneLine(c.raw, longestKey)
}
