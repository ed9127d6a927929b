package window

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/sse"
)

const (
	mostAnswer = 1 << 20 // bytes that are read: some providers repeat the request before the error
	mostText   = 8 << 10 // bytes of all texts
)

// answer is what a provider says where answers have their errors, in plain words, and how one without an error ended.
type answer struct {
	failed, empty, stream bool // failed by its status: all of it is about an error
	events                int
	text                  strings.Builder

	reason          string // why it ended
	counted         bool   // it tells its tokens
	used, generated int
}

func readAnswer(status int, contentType string, body []byte) *answer {
	a := &answer{failed: status >= 300, empty: len(body) == 0, stream: strings.Contains(contentType, "event-stream")}
	body = body[:min(len(body), mostAnswer)]
	switch text := string(body); {
	case a.empty:
	case body[0] == '{' || body[0] == '[':
		a.readObject(gjson.Parse(text), a.failed)
	case body[0] == '<':
		a.addText(title.FindString(text))
	case a.stream || sse.Looks(body[:min(len(body), 64)]):
		a.readStream(body)
	case a.failed || strings.Contains(text[:min(len(text), 128)], "xception"):
		a.addText(text)
	}
	return a
}

func (a *answer) readStream(body []byte) {
	a.stream = true
	failed := a.failed
	for f := range sse.Fields(body) {
		value := strings.TrimSpace(string(f.Value))
		switch name := string(f.Name); {
		case f.End:
			failed = a.failed
		case name == "event":
			failed = failed || isError(value)
		case name == "data" && strings.HasPrefix(value, "{"):
			a.events++
			a.readObject(gjson.Parse(value), failed)
		case name == "data" && failed:
			a.addText(value)
		}
	}
}

// isError reports whether an event or an object of the type is an error.
func isError(kind string) bool {
	kind = strings.ToLower(kind)
	return strings.HasSuffix(kind, "error") || strings.HasSuffix(kind, "exception") || strings.HasSuffix(kind, "failed")
}

// readObject reads an answer, or an event of one.
func (a *answer) readObject(v gjson.Result, failed bool) {
	if failed || isError(v.Get("object").Str) || isError(v.Get("type").Str) && !v.Get("response").Exists() {
		a.addErrors(v.Raw)
	} else {
		for _, path := range [...]string{"error", "response.error"} {
			if e := v.Get(path); e.IsObject() || e.Type == gjson.String {
				a.addErrors(`"error":` + e.Raw)
			}
		}
	}
	for _, path := range [...]string{"usage", "message.usage", "response.usage"} {
		usage := v.Get(path)
		if !usage.IsObject() {
			continue
		}
		a.counted = true
		sum := func(keys ...string) (n int) {
			for _, key := range keys {
				n += int(min(usage.Get(key).Int(), Most))
			}
			return n
		}
		used := sum("prompt_tokens", "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
		a.used = max(a.used, used)
		a.generated = max(a.generated, sum("completion_tokens", "output_tokens"), sum("total_tokens")-used)
	}
	for _, path := range [...]string{"choices.0.finish_reason", "stop_reason", "delta.stop_reason",
		"incomplete_details.reason", "response.incomplete_details.reason"} {
		a.reason += v.Get(path).Str
	}
}

var (
	member = regexp.MustCompile(`"(\w{1,32})"\s*:[\s\[]*("(?:[^"\\]|\\.)*"|-?\d+)`)
	// Names of members in lower case and without "_".
	holdTexts = regexp.MustCompile(`^(?:(?:error|status|original)?(?:message|msg)|error(?:code|type|description)?|` +
		`details?|reason|title|raw|description|code|type|status|errcode|errors|err|fault|exception|cause)$`)
	holdSizes = regexp.MustCompile(`token|ctx|context|limit|max|length|window|requested|^got$`)
	echoed    = regexp.MustCompile(`"(?:input|messages|content|instructions|tools|body|request)"\s*:\s*[\[{"]`)
)

// addErrors adds the texts and sizes of an error in JSON, wherever they are in it. A request that is repeated in it may
// itself speak of errors.
func (a *answer) addErrors(raw string) {
	if at := echoed.FindStringIndex(raw); at != nil {
		raw = raw[:at[0]]
	}
	for _, m := range member.FindAllStringSubmatch(raw, -1) {
		key, value := strings.ToLower(strings.ReplaceAll(m[1], "_", "")), gjson.Parse(m[2])
		switch {
		case a.text.Len() >= mostText:
			return
		case value.Type == gjson.String && holdTexts.MatchString(key):
			a.addText(value.Str)
		case value.Type == gjson.Number && holdSizes.MatchString(key):
			a.addText(m[1] + " " + m[2])
		}
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
func (a *answer) addText(s string) {
	s = strings.ReplaceAll(s[:min(len(s), mostText)], `\`, "")
	if at := echo.FindStringIndex(s); at != nil {
		s = s[:at[0]]
	}
	s = joints.ReplaceAllString(caps.ReplaceAllString(noise.ReplaceAllString(s, " "), "maxout"), "$1$3 $2$4")
	if words := strings.Fields(signs.Replace(strings.ToLower(s))); len(words) > 0 {
		a.text.WriteString(strings.Join(words, " ") + " | ")
	}
}

// readSilence is what an answer without any error says about the size of its request.
func (a *answer) readSilence(status int, s Sent) (r Refusal) {
	full := s.Window > 0 && max(s.Tokens, a.used) > s.Window/100*85
	short := a.counted && a.generated < 16 && (a.generated == 0 || a.generated < s.MaxOutput) // an empty message costs a few
	switch {
	case status == 413:
		r.Cause = Bytes
	case full && (status == 400 && a.empty || status < 300 && a.stream && a.events == 0):
		r.Cause = Input
	case status < 300 && (short && a.reason == "max_output_tokens" || a.generated < 16 && a.reason == "model_context_window_exceeded" ||
		full && a.generated == 0 && a.counted && (a.reason == "length" || a.reason == "max_tokens")):
		r = Refusal{Cause: Input, Requested: a.used}
	}
	return r
}
