// Package action is what a call does, as far as the name of its tool and its arguments tell: which files it reads and
// writes, whether it only looks, what it asks, and one line that tells it apart.
//
// It promises that it claims only what is sure: a call that is not understood, or that names too many files, does
// nothing that is known. It does not say whether the call succeeded, which package ending reads from the result. What
// is known of the tools of common agents stands in tools.go alone. It is pure, and linear in what it reads.
package action

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/rewrite/shell"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// Action is what a call does, as far as its name and arguments tell. Whether it succeeded they do not tell. What is not
// sure is left out.
type Action struct {
	Kind      Kind
	Key       string   // what tells calls of this tool apart, for a stub: one line of at most longestKey characters
	Reads     []string // files whose content the result shows; what it shows of them is out of date when all are
	OnlyFiles bool     // the result shows nothing else
	Writes    []string // files written, patched, renamed or deleted
	Deletes   []string // of them, those that are not there any more
	Looks     bool     // it is a command of a shell that changes nothing
	Reports   bool     // likewise, or one that asks programs how things stand
	Whole     bool     // it shows or writes all of these files, and not a part of them
	Numbered  bool     // numbers that stand before lines of Reads are those that they have in their file
	Session   string   // of a command that runs already: the call waits for it, gives it input, or ends it
	Ends      bool     // the call is to end it
	Asks      shell.Question
	Alone     bool // what asks is all that the command does
	reading
}

// reading is what is known of a call once it was read.
type reading struct {
	// Identity is equal for two calls that ask for the very same thing. It is empty if asking again means something
	// else.
	Identity string
	work     int // what reading its commands has cost, as shell.Effects has it
}

const longestKey = 120 // characters

// Of reads a call from the text that its arguments say.
func Of(name string, arguments []byte, freeText bool) Action {
	c := callReader{raw: arguments, use: useOf(name)}
	c.action.Kind = c.use.kind()
	switch {
	case freeText:
		if c.use == patching {
			c.action.Writes = shell.PatchedFiles(c.action.Writes, string(arguments))
			c.action.Deletes = shell.DeletedFiles(c.action.Deletes, string(arguments))
		}
	case !c.readArguments():
		c.action = Action{Kind: c.action.Kind}
	default:
		c.claim(name)
		c.action.Key = c.describe()
		c.action.Identity = c.digestQuestion(name)
		return c.action
	}
	c.action.Key = shorten.OneLine(arguments, longestKey)
	if len(c.action.Writes) > 0 {
		c.action.Key = shorten.Joined(c.action.Writes, longestKey)
	}
	return c.action
}

// callReader is a call while it is read.
type callReader struct {
	action Action
	use    use
	raw    []byte
	found  [meanings]span.Span // the values, by what they say
	told   [meanings]string    // what of them is text that was asked for
	ranks  [meanings]uint8     // of those
	ranges [3]struct {
		name  []byte
		value span.Span
	} // what says which part of a file is wanted
}

// readArguments finds the arguments that are known. It reports whether they are an object that can be trusted.
func (c *callReader) readArguments() bool {
	start := span.SkipSpace(c.raw, 0)
	if start == len(c.raw) {
		return true
	}
	if c.raw[start] != '{' || !span.Valid(c.raw) {
		return false
	}
	n := 0
	_, err := span.Members(c.raw, start, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(c.raw, i)
		v := span.Span{Start: i, End: end}
		if err != nil || c.raw[i] == 'n' || c.raw[i] == '"' && end-i == 2 { // null and "" say nothing
			return end, err
		}
		a := argumentOf(key)
		if a.meaning == aRange && n < len(c.ranges) {
			c.ranges[n].name, c.ranges[n].value = key, v
			n++
		}
		if c.found[a.meaning].Empty() || a.rank < c.ranks[a.meaning] {
			c.found[a.meaning], c.ranks[a.meaning] = v, a.rank
		}
		return end, err
	})
	return err == nil
}

// text returns the argument with the meaning s, if it is a string; else nothing.
func (c *callReader) text(s meaning) string {
	v := c.found[s].Of(c.raw)
	if c.told[s] == "" && len(v) > 0 && v[0] == '"' {
		c.told[s] = plain(v)
	}
	return c.told[s]
}

// plain returns the text of a valid JSON string.
func plain(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	return gjson.ParseBytes(quoted).Str
}

