package replay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/bench/sessions"
	"epitome/dialect"
	"epitome/dialect/conversation"
	"epitome/internal/jsonspan"
	"epitome/offload"
	"epitome/tokenize"
)

// Recall counts the answers that can still be read in conversations with questions once they are compacted. The error
// names the first file that has no such conversations.
func Recall(ctx context.Context, o Options) (*RecallReport, error) {
	files, err := sessions.Find(o.Paths)
	if err != nil {
		return nil, err
	}
	r := &RecallReport{}
	for _, file := range files {
		quizzes, err := readQuizzes(file)
		if err != nil {
			return nil, err
		}
		for _, q := range quizzes {
			for _, size := range o.Windows {
				last, err := o.playQuiz(ctx, q, size)
				if err != nil {
					return nil, err
				}
				r.count(q, size, last)
			}
		}
	}
	slices.SortStableFunc(r.Rows, func(a, b *RecallRow) int {
		return cmp.Or(a.Window-b.Window, strings.Compare(a.Questions, b.Questions))
	})
	return r, nil
}

// lastRequest is the last request of a conversation as it was sent.
type lastRequest struct {
	shaped
	ages []int // of each question, the compactions since its answer came
}

// playQuiz plays a conversation in a window.
func (o *Options) playQuiz(ctx context.Context, q quiz, size int) (last lastRequest, err error) {
	s := &session{scale: conversation.Scale{Memo: tokenize.NewMemo(1 << 18), Ratio: 1}, once: o.Once}
	address := offload.Options{Address: "url", URL: o.Config.ArtifactsAt(o.Config.Listen)}
	shape := ownPolicy(o.Config, address).open(s, size)
	requests := q.Grown()
	if o.Once {
		requests = func(yield func(int, []byte) bool) { yield(len(q.Body), q.Body) }
	}
	last.ages = make([]int, len(q.questions))
	start := 0
	for end, body := range requests {
		last.shaped, err = shape(&request{Request: &conversation.Request{Dialect: q.Dialect, Body: body}})
		err = cmp.Or(err, ctx.Err())
		if err != nil {
			return last, err
		}
		added := unescaped(q.Body[start:end])
		for i, asked := range q.questions {
			if asked.isAnsweredBy(added) && !o.Once {
				last.ages[i] = 0
			} else if last.isCompacted {
				last.ages[i]++
			}
		}
		start = end
	}
	return last, nil
}

// count counts the answers in the last request of a conversation.
func (r *RecallReport) count(q quiz, size int, last lastRequest) {
	text := unescaped(last.body)
	if last.tokens > size { // it would be refused
		text = ""
	}
	for i, asked := range q.questions {
		isVisible := asked.isAnsweredBy(text)
		age := []string{"0", "1", "2", "3", "4", "5+"}[min(last.ages[i], 5)]
		for _, of := range []string{"all", "age " + age} {
			row := r.row(size, of)
			row.Count++
			row.Tokens.addShare(ratio{float64(last.tokens), 1})
			row.Visible.count(isVisible)
		}
	}
}

// RecallReport is the result of Recall.
type RecallReport struct {
	Rows []*RecallRow `json:"rows"`
}

// RecallRow has the figures of some questions in one window: of all, or of an age: how many compactions there were since
// the answer came. Shares are in percent; Tokens is a mean.
type RecallRow struct {
	Window    int    `json:"window"` // tokens
	Questions string `json:"questions"`
	Count     int    `json:"count"`
	Tokens    ratio  `json:"tokens"`  // of the last request
	Visible   ratio  `json:"visible"` // it has the answer
}

// row returns the row of some questions in a window.
func (r *RecallReport) row(window int, questions string) *RecallRow {
	i := slices.IndexFunc(r.Rows, func(x *RecallRow) bool { return x.Window == window && x.Questions == questions })
	if i < 0 {
		i = len(r.Rows)
		r.Rows = append(r.Rows, &RecallRow{Window: window, Questions: questions})
	}
	return r.Rows[i]
}

// quiz is a conversation with questions whose answers stand in it.
type quiz struct {
	*conversation.Request
	questions []question
}

// question is a question whose answer is an exact text.
type question struct{ text, expected string }

func readQuizzes(file string) (all []quiz, err error) {
	content, err := os.ReadFile(file)
	var document bytes.Buffer // without white space, which would count as tokens
	err = cmp.Or(err, json.Compact(&document, content))
	for _, d := range gjson.ParseBytes(document.Bytes()).Array() {
		q, invalid := readQuiz(d)
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

// readQuiz reads a conversation and those of its questions whose answers stand in it.
func readQuiz(document gjson.Result) (q quiz, err error) {
	body := requestIn(document)
	api, _ := dialect.Of("", body) // never fails without a name
	q.Request, err = conversation.Read(api, body, nil)
	for _, d := range document.Get("questions").Array() {
		asked := question{d.Get("question").Str, d.Get("expected").String()}
		if asked.expected != "" && asked.isAnsweredBy(unescaped(body)) {
			q.questions = append(q.questions, asked)
		}
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

// unescaped returns a request with quotes and backslashes as they stand in its texts.
func unescaped(body []byte) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(string(body))
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
	if strings.Contains(q.text, q.expected) {
		text = strings.ReplaceAll(text, q.text, " ")
	}
	for at := 0; ; {
		found := strings.Index(text[at:], q.expected)
		if found < 0 {
			return false
		}
		start := at + found
		at = start + len(q.expected)
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
	asked := keysIn(q.text)
	if len(asked) == 0 {
		near := strings.ToLower(head + tail)
		return slices.ContainsFunc(longWord.FindAllString(strings.ToLower(q.text), -1), func(word string) bool {
			return !slices.Contains(tellsNone, word) && strings.Contains(near, word[:min(len(word), 6)])
		})
	}
	key := asked[len(asked)-1]
	familyOf := func(key string) string { return digits.ReplaceAllString(key, "#") }
	others := slices.DeleteFunc(keysIn(head), func(k string) bool { return familyOf(k) != familyOf(key) })
	return len(others) > 0 && others[len(others)-1] == key
}
