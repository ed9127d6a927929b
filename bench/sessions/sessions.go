// Package sessions has conversations to play, which agents have left on the disk in their own formats.
//
// A log is recognised by what stands in it, never by its name. Each conversation of it becomes a chat-completions
// request, the last one that its client would have sent. A log that is broken, unknown or too large costs what cannot
// be read of it and is never an error: what was left out is told. Requests stay as they are to the byte; all else comes
// out sound, whatever went in: a result stands behind the message that called, calls without a result are left out, and
// so is what the model said last. Pictures are left out, and so is reasoning, but for what Claude Code sends
// back: that stands beside the request.
//
// The names in a format stand in the file of that format alone. Nothing here shapes, counts or measures.
package sessions

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// The formats, by the names that they have in the report.
const (
	Requests   = "chat-completions requests"
	ClaudeCode = "Claude Code"
	Codex      = "Codex"
	OpenCode   = "OpenCode"
	Pi         = "pi"
)

// Conversation is a conversation to play.
type Conversation struct {
	Name   string // of the file, with a number from the second one in it on
	Format string
	Body   []byte      // a chat-completions request: the last of the conversation
	Times  []time.Time // of each message; zero where the log does not say; nil: of none
	// Thoughts are what the model thought before each message, where the log says it. nil: nowhere.
	Thoughts [][]Thought
}

// Thought is a piece of what a model thought.
type Thought struct {
	Text     string // empty: it is not shown
	Redacted bool   // nobody can read it
}

// Bounds of what is read.
const (
	// mostLine is the length of a line, and of a file that is one document over many lines.
	mostLine = 64 << 20
	// mostKept is how much text of one log is kept at once, in bytes.
	mostKept = 256 << 20
	// mostReasons is how many different reasons are told of one log.
	mostReasons = 8
)

// Read calls yield with the conversations of a file, one after the other. left says in one line what was left out, and
// why; it is empty if nothing was. err is an error of yield: what cannot be read only stands in left.
func Read(path string, yield func(Conversation) error) (left string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return err.Error(), nil
	}
	defer file.Close()
	return ReadFrom(path, file, yield)
}

// ReadFrom does what Read does, for what is open.
func ReadFrom(name string, from io.Reader, yield func(Conversation) error) (left string, err error) {
	return readFrom(name, newLines(from, mostLine), yield)
}

func readFrom(name string, from *lines, yield func(Conversation) error) (left string, err error) {
	in := &intake{name: name, yield: yield, room: mostKept, readers: make(map[string]reader)}
	in.read(from)
	return in.leftOut(), in.err
}

// intake is what all formats share while one log is read.
type intake struct {
	name    string
	yield   func(Conversation) error
	err     error // of yield; nothing is read any more
	given   int   // conversations
	room    int   // bytes that may still be kept
	number  int   // of the line that is read
	readers map[string]reader
	order   []reader
	reasons []reason
	others  int // that are not in reasons
}

// reader reads the lines of one format.
type reader interface {
	line(v value)
	end() // gives what is still open
}

// reason is why something was left out.
type reason struct {
	text  string
	times int
	first int // line
}

// read reads all lines. A document over many lines is one.
func (in *intake) read(from *lines) {
	empty := true
	for in.err == nil {
		line, err := from.next()
		if err == io.EOF {
			break
		}
		in.number, empty = from.number, false
		switch {
		case err == errLong:
			in.leave(fmt.Sprintf("a line is longer than %d MB", from.most>>20))
		case err != nil:
			in.leave(err.Error())
			from.stop()
		default:
			in.line(line)
		}
	}
	if empty {
		in.leave("it is empty")
	}
	for _, r := range in.order {
		if in.err == nil {
			r.end()
		}
	}
}

// line hands a line to the reader of its format.
func (in *intake) line(line []byte) {
	v, ok := parsed(line)
	if !ok {
		in.leave("it is no JSON")
		return
	}
	format := formatOf(v)
	if format == "" {
		return
	}
	r := in.readers[format]
	if r == nil {
		r = in.reader(format)
		in.readers[format] = r
		in.order = append(in.order, r)
	}
	r.line(v)
}

func (in *intake) reader(format string) reader {
	switch format {
	case ClaudeCode:
		return &claude{in: in, places: make(map[string]place), agents: make(map[string]*thread)}
	case Codex:
		return &codex{in: in}
	case Pi:
		return &pi{in: in, places: make(map[string]int)}
	case OpenCode:
		return openCode{in}
	}
	return &requests{in: in, held: make(map[Mark]int), ends: make(map[Mark]int)}
}

// formatOf returns the format of a line; it is empty if the line says nothing of a conversation.
func formatOf(v value) string {
	for _, f := range [...]struct {
		name string
		is   func(value) bool
	}{{OpenCode, isOpenCode}, {Requests, isRequest}, {Codex, isCodex}, {ClaudeCode, isClaude},
		{Pi, isPi}} {
		if f.is(v) {
			return f.name
		}
	}
	return ""
}

// leave notes that something was left out at this line.
func (in *intake) leave(why string) {
	for i := range in.reasons {
		if in.reasons[i].text == why {
			in.reasons[i].times++
			return
		}
	}
	if len(in.reasons) < mostReasons {
		in.reasons = append(in.reasons, reason{why, 1, in.number})
		return
	}
	in.others++
}

// leftOut returns what was left out, in one line.
func (in *intake) leftOut() string {
	var all []string
	for _, r := range in.reasons {
		where := ""
		if r.first > 1 || r.times > 1 {
			where = fmt.Sprintf(" (line %d)", r.first)
		}
		if r.times > 1 {
			where = fmt.Sprintf(" (%d times, first at line %d)", r.times, r.first)
		}
		all = append(all, r.text+where)
	}
	if in.others > 0 {
		all = append(all, fmt.Sprintf("and %d times for other reasons", in.others))
	}
	switch {
	case in.given > 0 && len(all) == 0:
		return ""
	case in.given > 0:
		return fmt.Sprintf("left out of %s: %s", in.name, strings.Join(all, "; "))
	case len(all) == 0:
		all = []string{"it holds no session of a format that is known"}
	}
	return fmt.Sprintf("cannot replay %s: %s", in.name, strings.Join(all, "; "))
}

// give hands out a conversation.
func (in *intake) give(c Conversation) {
	if in.err != nil {
		return
	}
	in.given++
	c.Name = in.name
	if in.given > 1 {
		c.Name = fmt.Sprintf("%s, %d", in.name, in.given)
	}
	in.err = in.yield(c)
}

// keep takes the room for n more bytes, and reports whether there was so much.
func (in *intake) keep(n int) bool {
	if n > in.room {
		in.leave(fmt.Sprintf("it is over the %d MB of text that are kept of one log", mostKept>>20))
		return false
	}
	in.room -= n
	return true
}
