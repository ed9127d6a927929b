package overflow

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/sse"
)

// Bounds of what is looked at. Some providers repeat the whole request in their errors.
const (
	mostBody   = 64 << 10 // bytes of an answer
	mostStream = 1 << 20  // bytes of one in events, some of which repeat all settings of the request, tools too
	mostText   = 4 << 10  // bytes of one text in it
	mostSaid   = 8 << 10  // bytes of all texts in it
	mostDepth  = 8        // objects within objects, and answers within texts
	mostItems  = 16       // of a list
	mostFrames = 8 << 10  // of a stream
)

// complaint is what an answer says has gone wrong: the texts and codes that stand where errors have them, and nothing
// else, as a request that is repeated in the answer may itself speak of errors.
type complaint struct {
	body   string // as far as it is looked at
	texts  []string
	size   int  // bytes of texts
	failed bool // the status is one of an error, so that the whole answer is about it
	frames int  // that a stream has carried, without its end
	stream bool
	said   bool // the stream has a piece of an answer
	full   bool // and says that the window was full
	capped bool // and says that it ended at the cap on its output, with so many tokens made
	made   int
	used   int // and how many tokens the request had; 0 if it does not
	answer outline
}

// findComplaint finds what an answer complains of.
func findComplaint(a Answer) complaint {
	whole := bytes.TrimSpace(a.Body)
	cut := len(whole) > mostBody
	body := stringOf(whole[:min(len(whole), mostBody)])
	c := complaint{failed: a.Status >= 300, body: body}
	switch {
	case len(body) == 0:
		c.stream = strings.Contains(a.Type, "event-stream")
	case body[0] == '{' || body[0] == '[':
		c.readJSON(body, cut)
	case body[0] == '<':
		c.readPage(body)
	case strings.Contains(body, ":exception-type"): // a frame of Amazon's event stream
		if _, after, ok := strings.Cut(body, "{"); ok {
			payload := "{" + after
			c.readValue(gjson.Parse(payload[:endOf(payload)]), true, 0)
		}
	case isStream(a.Type, body):
		c.readEvents(string(whole[:min(len(whole), mostStream)]))
	case c.failed || beginsWithErrorName(body):
		c.addText(body, 0)
	}
	return c
}

// stringOf is b as a string, which holds as long as b does not change: nothing of it is kept.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// isStream reports whether an answer is an event stream, as its type says or its beginning shows.
func isStream(kind, body string) bool {
	const most = 64 // bytes that show it
	return sse.Looks([]byte(body[:min(len(body), most)])) || strings.Contains(kind, "event-stream")
}

// beginsWithErrorName reports that a text begins with the name of an error and a colon, as "validationException: …"
// does.
func beginsWithErrorName(s string) bool {
	name, _, ok := strings.Cut(s, ":")
	name = strings.ToLower(name)
	return ok && !strings.ContainsAny(name, " \t\n") && (strings.HasSuffix(name, "exception") || strings.HasSuffix(name, "error"))
}

// readJSON reads one value, or several that follow one another. A text that the bound has cut off is closed.
func (c *complaint) readJSON(s string, cut bool) {
	if cut {
		s = strings.TrimRight(s, `\`) + `"`
	}
	for i := range mostItems {
		end := endOf(s)
		if v := gjson.Parse(s[:end]); i == 0 && c.answer.read(v) {
			c.readOutline()
		} else {
			c.readValue(v, c.failed, 0)
		}
		if s = strings.TrimSpace(s[end:]); s == "" || s[0] != '{' {
			return
		}
	}
}

// endOf is where the object or list ends that a text begins with.
func endOf(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1
			}
		case '"':
			i = closing(s, i)
		}
	}
	return len(s)
}

