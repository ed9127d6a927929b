package rewrite

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/messages"
	"epitome/rewrite/plan"
	"epitome/rewrite/responses"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// writer is how a client of an API writes a conversation.
type writer struct {
	conversation.Dialect
	text, picture string // a part with a text, which %s is as JSON, and one with a picture
	user          string // a message of the user with a content
	step          string // a call of lookup with a number, with its result
	body          string // the request with these messages
}

// theWriters are those of all dialects.
var theWriters = map[string]writer{
	"chat": {chat.Dialect{}, `{"type":"text","text":%s}`,
		`{"type":"image_url","image_url":{"url":"https://a.example/b.png"}}`,
		`{"role":"user","content":%s}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"lookup","arguments":"{\"query\":\"part %[1]d\"}"}}]},` +
			`{"role":"tool","tool_call_id":"c%[1]d","content":%[2]s}`,
		`{"model":"gpt-5","messages":[%s]}`},
	"messages": {messages.Dialect{}, `{"type":"text","text":%s}`,
		`{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}}`,
		`{"role":"user","content":%s}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"c%[1]d","name":"lookup","input":{"query":"part %[1]d"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":%[2]s}]}`,
		`{"model":"gpt-5","max_tokens":1000,"messages":[%s]}`},
	"responses": {responses.Dialect{}, `{"type":"input_text","text":%s}`,
		`{"type":"input_image","image_url":"https://a.example/b.png"}`,
		`{"type":"message","role":"user","content":%s}`,
		`{"type":"function_call","id":"fc_%[1]d","call_id":"c%[1]d","name":"lookup","arguments":"{\"query\":\"part %[1]d\"}"},` +
			`{"type":"function_call_output","call_id":"c%[1]d","output":%[2]s}`,
		`{"model":"gpt-5","input":[%s]}`},
}

// parts is a content of these texts; a picture stands where one is "picture".
func (w *writer) parts(texts ...string) string {
	var list []string
	for _, s := range texts {
		if s == "picture" {
			list = append(list, w.picture)
			continue
		}
		list = append(list, fmt.Sprintf(w.text, span.AppendQuoted(nil, s)))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// says is a message of the user with these texts.
func (w *writer) says(texts ...string) string { return fmt.Sprintf(w.user, w.parts(texts...)) }

// looksUp is step n, whose result has a content.
func (w *writer) looksUp(n int, content string) string { return fmt.Sprintf(w.step, n, content) }

// sends is what is sent of these messages after so much work that changed finds what it looks for.
func (w *writer) sends(t *testing.T, a *agent, list []string, changed func(sent string) bool) (sent string) {
	t.Helper()
	a.dialect = w.Dialect
	for n := range 60 {
		list = append(list, w.looksUp(100+n, string(span.AppendQuoted(nil, a.output(600)))))
		a.calls++
		body := fmt.Sprintf(w.body, strings.Join(list, ",\n"))
		out := a.shape(body)
		judged(t, a.bench, body, out)
		if sent = string(out.Body); changed(sent) {
			return sent
		}
	}
	t.Fatal("what stands for it is never sent")
	return ""
}

// stubIn is the text that stands in a body for the result of step 7.
func stubIn(sent string) string {
	const begin = "[epitome: lookup `part 7`"
	_, rest, found := strings.Cut(sent, `"`+begin)
	if !found {
		return ""
	}
	rest, _, _ = strings.Cut(rest, `]"`)
	rest, _, _ = strings.Cut(rest, `]\n> `) // lines that the stub keeps
	text, _ := span.Unquote([]byte(`"` + begin + rest + `]"`))
	return text
}

func hasStub(sent string) bool { return stubIn(sent) != "" }

// listed are lines with a name in each.
func listed(what string, n int) string {
	return eachOf(n, func(i int) string { return fmt.Sprintf("%s %d is kept as %s_%d\n", what, i, what, i%3) })
}

var partsStub = regexp.MustCompile("^\\[epitome: lookup `part 7`" + `(?:, no error told)?(?:, (\d+) lines?, (\d+) bytes)?(?: and|,)?( a picture| 2 pictures)?, cleared: old\. ` +
	`Full output: /data/artifacts/(\w+)\.txt(; grep it or read a range)?(?: \(JSON\)| \(as it came(?:, with( a picture| 2 pictures))?: /data/artifacts/(\w+)\.txt\))\]$`)

// What a stub says of a content of several parts is true of what it points to, which is to be read as it says; and all
// lies there as it came.
func TestAStubOfPartsIsTrueOfWhatItPointsTo(t *testing.T) {
	f := func(dialect string, isLong bool, media string, texts ...string) {
		t.Helper()
		w, a := theWriters[dialect], clearing()
		content := w.parts(texts...)
		stub := ""
		w.sends(t, a, []string{w.says(theTask), w.looksUp(7, content)}, func(sent string) bool {
			stub = stubIn(sent)
			return stub != ""
		})
		m := partsStub.FindStringSubmatch(stub)
		if m == nil || (m[5] != "") != isLong || strings.TrimSpace(m[3]) != media || m[6] != m[3] && m[7] != "" {
			t.Errorf("%s, %.60q: the stub says %q", dialect, texts, stub)
			return
		}
		if json, err := a.cupboard.Get(cmp.Or(m[7], m[4])); err != nil || string(json) != content {
			t.Errorf("%s: what came was %.300s, and %.300s lies there: %v", dialect, content, json, err)
		}
		want := strings.Join(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "picture" }), "")
		if want == "" {
			return
		}
		read, err := a.cupboard.Get(m[4])
		lines, _ := strconv.Atoi(m[1])
		size, _ := strconv.Atoi(m[2])
		if err != nil || string(read) != want || lines != shorten.CountLines(want) || size != len(want) {
			t.Errorf("%s: %q, and %d lines, %d bytes lie there: %.300q: %v", dialect, stub,
				shorten.CountLines(want), len(want), read, err)
		}
	}
	for dialect := range theWriters {
		f(dialect, false, "", listed("order", 30), listed("payout", 20))
		f(dialect, true, "", listed("order", 150), listed("payout", 120))
		f(dialect, false, "a picture", listed("order", 30), "picture", "the end")
		f(dialect, false, "2 pictures", "picture", listed("order", 30), "picture")
		f(dialect, false, "a picture", "picture")
		if dialect != "messages" { // there it is refused
			f(dialect, false, "", listed("order", 30), "")
		}
	}
}

