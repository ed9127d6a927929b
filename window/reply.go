package window

import (
	"strings"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
)

const mostText = 8 << 10 // bytes of all texts

// reply is what a provider says where answers have their errors, in plain words, and how one without an error ended.
type reply struct {
	text     strings.Builder
	isStream bool
	isJSON   bool           // it has an object
	reason   string         // why it ended
	counts   map[string]int // of tokens, by their names in usage; the largest of each
}

// readReply reads an answer; if it failed, by its status, all of it is about an error.
func readReply(failed bool, contentType, body string) *reply {
	a := &reply{counts: map[string]int{}}
	a.isStream = strings.Contains(contentType, "event-stream") || forms()["stream"].MatchString(body)
	if !a.isStream || strings.ContainsAny(body[:min(len(body), 1)], "{[<") {
		a.read(body, failed)
		return a
	}
	for e := range answer.Events([]byte(body)) {
		a.read(strings.TrimSpace(string(e.Data)), failed || forms()["errorType"].MatchString(e.Type))
	}
	return a
}

// read reads an answer, or the data of an event.
func (a *reply) read(s string, failed bool) {
	switch {
	case strings.HasPrefix(s, "{"), strings.HasPrefix(s, "["):
		a.readObject(s, failed)
	case strings.HasPrefix(s, "<"):
		a.addText(forms()["title"].FindString(s))
	case failed, strings.Contains(s[:min(len(s), 128)], "xception"):
		a.addText(s)
	}
}

// readObject reads an answer, or an event of one.
func (a *reply) readObject(raw string, failed bool) {
	v := gjson.Parse(raw)
	a.isJSON = a.isJSON || v.IsObject()
	response := v.Get("response") // so far, in an event of Responses
	if failed || !response.Exists() && forms()["errorType"].MatchString(v.Get("type").Str+" "+v.Get("object").Str) {
		a.addErrors(raw)
		return
	}
	for _, part := range []gjson.Result{v, response} {
		problem := part.Get("error")
		if problem.IsObject() || problem.Type == gjson.String {
			a.addErrors(`"error":` + problem.Raw)
		}
		a.addUsage(part.Get("usage"))
		a.addUsage(part.Get("message.usage"))
		for _, path := range []string{"stop_reason", "choices.0.finish_reason", "delta.stop_reason",
			"incomplete_details.reason"} {
			a.reason += part.Get(path).Str
		}
	}
}

// addUsage adds counts of tokens; of several the largest holds.
func (a *reply) addUsage(usage gjson.Result) {
	usage.ForEach(func(name, n gjson.Result) bool {
		a.counts[name.Str] = max(a.counts[name.Str], int(min(n.Int(), Most)))
		return true
	})
}

// addErrors adds the texts and sizes of an error in JSON, wherever they are in it.
func (a *reply) addErrors(raw string) {
	for _, m := range forms()["member"].FindAllStringSubmatch(withoutEcho(raw), -1) {
		if a.text.Len() >= mostText {
			return
		}
		name, value := m[1], gjson.Parse(m[2])
		key := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		if value.Type == gjson.String && forms()["holdTexts"].MatchString(key) {
			a.addText(value.Str)
		} else if value.Type == gjson.Number && forms()["holdSizes"].MatchString(key) {
			a.addText(name + " " + value.Raw)
		}
	}
}

var signs = strings.NewReplacer("_", " ", "`", "", `"`, "", "'", "", "*", "", "~", "", "≤", "<=", "≥", ">=",
	"\n", " | ", ". ", " | ", "? ", " | ", "! ", " | ", "; ", " | ", "。", " | ")

// addText adds a text in lower case, without quotes, addresses and repeated requests. Sentences end with "|", names
// from code are taken apart, and a field that asks for output ("max_tokens") is maxout.
func (a *reply) addText(s string) {
	s = withoutEcho(strings.ReplaceAll(s[:min(len(s), mostText)], `\`, ""))
	s = forms()["noise"].ReplaceAllString(s, " ")
	s = forms()["outputNames"].ReplaceAllString(s, "maxout")
	s = forms()["joints"].ReplaceAllString(s, "$1$3 $2$4")
	words := strings.Fields(signs.Replace(strings.ToLower(s)))
	if len(words) > 0 {
		a.text.WriteString(strings.Join(words, " ") + " | ")
	}
}

// withoutEcho returns a text up to where it repeats the request, which may itself speak of errors.
func withoutEcho(text string) string { return forms()["echo"].Split(text, 2)[0] }

// readSilence is what an answer without any error says about the size of its request.
func (a *reply) readSilence(status int, s Sent) (none Refusal) {
	if status == 413 {
		return Refusal{Cause: Bytes}
	}
	c := a.counts
	used := c["prompt_tokens"] + c["input_tokens"] + c["cache_read_input_tokens"] + c["cache_creation_input_tokens"]
	isFull := s.Window > 0 && max(s.Tokens, used) > s.Window/100*85
	saysNothing := !a.isJSON && (status == 400 || status < 300 && a.isStream)
	if isFull && saysNothing {
		return Refusal{Cause: Input}
	}
	generated := max(c["completion_tokens"], c["output_tokens"], c["total_tokens"]-used)
	hadNoRoom := a.reason == "model_context_window_exceeded" ||
		a.reason == "max_output_tokens" && (generated == 0 || generated < s.MaxOutput) ||
		isFull && generated == 0 && (a.reason == "length" || a.reason == "max_tokens")
	if status < 300 && used > 0 && generated < 16 && hadNoRoom { // an empty message has a few tokens
		return Refusal{Cause: Input, Requested: used}
	}
	return none
}
