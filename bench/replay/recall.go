package replay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"epitome/bench/sessions"
	"epitome/dialect"
	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
	"epitome/summarize"
	"epitome/tokenize"
)

// Recall counts the answers that can still be read in conversations with questions once each method has made them
// smaller. What a method fails at, and a question that cannot be asked, is named in the report. The error names the
// first file that has no such conversations.
func Recall(ctx context.Context, o Options) (*RecallReport, error) {
	r := &RecallReport{Failures: []string{}} // not null in JSON
	if i := slices.Index(o.Methods, "all"); i >= 0 {
		o.Methods = slices.Replace(o.Methods, i, i+1, Methods...)
	}
	for _, name := range o.Methods {
		p, err := o.method(ctx, name)
		if err != nil {
			return nil, err
		}
		o.policies = append(o.policies, p)
	}
	for _, size := range o.Windows {
		for _, p := range o.policies {
			r.Rows = append(r.Rows, &RecallRow{Window: size, Method: p.name})
		}
	}
	files, err := sessions.Find(o.Paths)
	if err != nil {
		return nil, err
	}
	memo := tokenize.NewMemo(1 << 18)
	for _, file := range files {
		quizzes, err := readQuizzes(file)
		if err != nil {
			return nil, err
		}
		for _, q := range quizzes {
			r.Failures = append(r.Failures, q.flaws...)
			err := o.playQuiz(ctx, q, memo, r)
			if err != nil {
				return nil, err
			}
		}
		fmt.Fprintln(o.Progress, "bench: played", file)
	}
	return r, nil
}

// playQuiz plays a conversation by all methods in all windows, and adds the figures to r.
func (o *Options) playQuiz(ctx context.Context, q quiz, memo *tokenize.Memo, r *RecallReport) error {
	s := &session{dialect: q.Dialect, scale: scaleOf(q.Model, memo), known: map[string]*message{}, once: o.Once}
	_, err := s.read(q.Body, &request{}, s.known) // every player knows its messages, and may add to them
	if err != nil {
		return err
	}
	var players []*player
	for i, row := range r.Rows {
		shape := o.policies[i%len(o.policies)].open(s, row.Window)
		players = append(players, &player{session: s, shape: shape, row: &Row{Window: row.Window},
			known: maps.Clone(s.known), before: &request{}})
	}
	original := &request{}
	for _, body := range q.Grown() {
		if o.Once {
			body = q.Body
		}
		original, err = s.read(body, original, s.known)
		if err != nil {
			return err
		}
		var turn sync.WaitGroup
		for _, p := range players {
			if p.failed == nil {
				turn.Go(func() { _, _, p.failed = p.send(original) })
			}
		}
		turn.Wait()
		if o.Once || ctx.Err() != nil {
			break
		}
	}
	for i, p := range players {
		r.Rows[i].count(q, p)
		if p.failed != nil {
			problem := fmt.Sprintf("%s: %s in a window of %d: %v", q.name, r.Rows[i].Method, p.row.Window, p.failed)
			r.Failures = append(r.Failures, problem)
		} else if o.Last && len(p.before.Items) > 0 {
			r.Last = append(r.Last, p.lastOf(q, r.Rows[i]))
		}
	}
	return ctx.Err()
}

// lastOf returns what a reader needs to answer the questions from the last request alone: the request as text, and the
// artifacts that it names.
func (p *player) lastOf(q quiz, row *RecallRow) any {
	r, _ := conversation.Read(p.dialect, p.before.Body, nil) // it has been read before
	text := ""
	for _, prompt := range r.Prompts {
		text += jsonspan.StringOf(prompt.Of(r.Body)) + "\n\n"
	}
	text += string(summarize.Transcript(r, activity.Of(r, nil), 0, len(r.Items), ""))
	artifacts := map[string]string{}
	for _, name := range artifactName.FindAllString(text, -1) {
		if p.artifact == nil { // the method keeps nothing
			break
		}
		content, err := p.artifact(name)
		if err == nil {
			artifacts[name] = string(content)
		}
	}
	return map[string]any{"conversation": q.name, "method": row.Method, "window": row.Window, "tokens": p.before.tokens,
		"text": text, "artifacts": artifacts, "questions": q.questions}
}

// count counts the answers in the last request that a player has sent for a conversation.
func (row *RecallRow) count(q quiz, p *player) {
	row.Count += len(q.questions)
	row.Died += p.row.Died
	text := ""
	if p.failed != nil {
		row.Failed++
	} else {
		row.Tokens.addShare(ratio{float64(p.before.tokens), 1})
		row.Cost.sum += p.row.Cost.sum
		row.Cost.of += p.row.Cost.of
		if p.before.tokens <= row.Window { // else it would be refused
			text = unescaped(p.before.Body)
		}
	}
	for _, asked := range q.questions {
		row.Visible.count(asked.isAnsweredBy(text))
	}
}

// RecallReport is the result of Recall.
type RecallReport struct {
	Rows     []*RecallRow `json:"rows"`     // by window, then by method
	Failures []string     `json:"failures"` // of methods, and questions that were not asked
	Last     []any        `json:"last,omitempty"`
}

// RecallRow has the figures of one method in one window. Shares are in percent; Tokens is a mean.
type RecallRow struct {
	Window  int    `json:"window"` // tokens
	Method  string `json:"method"`
	Count   int    `json:"count"`   // questions
	Tokens  ratio  `json:"tokens"`  // of the last request
	Visible ratio  `json:"visible"` // of the answers, those that stand in it
	Cost    ratio  `json:"cost"`    // of all requests, relative to sending everything
	Died    int    `json:"died"`    // conversations with a request over the window
	Failed  int    `json:"failed"`  // conversations that the method could not go on with
}

