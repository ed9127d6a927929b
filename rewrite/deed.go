package rewrite

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/tidwall/gjson"
)

// deed is what a call does, as far as its name and arguments tell. Whether it succeeded they do not tell. What is not
// sure is left out.
type deed struct {
	kind   kind
	key    string   // what tells calls of this tool apart, for a stub: one line of at most longestKey characters
	reads  []string // files whose content the result shows; what it shows of them is out of date when all are
	only   bool     // the result shows nothing else
	writes []string // files written, patched, renamed or deleted
	again  string   // equal for two calls that ask for the very same thing; empty if asking again means something else
}

const (
	longestKey  = 120  // characters
	mostFiles   = 50   // of a call, each of those read and those written
	longestPath = 1024 // bytes
)

// deedOf reads a call from the text that its arguments say.
func deedOf(name string, arguments []byte, freeText bool) deed {
	c := call{raw: arguments, use: useOf(name)}
	c.kind = c.use.kind()
	switch {
	case freeText:
		if c.use == patches {
			c.writes = patched(c.writes, string(arguments))
		}
	case !c.readArguments():
		c.deed = deed{kind: c.kind}
	default:
		c.claim()
		c.key = c.describe()
		c.again = c.question(name)
		return c.deed
	}
	c.key = oneLine(arguments, longestKey)
	if len(c.writes) > 0 {
		c.key = joined(c.writes, longestKey)
	}
	return c.deed
}

// call is a call while it is read.
type call struct {
	deed
	use    use
	raw    []byte
	found  [anAside + 1]Span   // the values, by what they say
	told   [anAside + 1]string // what of them is text that was asked for
	ranks  [anAside + 1]uint8  // of those
	ranges [3]struct {
		name  []byte
		value Span
	} // what says which part of a file is wanted
	looks bool // a shell's command changes nothing
}

// readArguments finds the arguments that are known. It reports whether they are an object that can be trusted.
func (c *call) readArguments() bool {
	start := space(c.raw, 0)
	if start == len(c.raw) {
		return true
	}
	if c.raw[start] != '{' || !valid(c.raw) {
		return false
	}
	n := 0
	_, err := members(c.raw, start, func(key []byte, i int) (int, error) {
		end, err := value(c.raw, i)
		v := Span{i, end}
		if err != nil || c.raw[i] == 'n' || c.raw[i] == '"' && end-i == 2 { // null and "" say nothing
			return end, err
		}
		a := argumentOf(key)
		if a.says == aRange && n < len(c.ranges) {
			c.ranges[n].name, c.ranges[n].value = key, v
			n++
		}
		if c.found[a.says].Empty() || a.rank < c.ranks[a.says] {
			c.found[a.says], c.ranks[a.says] = v, a.rank
		}
		return end, err
	})
	return err == nil
}

// text is the argument that says this, if it is a string; else nothing.
func (c *call) text(s says) string {
	v := c.found[s].Of(c.raw)
	if c.told[s] == "" && len(v) > 0 && v[0] == '"' {
		c.told[s] = plain(v)
	}
	return c.told[s]
}

// plain is what a string says whose JSON is valid.
func plain(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	return gjson.ParseBytes(quoted).Str
}

// texts are the strings of the argument that says this: itself, or those of a list, or what the objects of a list say
// of the same. Of a list there may be one more than mostFiles, which shows that there are too many.
func (c *call) texts(s says) []string {
	v := c.found[s]
	if v.Empty() || c.raw[v.Start] != '[' {
		if t := c.text(s); t != "" {
			return []string{t}
		}
		return nil
	}
	var all []string
	_, err := elements(c.raw, v.Start, func(i int) (int, error) {
		end, err := value(c.raw, i)
		if len(all) > mostFiles {
			return end, err
		}
		switch c.raw[i] {
		case '"':
			all = append(all, plain(c.raw[i:end]))
		case '{':
			inner := call{raw: c.raw[i:end]}
			if inner.readArguments() {
				all = append(all, inner.text(s))
			}
		}
		return end, err
	})
	if err != nil {
		return nil
	}
	return all
}