// Texts that lack the ends of their last lines begin lines of their own.
func TestTextsOfPartsStandInLinesOfTheirOwn(t *testing.T) {
	for dialect, w := range theWriters {
		a := clearing()
		want := listed("order", 30) + "the end\n" + listed("payout", 20)
		content := w.parts(listed("order", 30)+"the end", listed("payout", 20))
		w.sends(t, a, []string{w.says(theTask), w.looksUp(7, content)}, hasStub)
		if !slices.Contains(a.cupboard.Contents(), want) {
			t.Errorf("%s: nothing with %q lies on the shelf", dialect, want)
		}
	}
}

// What lies beside the JSON is made again if it was lost.
func TestLostTextsOfPartsAreMadeAgain(t *testing.T) {
	for dialect, w := range theWriters {
		a := clearing()
		list := []string{w.says(theTask), w.looksUp(7, w.parts(listed("order", 30), "picture", listed("payout", 20)))}
		sent := w.sends(t, a, list, hasStub)
		before := a.cupboard.Contents()
		m := partsStub.FindStringSubmatch(stubIn(sent))
		a.cupboard.Clear()
		a.notes.due = true
		a.restart()
		again := w.sends(t, a, list, hasStub)
		if stubIn(again) != stubIn(sent) {
			t.Errorf("%s: %q has become %q", dialect, stubIn(sent), stubIn(again))
		}
		for _, name := range []string{m[4], m[7]} {
			if text, err := a.cupboard.Get(name); err != nil || !slices.Contains(before, string(text)) {
				t.Errorf("%s: %s is not what it was: %.200q: %v", dialect, name, text, err)
			}
		}
	}
}

// A command's output stands beside what it said of errors, which mostly is nothing.
func TestAStubOfAShellsOutputIsTrueOfWhatItPointsTo(t *testing.T) {
	f := func(stdout, stderr string) {
		t.Helper()
		w, a := theWriters["responses"], clearing()
		output := fmt.Sprintf(`[{"stdout":%s,"stderr":%s,"outcome":{"type":"exit","exit_code":0}}]`,
			span.AppendQuoted(nil, stdout), span.AppendQuoted(nil, stderr))
		call := `{"type":"shell_call","id":"sh_1","call_id":"s1","action":{"commands":["make"]}},` +
			`{"type":"shell_call_output","call_id":"s1","output":` + output + `}`
		sent := w.sends(t, a, []string{w.says(theTask), call}, func(sent string) bool {
			return strings.Contains(sent, ", exit code 0, ")
		})
		want := fmt.Sprintf(", exit code 0, %d lines, %d bytes, cleared: old. Full output: /data/artifacts/",
			shorten.CountLines(stdout+stderr), len(stdout+stderr))
		if !strings.Contains(sent, want) || !slices.Contains(a.cupboard.Contents(), stdout+stderr) {
			t.Errorf("%q is not in %s", want, sent)
		}
	}
	f(listed("order", 60), "")
	f("", listed("order", 60))
	f(listed("order", 60), "make: done\n")
}

// An excerpt of one text of several says so: its counts are not those of the result.
func TestAnExcerptOfOneTextOfSeveralSaysSo(t *testing.T) {
	for dialect, w := range theWriters {
		a := readable(1_000_000)
		a.dialect = w.Dialect
		body := fmt.Sprintf(w.body, w.says(theTask)+","+
			w.looksUp(7, w.parts(listed("order", 150), "picture", listed("payout", 150))))
		out := a.shape(body)
		judged(t, a.bench, body, out)
		for n, what := range []string{"order", "payout"} {
			tokens := fmt.Sprintf("of text %d of 2 of lookup `part 7` (", n+1)
			if !strings.Contains(string(out.Body), tokens) {
				t.Errorf("%s, of the text on each %s: %q is not in %s", dialect, what, tokens, out.Body)
			}
		}
	}
}