// quiz is a conversation with questions whose answers stand in it.
type quiz struct {
	*conversation.Request
	name      string // of its file, and its number there
	questions []question
	flaws     []string // of questions that are not asked
}

// question is a question whose answer is an exact text.
type question struct {
	Text     string `json:"question"`
	Expected string `json:"expected"`
}

func readQuizzes(file string) (all []quiz, err error) {
	content, err := os.ReadFile(file)
	var document bytes.Buffer // without white space, which would count as tokens
	err = cmp.Or(err, json.Compact(&document, content))
	for i, d := range gjson.ParseBytes(document.Bytes()).Array() {
		q, invalid := readQuiz(d, fmt.Sprintf("%s, conversation %d", file, i+1))
		all = append(all, q)
		err = cmp.Or(err, invalid)
		if err != nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s, conversation %d: %w", file, max(1, len(all)), err)
	}
	return all, nil
}

// readQuiz reads a conversation and those of its questions that can be asked: the answer stands in the conversation,
// and not in the question.
func readQuiz(document gjson.Result, name string) (q quiz, err error) {
	body := requestIn(document)
	api, _ := dialect.Of("", body) // never fails without a name
	q.name = name
	q.Request, err = conversation.Read(api, body, nil)
	for _, d := range document.Get("questions").Array() {
		asked := question{d.Get("question").Str, d.Get("expected").String()}
		flaw := ""
		switch {
		case asked.Expected != "" && strings.Contains(asked.Text, asked.Expected):
			flaw = "has its answer"
		case asked.Expected == "" || !asked.isAnsweredBy(unescaped(body)):
			flaw = "has no answer that stands in its conversation"
		default:
			q.questions = append(q.questions, asked)
			continue
		}
		q.flaws = append(q.flaws, fmt.Sprintf("%s: the question %.80q %s", name, asked.Text, flaw))
	}
	if q.questions == nil {
		err = cmp.Or(err, errors.New("no question has an answer that stands in its conversation"))
	}
	return q, err
}

// requestIn returns the request in a document. Of a fixture of algal/pi-openai-server-compaction it makes one: of pi's
// messages or items of Responses, those that follow, and a last word of the user.
func requestIn(document gjson.Result) []byte {
	if document.Get("request").Exists() {
		return []byte(document.Get("request").Raw)
	}
	const last = `{"type":"message","role":"user","content":"Continue."}`
	items := jsonspan.Set([]byte(document.Get("[history,messages,sharedTail]|@flatten").Raw), "-1", last)
	body := jsonspan.Set([]byte("{}"), "input", string(items))
	if document.Get("messages").Exists() {
		log := ""
		for _, m := range gjson.ParseBytes(items).Array() {
			log += `{"type":"message","message":` + m.Raw + "}\n"
		}
		bodies, _ := sessions.Parse([]byte(log)) // none with an error
		body = jsonspan.Delete(slices.Concat(bodies...), "model")
	}
	if document.Get("tools").IsArray() {
		body = jsonspan.Set(body, "tools", document.Get("tools").Raw)
	}
	return body
}

// unescaped returns a request with quotes, backslashes and line breaks as they stand in its texts.
func unescaped(body []byte) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t").Replace(string(body))
}

var (
	keyForm   = regexp.MustCompile(`[a-z]+(?:-[a-z]+)*-\d+(?:-\d+)*`) // such as parameter-1-3
	goesOn    = regexp.MustCompile(`^-?[\pL\pN_]`)
	digits    = regexp.MustCompile(`\d+`)
	longWord  = regexp.MustCompile(`[a-z]{4,}`)
	tellsNone = strings.Fields("what which where when does that this from with exact value directly authoritative " +
		"current state final return")
)

func keysIn(text string) (keys []string) {
	for _, at := range keyForm.FindAllStringIndex(text, -1) {
		if !goesOn.MatchString(text[at[1]:]) {
			keys = append(keys, text[at[0]:at[1]])
		}
	}
	return keys
}

// isAnsweredBy reports whether the answer stands in a text: behind the key that the question names last, with no key
// between them that differs from it in digits alone; if the question has no key, near one of its words. The question
// itself is no answer.
func (q *question) isAnsweredBy(text string) bool {
	if strings.Contains(q.Text, q.Expected) {
		text = strings.ReplaceAll(text, q.Text, " ")
	}
	for at := 0; ; {
		found := strings.Index(text[at:], q.Expected)
		if found < 0 {
			return false
		}
		start := at + found
		at = start + len(q.Expected)
		const before, behind = 200, 60 // characters, of at most four bytes each
		head := []rune(text[max(0, start-4*before):start])
		tail := []rune(text[at:min(len(text), at+4*behind)])
		head = head[max(0, len(head)-before):]
		tail = tail[:min(len(tail), behind)]
		if q.isNear(string(head), string(tail)) {
			return true
		}
	}
}

// isNear reports whether what stands between head and tail is there as the answer.
func (q *question) isNear(head, tail string) bool {
	asked := keysIn(q.Text)
	if len(asked) == 0 {
		near := strings.ToLower(head + tail)
		return slices.ContainsFunc(longWord.FindAllString(strings.ToLower(q.Text), -1), func(word string) bool {
			return !slices.Contains(tellsNone, word) && strings.Contains(near, word[:min(len(word), 6)])
		})
	}
	key := asked[len(asked)-1]
	familyOf := func(key string) string { return digits.ReplaceAllString(key, "#") }
	others := slices.DeleteFunc(keysIn(head), func(k string) bool { return familyOf(k) != familyOf(key) })
	return len(others) > 0 && others[len(others)-1] == key
}