// texts returns the strings of the argument that says this: itself, or those of a list, or what the objects of a list
// say of the same. Of a list there may be one more than mostFiles, which shows that there are too many.
func (c *callReader) texts(s meaning) []string {
	v := c.found[s]
	if v.Empty() || c.raw[v.Start] != '[' {
		if t := c.text(s); t != "" {
			return []string{t}
		}
		return nil
	}
	var all []string
	_, err := span.Elements(c.raw, v.Start, func(i int) (int, error) {
		end, err := span.EndOfValue(c.raw, i)
		if len(all) > shell.MostFiles {
			return end, err
		}
		switch c.raw[i] {
		case '"':
			all = append(all, plain(c.raw[i:end]))
		case '{':
			inner := callReader{raw: c.raw[i:end]}
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
func (c *callReader) claim(name string) {
	if c.use == running {
		c.claimShell()
		c.claimSession(name)
		return
	}
	if c.use == showing && c.found[aPath].Empty() && !c.found[anAddress].Empty() {
		c.use, c.action.Kind = fetching, Fetching
	}
	if !c.found[aService].Empty() {
		return
	}
	c.claimSession(name)
	switch c.use {
	case showing:
		c.claimShown()
	case editing:
		c.claimEdit()
		c.action.Whole = c.action.Whole || c.text(aCommand) == "create" && !c.keepsContent()
	case saving:
		c.action.Writes = c.files(nil, aPath)
		c.action.Whole = replacesFiles(name) && !c.keepsContent()
	case erasing:
		c.action.Writes = c.files(nil, aPath)
		c.action.Deletes, c.action.Whole = c.action.Writes, true
	case relocating:
		c.action.Deletes = c.files(nil, aSource)
		c.action.Writes = c.files(c.files(c.files(nil, aSource), aPath), aTarget)
	case copying:
		c.action.Writes = c.files(nil, aTarget)
	case patching:
		for _, s := range [...]meaning{aPatch, aCommand} {
			for _, text := range c.texts(s) {
				c.action.Writes = shell.PatchedFiles(c.action.Writes, text)
				c.action.Deletes = shell.DeletedFiles(c.action.Deletes, text)
			}
		}
		c.action.Writes = c.files(c.action.Writes, aPath)
	}
	if string(c.found[aRehearsal].Of(c.raw)) == "true" {
		c.action.Writes, c.action.Deletes = nil, nil
	}
}

// keepsContent reports whether what is in the file stays there, or some of it may.
func (c *callReader) keepsContent() bool {
	switch string(c.found[anAppend].Of(c.raw)) {
	case "", "false", `"false"`, "0":
	default:
		return true
	}
	mode := strings.ToLower(c.text(aMode))
	return slices.ContainsFunc([]string{"a", "r", "insert", "prepend", "update", "patch", "edit"}, func(s string) bool {
		return strings.HasPrefix(mode, s) && mode != "replace" && mode != "rewrite"
	})
}

// claimSession is for what has to do with a command that runs already. A server's sessions are none of the client's.
func (c *callReader) claimSession(name string) {
	const longest = 64 // bytes
	v := c.found[aSession].Of(c.raw)
	if strings.HasPrefix(name, "mcp__") || len(v) == 0 || len(v) > longest {
		return
	}
	if v[0] == '{' || v[0] == '[' || !c.found[aCommand].Empty() {
		return
	}
	if c.action.Session = string(v); v[0] == '"' {
		c.action.Session = plain(v)
	}
	var buf [longestName]byte
	own := fold(&buf, ownName(name))
	isEnding := func(word string) bool { return bytes.Contains(own, []byte(word)) }
	c.action.Ends = slices.ContainsFunc([]string{"kill", "stop", "terminate"}, isEnding) ||
		strings.Contains(c.text(someInput), "\x03")
}

// claimEdit is for the editors whose command says what they do.
func (c *callReader) claimEdit() {
	switch c.text(aCommand) {
	case "view":
		c.action.Kind = Reading
		c.claimShown()
	case "create", "str_replace", "insert", "undo_edit", "write", "edit", "append", "delete", "rename", "edit_diff":
		c.action.Writes = c.files(c.files(c.files(nil, aPath), aSource), aTarget)
	}
}

// claimShell reads what is given to a shell: a line, the words of one command, or a list of lines.
func (c *callReader) claimShell() {
	var argv, lines []string
	at := c.found[aCommand]
	switch {
	case !at.Empty() && c.raw[at.Start] == '[':
		argv = c.texts(aCommand)
	case !at.Empty() && !c.found[aWordList].Empty():
		argv = append([]string{c.text(aCommand)}, c.texts(aWordList)...)
	case !at.Empty():
		lines = []string{c.text(aCommand)}
	default:
		lines = c.texts(aCommandList)
	}
	e := shell.EffectsOf(c.text(aFolder), argv, lines)
	c.action.Looks, c.action.Reports, c.action.work = e.Looks, e.Reports, e.Work
	c.action.Deletes, c.action.Asks, c.action.Alone = e.Gone, e.Asks, e.Alone
	c.action.Reads, c.action.Writes, c.action.OnlyFiles, c.action.Numbered = e.Reads, e.Writes, e.Only, e.Numbered
}

// claimShown is for what shows the files of its path, if all of them are known.
func (c *callReader) claimShown() {
	var all []string
	for _, p := range c.texts(aPath) {
		if all = shell.AddFile(all, p); !shell.CanBePath(p) || strings.ContainsRune(p, '*') ||
			len(all) > shell.MostFiles {
			return
		}
	}
	c.action.Reads, c.action.OnlyFiles = all, len(all) > 0
	c.action.Whole, c.action.Numbered = c.found[aRange].Empty(), true
}

// files adds the files that the argument names to a list of those written.
func (c *callReader) files(to []string, s meaning) []string {
	for _, p := range c.texts(s) {
		if !strings.ContainsRune(p, '*') { // which files that is cannot be known
			to = shell.AddWritten(to, p)
		}
	}
	return to
}

// digestQuestion is equal for two calls of one name that ask the very same, however their arguments are ordered and
// spaced. It is empty for what acts, and for what may.
func (c *callReader) digestQuestion(name string) string {
	switch c.use {
	case showing, searching, listing, fetching:
	case editing:
		if c.action.Kind != Reading {
			return ""
		}
	case running:
		if !c.action.Looks || len(c.action.Writes) > 0 {
			return ""
		}
	default:
		return ""
	}
	var list []span.Member
	if start := span.SkipSpace(c.raw, 0); start < len(c.raw) {
		_, err := span.Members(c.raw, start, func(key []byte, i int) (int, error) {
			if argumentOf(key).meaning == anAside {
				return span.EndOfValue(c.raw, i)
			}
			end, d, err := span.Digest(c.raw, i, nil)
			list = append(list, span.Member{Key: key, Value: d})
			return end, err
		})
		if err != nil {
			return ""
		}
	}
	all := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	sum := sha256.Sum256(span.AppendMembers(all, list))
	return string(sum[:])
}