// claim says which files the call reads and writes.
func (c *call) claim() {
	if c.use == runs {
		c.claimShell()
		return
	}
	if c.use == shows && c.found[aPath].Empty() && !c.found[anAddress].Empty() {
		c.use, c.kind = fetches, fetching
	}
	if !c.found[elsewhere].Empty() {
		return
	}
	switch c.use {
	case shows:
		c.claimShown()
	case edits:
		c.claimEdit()
	case saves:
		c.writes = c.files(nil, aPath)
	case relocates:
		c.writes = c.files(c.files(c.files(nil, aSource), aPath), aTarget)
	case copies:
		c.writes = c.files(nil, aTarget)
	case patches:
		for _, s := range [...]says{aPatch, aCommand} {
			for _, text := range c.texts(s) {
				c.writes = patched(c.writes, text)
			}
		}
		c.writes = c.files(c.writes, aPath)
	}
	if string(c.found[aRehearsal].Of(c.raw)) == "true" {
		c.writes = nil
	}
}

// claimEdit is for the editors whose command says what they do.
func (c *call) claimEdit() {
	switch c.text(aCommand) {
	case "view":
		c.kind = reading
		c.claimShown()
	case "create", "str_replace", "insert", "undo_edit", "write", "edit", "append", "delete", "rename", "edit_diff":
		c.writes = c.files(c.files(c.files(nil, aPath), aSource), aTarget)
	}
}

// claimShell reads what is given to a shell: a line, the words of one command, or a list of lines.
func (c *call) claimShell() {
	s := script{deed: &c.deed, only: true, looks: true, dir: c.text(aFolder)}
	at := c.found[aCommand]
	switch {
	case !at.Empty() && c.raw[at.Start] == '[':
		s.arguments(c.texts(aCommand))
	case !at.Empty() && !c.found[words].Empty():
		s.arguments(append([]string{c.text(aCommand)}, c.texts(words)...))
	case !at.Empty():
		s.read(c.text(aCommand))
	default:
		for _, line := range c.texts(commands) {
			s.read(line)
		}
	}
	c.looks = s.looks && !s.lost
	if s.full {
		c.reads = nil
	}
	c.only = len(c.reads) > 0 && s.only && !s.lost
}

// claimShown is for what shows the files of its path, if all of them are known.
func (c *call) claimShown() {
	var all []string
	for _, p := range c.texts(aPath) {
		if all = addFile(all, p); !fit(p) || strings.ContainsRune(p, '*') || len(all) > mostFiles {
			return
		}
	}
	c.reads, c.only = all, len(all) > 0
}

// files adds the files that the argument names to a list of those written.
func (c *call) files(to []string, s says) []string {
	for _, p := range c.texts(s) {
		if !strings.ContainsRune(p, '*') { // which files that is cannot be known
			to = addWritten(to, p)
		}
	}
	return to
}

// question is equal for two calls of one name that ask the very same, however their arguments are ordered and spaced.
// It is empty for what acts, and for what may.
func (c *call) question(name string) string {
	switch c.use {
	case shows, searches, lists, fetches:
	case edits:
		if c.kind != reading {
			return ""
		}
	case runs:
		if !c.looks || len(c.writes) > 0 {
			return ""
		}
	default:
		return ""
	}
	var list []member
	if start := space(c.raw, 0); start < len(c.raw) {
		_, err := members(c.raw, start, func(key []byte, i int) (int, error) {
			if argumentOf(key).says == anAside {
				return value(c.raw, i)
			}
			end, d, err := digest(c.raw, i, nil)
			list = append(list, member{string(key), d})
			return end, err
		})
		if err != nil {
			return ""
		}
	}
	all := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	sum := sha256.Sum256(appendMembers(all, list))
	return string(sum[:])
}