// closing is where the quote stands that closes the one at i.
func closing(s string, i int) int {
	for from := i + 1; ; {
		quote := strings.IndexByte(s[from:], '"')
		if quote < 0 {
			return len(s)
		}
		end := from + quote
		escapes := end - len(strings.TrimRight(s[from:end], `\`)) - from
		if escapes%2 == 0 {
			return end
		}
		from = end + 1
	}
}

// readPage reads what a page of HTML has as its title.
func (c *complaint) readPage(s string) {
	for _, tag := range []string{"title", "h1"} {
		_, after, ok := strings.Cut(s, "<"+tag+">")
		if text, _, closed := strings.Cut(after, "</"+tag+">"); ok && closed {
			c.addText(text, 0)
		}
	}
}

// readEvents reads the frames of a stream.
func (c *complaint) readEvents(s string) {
	c.stream = true
	event := ""
	for f := range sse.Fields([]byte(s)) {
		switch {
		case f.End:
			event = ""
		case string(f.Name) == "event":
			event = strings.ToLower(string(f.Value))
		case string(f.Name) == "data" && c.frames < mostFrames:
			c.readFrame(event, strings.TrimSpace(string(f.Value)))
		}
	}
}

func (c *complaint) readFrame(event, payload string) {
	if payload == "" || payload == "[DONE]" {
		return
	}
	c.frames++
	bad := strings.Contains(event, "error") || strings.Contains(event, "exception") || strings.Contains(event, "failed")
	if v := gjson.Parse(payload); v.IsObject() {
		c.readValue(v, bad || c.failed, 0)
		c.hear(v)
	} else if bad || c.failed {
		c.addText(payload, 0)
	}
}

// purpose is what a member of an answer is for.
type purpose uint8

const (
	holder   purpose = iota + 1 // it holds an error
	wrapper                     // it holds an answer
	envelope                    // it holds more of what it stands in
	message                     // it says what went wrong
	code                        // it names what went wrong
)

// purposeOf is that of a member, by its name in lower case without signs between words; 0 if it has none here.
func purposeOf(name string) purpose {
	switch name {
	case "error", "errors", "err", "fault", "exception", "cause", "innererror", "lasterror", "baseresp":
		return holder
	case "response":
		return wrapper
	case "data", "metadata":
		return envelope
	case "message", "msg", "detail", "details", "reason", "title", "raw", "description", "errormessage", "errormsg",
		"errordescription", "statusmsg", "statusmessage", "originalmessage", "faultstring":
		return message
	case "code", "type", "status", "errorcode", "errortype", "errcode", "exceptiontype":
		return code
	}
	return 0
}

// sizeFields are members whose numbers may be sizes.
var sizeFields = pattern.Of(`tokens?|ctx|context|limit|max|prompt|input|length|window|size|requested|^got$`)

// readValue reads what stands in an answer; inside an error its texts, codes and numbers count.
func (c *complaint) readValue(v gjson.Result, inside bool, depth int) {
	switch {
	case depth > mostDepth:
	case v.Type == gjson.String && inside:
		c.addText(v.String(), depth+1)
	case v.IsArray():
		left := mostItems
		v.ForEach(func(_, item gjson.Result) bool {
			left--
			c.readValue(item, inside, depth+1)
			return left > 0
		})
	case v.IsObject():
		inside = inside || isError(v)
		v.ForEach(func(key, member gjson.Result) bool {
			c.readMember(key.String(), member, inside, depth+1)
			return true
		})
	}
}

// isError reports that an object says of itself that it is one.
func isError(v gjson.Result) (is bool) {
	v.ForEach(func(key, member gjson.Result) bool {
		is = saysError(key.Str, member)
		return !is
	})
	return is
}

// saysError reports that a member says of its object that it is an error.
func saysError(key string, v gjson.Result) bool {
	switch key {
	case "type", "object", "__type":
		kind := strings.ToLower(v.String())
		return strings.HasSuffix(kind, "error") || strings.HasSuffix(kind, "exception") || strings.HasSuffix(kind, ".failed")
	}
	return false
}

func (c *complaint) readMember(key string, v gjson.Result, inside bool, depth int) {
	name := plainKey(key)
	is := purposeOf(name)
	switch {
	case is == holder:
		c.readValue(v, true, depth)
	case is == wrapper:
		c.readValue(v, false, depth)
	case is == envelope:
		c.readValue(v, inside, depth)
	case !inside:
	case is == message:
		c.readValue(v, true, depth)
	case is == code:
		if v.Type == gjson.String && len(v.Str) < 128 && strings.Trim(v.Str, "0123456789") != "" {
			c.addClipped(v.Str)
		}
	case v.Type == gjson.Number && sizeFields.MatchString(name):
		c.addClipped(key + " " + v.Raw)
	}
}

// plainKey is a member's name in lower case without signs.
func plainKey(key string) string {
	if len(key) > 32 {
		return ""
	}
	for i := range len(key) {
		if key[i] < 'a' || key[i] > 'z' { // most have none of these
			return strings.ToLower(strings.Map(withoutSigns, key))
		}
	}
	return key
}

// withoutSigns takes the signs out that stand between the words of a key.
func withoutSigns(c rune) rune {
	if c == '_' || c == '-' || c == ' ' {
		return -1
	}
	return c
}

// addText takes a text, which may have another answer in it.
func (c *complaint) addText(s string, depth int) {
	s = strings.TrimSpace(s)
	if at := strings.Index(s, `{"`); at >= 0 && depth <= mostDepth {
		end := at + endOf(s[at:])
		c.readValue(gjson.Parse(s[at:end]), true, depth)
		s = s[:at] + " " + s[end:]
	}
	for _, sign := range []string{"input_value=", "'input':", `"input":`, "'messages':", `"messages":`, "messages=[",
		"'content':", `"content":`} {
		s, _, _ = strings.Cut(s, sign)
	}
	c.addClipped(s)
}

func (c *complaint) addClipped(s string) {
	s = s[:min(len(s), mostText, mostSaid-c.size)]
	if strings.TrimSpace(s) != "" {
		c.texts = append(c.texts, s)
		c.size += len(s)
	}
}
