package window

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/sse"
)

// Bounds of what is read of an answer. Some providers repeat the whole request in an error.
const (
	mostBody   = 64 << 10 // bytes
	mostStream = 1 << 20  // bytes of a stream, whose first frames may repeat settings and tools
	mostText   = 8 << 10  // bytes of all texts
	mostDepth  = 8        // objects within objects
)

// complaint is what an answer says where answers have their errors, in plain words. A request that is repeated
// elsewhere in it may itself speak of errors.
type complaint struct {
	failed bool // by its status: all of the answer is about an error
	stream bool
	frames int
	text   strings.Builder

	// How an answer that speaks of no error ended: why, with how many tokens made, of how many.
	reason            string
	counted           bool
	made, used, total int
}

func (c *complaint) read(contentType string, body []byte) {
	begin := string(body[:min(len(body), mostBody)])
	switch {
	case begin == "":
		c.stream = strings.Contains(contentType, "event-stream")
	case begin[0] == '{' || begin[0] == '[':
		c.readObject(gjson.Parse(begin), c.failed)
	case begin[0] == '<':
		c.addText(title.FindString(begin))
	case sse.Looks(body[:min(len(body), 64)]) || strings.Contains(contentType, "event-stream"):
		c.readStream(body[:min(len(body), mostStream)])
	case c.failed || strings.Contains(begin[:min(len(begin), 128)], "xception"):
		c.addText(begin)
	}
}

func (c *complaint) readStream(body []byte) {
	c.stream = true
	failed := c.failed
	for f := range sse.Fields(body) {
		value := strings.TrimSpace(string(f.Value))
		switch name := string(f.Name); {
		case f.End:
			failed = c.failed
		case name == "event":
			failed = failed || isError(value)
		case name != "data" || value == "" || value == "[DONE]":
		case value[0] == '{':
			c.frames++
			c.readObject(gjson.Parse(value), failed)
		case failed:
			c.addText(value)
		}
	}
}

// isError reports whether an event or an object of the type is an error.
func isError(kind string) bool {
	kind = strings.ToLower(kind)
	return strings.HasSuffix(kind, "error") || strings.HasSuffix(kind, "exception") || strings.HasSuffix(kind, "failed")
}

// readObject reads an answer, or a frame of one.
func (c *complaint) readObject(v gjson.Result, failed bool) {
	c.add("", v, failed, 0)
	for _, part := range [...]gjson.Result{v, v.Get("message"), v.Get("response")} {
		usage := part.Get("usage")
		sum := func(keys ...string) (n int) {
			for _, key := range keys {
				n += int(min(usage.Get(key).Int(), Most))
			}
			return n
		}
		c.counted = c.counted || usage.IsObject()
		c.made = max(c.made, sum("completion_tokens", "output_tokens"))
		c.used = max(c.used, sum("prompt_tokens", "input_tokens", "cache_read_input_tokens",
			"cache_creation_input_tokens"))
		c.total = max(c.total, sum("total_tokens"))
		for _, key := range [...]string{"choices.0.finish_reason", "stop_reason", "delta.stop_reason",
			"incomplete_details.reason"} {
			c.reason += part.Get(key).Str
		}
	}
}

// Members of an answer by what they hold, in lower case and without "_".
var (
	holdErrors = strings.Fields("error errors err fault exception cause innererror lasterror baseresp")
	holdTexts  = strings.Fields("message msg detail details reason title raw description errormessage errormsg " +
		"errordescription statusmsg originalmessage code type status errorcode errcode errortype")
	holdSizes = regexp.MustCompile(`token|ctx|context|limit|max|length|window|requested|^got$`)
)