// showsPictures is a conversation in which the user shows some.
func (w *writer) showsPictures() []string {
	list := []string{w.says(theTask)}
	for n := range 12 {
		list = append(list, w.looksUp(n, `"`+strings.Repeat("value is well ", 40)+`"`))
		switch n {
		case 3:
			list = append(list, w.says("This is how it looks.", "picture"))
		case 4:
			list = append(list, w.says("This is how it looks.", "picture", "picture"))
		case 5:
			list = append(list, w.says("picture"))
		case 6, 7:
			list = append(list, w.says("Go on."))
		}
	}
	return list
}

func hasSummary(sent string) bool { return strings.Contains(sent, plan.Mark+"summary ") }

// partsLie finds where a stub says that texts lie, and all of the content as JSON.
var partsLie = regexp.MustCompile(`^\[epitome: [^\n]*/(\w+)\.txt(?: [^\n/]*)?\. As it came(?:, with [^,\n]*)?, it is in /\S*/(\w+)\.txt, as JSON`)

// inLines is what a reader of lines finds where the stub of item i sends it: all of its texts, one below the other.
func (j *judge) inLines(i int, was []string, stub string) string {
	j.Helper()
	content := j.was.Items[i].Content
	m := partsLie.FindStringSubmatch(stub)
	if m == nil { // nobody can read it
		return string(history.Readable(j.was, content))
	}
	read, err := j.get(m[1])
	raw, odd := j.get(m[2])
	if err != nil || odd != nil || string(raw) != string(content.Of(j.was.Body)) {
		j.Fatalf("promise 6: what %q names is not there: %v, %v", stub, err, odd)
	}
	rest := string(read)
	for _, s := range was {
		found := isOther(s)
		if !found {
			_, rest, found = strings.Cut(rest, s)
		}
		if !found {
			j.Fatalf("promise 6: %.300q is not where %q says, behind the texts before it: %.300q", s, stub, rest)
		}
	}
	return string(read)
}

// shownIn says which pictures, recordings and documents an item has.
func shownIn(r *conversation.Request, it *conversation.Item) string {
	count := map[conversation.PartKind]int{}
	var kinds []conversation.PartKind
	parts, _ := r.Parts(it)
	for _, p := range parts {
		if count[p.Kind]++; count[p.Kind] == 1 {
			kinds = append(kinds, p.Kind)
		}
	}
	var list []string
	for _, k := range kinds {
		name := map[conversation.PartKind]string{conversation.ImagePart: "picture", conversation.AudioPart: "recording",
			conversation.FilePart: "document"}[k]
		switch {
		case name == "":
		case count[k] == 1:
			list = append(list, "a "+name)
		default:
			list = append(list, fmt.Sprintf("%d %ss", count[k], name))
		}
	}
	return strings.Join(list, " and ")
}

// A picture that goes with the words of the user is told, and where it is.
func TestPicturesBesideTheUsersWordsAreTold(t *testing.T) {
	for dialect, w := range theWriters {
		a := newAgent(16_000)
		sent := w.sends(t, a, w.showsPictures(), hasSummary)
		for _, want := range []string{
			`: message \d+, with a picture, not shown here\\nThis is how it looks\.\\n`,
			`: message \d+, with 2 pictures, not shown here\\nThis is how it looks\.\\n`,
			`: not shown here: message \d+\\n`,
		} {
			if !regexp.MustCompile(want).MatchString(sent) {
				t.Errorf("%s: %s is not in %s", dialect, want, sent)
			}
		}
		if !slices.ContainsFunc(a.cupboard.Contents(), func(s string) bool { return strings.Contains(s, w.picture) }) {
			t.Errorf("%s: the picture lies nowhere", dialect)
		}
	}
}

// What the user shows beside words that are left to an artifact is told as well.
func TestPicturesOfAMessageThatIsLeftAreTold(t *testing.T) {
	const tools = `,"tools":[{"type":"function","name":"bash","function":{"name":"bash","parameters":{"type":"object"}}}]}`
	for dialect, w := range theWriters {
		a := newAgent(1_000_000)
		text := paragraphs(900)
		body := fmt.Sprintf(w.body, w.says(theTask)+","+w.looksUp(7, `"ok"`)+","+w.says(text, "picture", "the end"))
		body = strings.TrimSuffix(body, "}") + tools
		out := a.Shape(Input{Dialect: w.Dialect, Body: []byte(body), Upstream: "up", Limits: &a.limits,
			Rescue: &plan.Rescue{Most: 3_000, From: plan.StageBare}})
		all := text + "the end"
		want := fmt.Sprintf("stood here. It has %d lines and %d bytes and a picture, and is too long", shorten.CountLines(all), len(all))
		if !strings.Contains(string(out.Body), want) || !strings.Contains(string(out.Body), "(as it came, with a picture: /data") ||
			!slices.Contains(a.cupboard.Contents(), all) {
			t.Errorf("%s: %q is not in %.1000s", dialect, want, out.Body)
		}
	}
}
