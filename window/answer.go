package window

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/sse"
)

const mostText = 8 << 10 // bytes of all texts

// answer is what a provider says where answers have their errors, in plain words, and how one without an error ended.
type answer struct {
	text     strings.Builder
	isStream bool
	isJSON   bool           // it has an object
	reason   string         // why it ended
	counts   map[string]int // of tokens, by their names in usage; the largest of each
}

// readAnswer reads an answer; if it failed, by its status, all of it is about an error.
func readAnswer(failed bool, contentType, body string) *answer {
	isStream := strings.Contains(contentType, "event-stream") || sse.Looks([]byte(body[:min(len(body), 64)]))
	a := &answer{isStream: isStream, counts: map[string]int{}}
	if !isStream || strings.ContainsAny(body[:min(len(body), 1)], "{[<") {
		a.read(body, failed)
		return a
	}
	kind := ""
	for f := range sse.Fields([]byte(body)) {
		switch value := strings.TrimSpace(string(f.Value)); {
		case f.End:
			kind = ""
		case string(f.Name) == "event":
			kind = value
		case string(f.Name) == "data":
			a.read(value, failed || errorType.MatchString(kind))
		}
	}
	return a
}

// read reads an answer, or the data of an event.
func (a *answer) read(s string, failed bool) {
	switch {
	case strings.HasPrefix(s, "{"), strings.HasPrefix(s, "["):
		a.readObject(s, failed)
	case strings.HasPrefix(s, "<"):
		a.addText(title.FindString(s))
	case failed, strings.Contains(s[:min(len(s), 128)], "xception"):
		a.addText(s)
	}
}

// readObject reads an answer, or an event of one.
func (a *answer) readObject(raw string, failed bool) {
	v := gjson.Parse(raw)
	a.isJSON = a.isJSON || v.IsObject()
	isError := errorType.MatchString(v.Get("type").Str + " " + v.Get("object").Str)
	if failed || isError && !v.Get("response").Exists() {
		a.addErrors(raw)
	} else {
		for _, path := range [...]string{"error", "response.error"} {
			if e := v.Get(path); e.IsObject() || e.Type == gjson.String {
				a.addErrors(`"error":` + e.Raw)
			}
		}
	}
	for _, path := range [...]string{"usage", "message.usage", "response.usage"} {
		v.Get(path).ForEach(func(name, n gjson.Result) bool {
			a.counts[name.Str] = max(a.counts[name.Str], int(min(n.Int(), Most)))
			return true
		})
	}
	for _, path := range [...]string{"choices.0.finish_reason", "stop_reason", "delta.stop_reason",
		"incomplete_details.reason", "response.incomplete_details.reason"} {
		a.reason += v.Get(path).Str
	}
}

var (
	errorType = regexp.MustCompile(`(?i)(?:error|exception|failed)\b`) // of an event or an object
	title     = regexp.MustCompile(`<title>[^<]*`)
	member    = regexp.MustCompile(`"(\w{1,32})"\s*:[\s\[]*("(?:[^"\\]|\\.)*"|-?\d+)`)
	// Names of members in lower case and without "_".
	holdTexts = regexp.MustCompile(`^(?:(?:error|status|original)?(?:message|msg)|error(?:code|type|description)?|` +
		`details?|reason|title|raw|description|code|type|status|errcode|errors|err|fault|exception|cause)$`)
	holdSizes = regexp.MustCompile(`token|ctx|context|limit|max|length|window|requested|^got$`)
	// Where an answer repeats its request, which may itself speak of errors.
	echo = regexp.MustCompile(`"(?:input|messages|content|instructions|tools|body|request)"\s*:\s*[\[{"]` +
		`|input_value=|["'](?:input|messages|content)["'] ?:|messages=\[`)
)

// addErrors adds the texts and sizes of an error in JSON, wherever they are in it.
func (a *answer) addErrors(raw string) {
	for _, m := range member.FindAllStringSubmatch(echo.Split(raw, 2)[0], -1) {
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
	s = echo.Split(strings.ReplaceAll(s[:min(len(s), mostText)], `\`, ""), 2)[0]
	s = joints.ReplaceAllString(caps.ReplaceAllString(noise.ReplaceAllString(s, " "), "maxout"), "$1$3 $2$4")
	if words := strings.Fields(signs.Replace(strings.ToLower(s))); len(words) > 0 {
		a.text.WriteString(strings.Join(words, " ") + " | ")
	}
}

// readSilence is what an answer without any error says about the size of its request.
func (a *answer) readSilence(status int, s Sent) Refusal {
	c := a.counts
	used := c["prompt_tokens"] + c["input_tokens"] + c["cache_read_input_tokens"] + c["cache_creation_input_tokens"]
	generated := max(c["completion_tokens"], c["output_tokens"], c["total_tokens"]-used)
	isFull := s.Window > 0 && max(s.Tokens, used) > s.Window/100*85
	const mostEmpty = 16 // tokens that an empty message costs at most
	switch {
	case status == 413:
		return Refusal{Cause: Bytes}
	case isFull && !a.isJSON && (status == 400 || status < 300 && a.isStream): // it says nothing at all
		return Refusal{Cause: Input}
	case status >= 300 || used == 0 || generated >= mostEmpty: // it failed otherwise, or answered
	case a.reason == "model_context_window_exceeded",
		a.reason == "max_output_tokens" && (generated == 0 || generated < s.MaxOutput),
		isFull && generated == 0 && (a.reason == "length" || a.reason == "max_tokens"):
		return Refusal{Cause: Input, Requested: used}
	}
	return Refusal{}
}