// add adds the texts and sizes of a value that is inside of an error, or the errors in it.
func (c *complaint) add(key string, v gjson.Result, inside bool, depth int) {
	switch {
	case depth > mostDepth || c.text.Len() >= mostText:
	case v.Type == gjson.String && inside:
		c.addText(v.Str)
	case v.Type == gjson.Number && inside && holdSizes.MatchString(key):
		c.addText(key + " " + v.Raw)
	case v.IsArray():
		v.ForEach(func(_, item gjson.Result) bool {
			c.add(key, item, inside, depth+1)
			return c.text.Len() < mostText
		})
	case v.IsObject():
		inside = inside || isError(v.Get("type").Str) || isError(v.Get("object").Str)
		v.ForEach(func(name, member gjson.Result) bool {
			key := strings.ToLower(strings.ReplaceAll(name.Str[:min(len(name.Str), 32)], "_", ""))
			isSize := member.Type == gjson.Number && inside
			switch {
			case slices.Contains(holdErrors, key):
				c.add(key, member, true, depth+1)
			case key == "response":
				c.add(key, member, false, depth+1)
			case key == "data", key == "metadata", isSize, inside && slices.Contains(holdTexts, key):
				c.add(name.Str, member, inside, depth+1)
			}
			return c.text.Len() < mostText
		})
	}
}

var (
	title = regexp.MustCompile(`<title>[^<]*`)
	echo  = regexp.MustCompile(`input_value=|["'](?:input|messages|content)["'] ?:|messages=\[`)
	noise = regexp.MustCompile(`(?i)https?://\S+|\(parameter=[^)]*\)*|\brequest[ _-]?id\W+\S+` +
		`|\b(?:input validation error|invalid input)\b` +
		`|\([1-3]\d{3}\)$|^\W*(?:(?:http|error|status|code)\W*)*[45]\d\d\b`)
	caps = regexp.MustCompile(`(?i)\b(?:max_?tokens(?:_to_sample)?|maximum tokens (?:value|you requested)` +
		`|(?:max|num|n)_?(?:completion|output|new|response|gen(?:erated?)?|predict|sample)s?(?:_?tokens?` +
		`|_?len(?:gth)?)?)\b`)
	joints = regexp.MustCompile(`([a-z])([A-Z])|([a-zA-Z])-([a-zA-Z])`)
	signs  = strings.NewReplacer("_", " ", "`", "", `"`, "", "'", "", "*", "", "~", "", "≤", "<=", "≥", ">=",
		"\n", " | ", ". ", " | ", "? ", " | ", "! ", " | ", "; ", " | ", "。", " | ")
)

// addText adds a text in lower case, without quotes, addresses and repeated requests. Sentences end with "|", names
// from code are taken apart, and a field that asks for output ("max_tokens") is maxout.
func (c *complaint) addText(s string) {
	s = strings.ReplaceAll(s[:min(len(s), mostText)], `\`, "")
	if at := echo.FindStringIndex(s); at != nil {
		s = s[:at[0]]
	}
	s = joints.ReplaceAllString(caps.ReplaceAllString(noise.ReplaceAllString(s, " "), "maxout"), "$1$3 $2$4")
	if words := strings.Fields(signs.Replace(strings.ToLower(s))); len(words) > 0 {
		c.text.WriteString(strings.Join(words, " ") + " | ")
	}
}

// readSilence is what an answer without any complaint says about the size of its request. Of a stream, nothing has
// been said so far.
func (c *complaint) readSilence(status int, empty bool, s Sent) Refusal {
	full, short := s.nearlyFull(max(s.Tokens, c.used)), c.made < 16 // an empty message costs a few
	switch {
	case status == 413:
		return Refusal{Cause: Bytes}
	case status == 400 && empty && full, status < 300 && c.stream && c.frames == 0 && full:
		return Refusal{Cause: Input}
	case status >= 300 || c.reason == "":
	case c.reason == "model_context_window_exceeded" && short,
		c.reason == "max_output_tokens" && c.counted && short && (c.made == 0 || c.made < s.MaxOutput),
		(c.reason == "length" || c.reason == "max_tokens") && c.counted && c.made == 0 && c.total <= c.used && full:
		return Refusal{Cause: Input, Requested: c.used}
	}
	return Refusal{}
}
