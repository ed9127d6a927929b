package promisetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"epitome/tokenize"
)

// judge holds what is sent over one storage to the promises.
type judge struct {
	rapid.TB
	storage *Storage
	counter *tokenize.Counter
	loose   bool // writes fail, so that nobody can know what was decided
	broken  bool // requests break rules, so that a core may decide late what it sends of them
	sparse  int  // how many edited requests in a row need one look for flaws; those with breaks all do
	checks  int
	size    int  // tokens that were sent last
	rescued bool // a request was refused: all marks may be gone, and small ones may grow by the judge's count

	answered map[hash]hash              // what was sent for each request
	sent     map[hash]map[string]prefix // what was sent for each prefix, by model
	thoughts map[hash]bond              // what thinking is bound to

	tokens    map[hash]int
	said      map[hash]string   // messages, for who reads a failure
	compared  map[hash]error    // what is wrong with a message in the place of another one
	kept      map[hash][]string // artifacts with all texts of a message
	artifacts map[string]*artifact
}

// prefix is what was sent for a prefix of a conversation.
type prefix struct {
	messages []hash
	tokens   int
	bond     bond // what the model thinks next is bound to
}

// artifact is a content that judges have read.
type artifact struct {
	text     string
	names    []string // of artifacts in it
	unquoted bool     // text has the strings in it as well
}

var counters tokenize.Counters

func newJudge(t rapid.TB, s *Storage) *judge {
	t.Helper()
	counter, err := counters.For(tokenize.O200k)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &judge{TB: t, storage: s, counter: counter, answered: map[hash]hash{}, sent: map[hash]map[string]prefix{},
		thoughts: map[hash]bond{}, tokens: map[hash]int{}, said: map[hash]string{}, compared: map[hash]error{},
		kept: map[hash][]string{}, artifacts: map[string]*artifact{}}
}

// check holds what was sent for a request to all promises.
func (j *judge) check(r Request, s Sent) {
	j.Helper()
	if s.Err != nil && !j.loose {
		j.Fatalf("the core fails: %v", s.Err)
	}
	same := bytes.Equal(r.Body, s.Body)
	if same != (s.Action == "none") && s.Err == nil {
		j.Fatalf("promise 1: the action is %s; the body is identical: %v", s.Action, same)
	}
	d := dialects[r.API]
	was, ok := parse(d, r.Body)
	j.rescued = j.rescued || r.Refused > 0
	if !ok {
		if !same {
			j.Fatalf("promise 1: a body that cannot be read was changed")
		}
		return
	}
	now := was
	if !same {
		if now, ok = parse(d, s.Body); !ok {
			j.Fatalf("promise 3: what was sent is no request: %.200s", s.Body)
		}
		j.spans(was, now)
		if j.checks++; s.Breaks || j.checks%max(1, j.sparse) == 0 {
			j.flaws(d, r, was, now, s)
		}
		j.losses(was, now)
		if before, after := j.sizeOf(was), j.sizeOf(now); after > before && !j.rescued && j.escaped(now) > j.escaped(was) {
			j.Fatalf("promise 4: %d tokens became %d", before, after)
		}
	}
	if r.Refused == 0 {
		j.window(r, was, now)
	}
	j.replay(r, was, now, s)
}

// spans holds promises 2 and 8: what was sent is the original but for the texts that were edited, and for messages that
// were taken out.
func (j *judge) spans(was, now *body) {
	j.Helper()
	if was.start != now.start || was.end != now.end {
		j.Fatalf("promise 2: what stands around the messages has changed")
	}
	i, previous := 0, -1 // the message before is this one of the original, unchanged; -1 if it is none
	err := errOther
	for k := range now.messages {
		m := &now.messages[k]
		if m.Get("role").Str == "user" && isOwn(m.Result) { // a summary
			previous = -1
			continue
		}
		at := i
		for ; at < len(was.messages); at++ {
			fault := j.compare(&was.messages[at], m)
			if fault == nil {
				break
			}
			if fault != errOther {
				err = fault
			}
		}
		if at == len(was.messages) {
			j.Fatalf("%v: %.500s", err, m.Raw)
		}
		i = at + 1
		if previous == at-1 && was.messages[at].Raw == m.Raw && was.messages[at].before != m.before {
			j.Fatalf("promise 2: what stands before message %d has changed: %q", at, m.before)
		}
		if previous = -1; was.messages[at].Raw == m.Raw {
			previous = at
		}
	}
}

// errOther says that a message is no edit of another one.
var errOther = errors.New("promise 2: what was sent is no edit of any message")

// compare says what is wrong with a message that was sent in the place of another one.
func (j *judge) compare(was, now *message) error {
	if was.plain == now.plain {
		return nil
	}
	pair := hashOf(was.plain, now.plain)
	err, known := j.compared[pair]
	if known {
		return err
	}
	changes, ok := compare("", "", was.Result, now.Result)
	if !ok {
		err = errOther
	}
	for _, c := range changes {
		if err == nil {
			err = c.check()
		}
	}
	j.compared[pair] = err
	return err
}

// flaws holds promise 3.
func (j *judge) flaws(d dialect, r Request, was, now *body, s Sent) {
	j.Helper()
	marks, hadMarks := marksIn(now), marksIn(was)
	if marks > hadMarks {
		j.Fatalf("promise 3: of %d marks for the cache %d are sent", hadMarks, marks)
	}
	err := d.refusal(r.Body, r.Body)
	if err == nil {
		if err := d.refusal(s.Body, r.Body); err != nil {
			j.Fatalf("promise 3: a server refuses what was sent: %v", err)
		}
		if marks == 0 && hadMarks > 0 && r.API == "messages" && !j.rescued {
			j.Fatalf("promise 3: the last mark for the cache is gone")
		}
		return
	}
	if !j.broken {
		j.Fatalf("a server refuses what the client sent: %v", err)
	}
	had := single(d, was)
	for id, count := range single(d, now) {
		if id != "" && (count > max(0, had[id]) || count < min(0, had[id])) {
			j.Fatalf("promise 3: %d calls of ID %s are without a result, and were %d", count, id, had[id])
		}
	}
}

func marksIn(b *body) (n int) {
	for i := range b.messages {
		n += b.messages[i].marks
	}
	return n
}

// single counts calls without a result by ID, and results without a call below zero.
func single(d dialect, b *body) map[string]int {
	open := map[string]int{}
	for i := range b.messages {
		calls, results := d.pairs(b.messages[i].Result)
		for _, id := range calls {
			open[id]++
		}
		for _, id := range results {
			open[id]--
		}
	}
	return open
}

// losses holds promise 6: each text that is not sent stands in an artifact that is named where something was taken out,
// or in one that such an artifact names.
func (j *judge) losses(was, now *body) {
	j.Helper()
	original, unchanged := map[hash]bool{}, map[hash]bool{}
	for i := range was.messages {
		original[was.messages[i].sum] = true
	}
	var named []string
	var sent strings.Builder // the texts of edited messages, each behind a NUL
	for i := range now.messages {
		m := &now.messages[i]
		if unchanged[m.sum] = true; !original[m.sum] {
			named = append(named, artifactNames(m.Raw)...)
			texts("", m.Result, func(text string) { sent.WriteString("\x00" + text) })
		}
	}
	var artifacts []string
	for i := 0; i < len(named); i++ {
		if a := j.artifact(named[i]); a != nil && !slices.Contains(artifacts, named[i]) {
			artifacts, named = append(artifacts, named[i]), append(named, a.names...)
		}
	}
	for i := range was.messages {
		m := &was.messages[i]
		if !unchanged[m.sum] && !j.keeps(m, artifacts, sent.String()) {
			j.Fatalf("promise 6: a text of message %d is neither sent nor kept in %v: %.1000s", i, artifacts, m.Raw)
		}
	}
}

// keeps reports whether each text of a message begins a text that is sent, or stands in one of the artifacts.
func (j *judge) keeps(m *message, artifacts []string, sent string) bool {
	isGone := func(name string) bool { return !slices.Contains(artifacts, name) }
	if before, ok := j.kept[m.sum]; ok && !slices.ContainsFunc(before, isGone) {
		return true
	}
	var keepers []string
	all, isKept := true, true
	texts("", m.Result, func(text string) {
		at := slices.IndexFunc(artifacts, func(name string) bool { return j.artifact(name).has(text) })
		if at >= 0 {
			keepers = append(keepers, artifacts[at])
		}
		isKept = isKept && at >= 0
		all = all && (at >= 0 || strings.Contains(sent, "\x00"+text))
	})
	if isKept {
		j.kept[m.sum] = keepers
	}
	return all
}

// artifact reads one; nil if there is none.
func (j *judge) artifact(name string) *artifact {
	content, found := j.storage.Shelf.artifact(name)
	if !found {
		return nil
	}
	if j.artifacts[name] == nil {
		j.artifacts[name] = &artifact{text: content, names: artifactNames(content)}
	}
	return j.artifacts[name]
}

// has reports whether a text stands in the artifact, as it is or as a string of JSON.
func (a *artifact) has(text string) bool {
	if strings.Contains(a.text, text) {
		return true
	}
	if !a.unquoted && (strings.HasPrefix(a.text, "{") || strings.HasPrefix(a.text, "[")) {
		var all strings.Builder
		for _, quoted := range jsonString.FindAllString(a.text, -1) {
			all.WriteString("\x00" + gjson.Parse(quoted).Str)
		}
		a.text, a.unquoted = a.text+all.String(), true
		return strings.Contains(a.text, text)
	}
	return false
}

// window holds that a request which is too long for the model comes down to what it holds, if that can be.
func (j *judge) window(r Request, was, now *body) {
	j.Helper()
	size := j.sizeOf(now)
	for i := range now.messages {
		size -= pictureTokens * strings.Count(now.messages[i].plain, picture)
	}
	if size > r.Window && r.Window >= 20_000 && j.least(was) < r.Window/2 && !j.loose && !j.broken {
		j.Fatalf("promise 4: %d of %d tokens are sent to a model that holds %d", size, j.sizeOf(was), r.Window)
	}
}

// replay holds promise 5.
func (j *judge) replay(r Request, was, now *body, s Sent) {
	j.Helper()
	if j.loose {
		return
	}
	asked, answer := hashOf(r.API, r.Scope, r.Upstream, string(r.Body)), hashOf(string(s.Body))
	if before, again := j.answered[asked]; again && before != answer && r.Refused == 0 && !r.NoThinking {
		j.Fatalf("promise 5: the same request is sent otherwise than before: %.1000s", s.Body)
	}
	j.answered[asked] = answer
	if j.broken {
		return
	}
	chain, n, before := j.before(r, was)
	sums := now.sums()
	same := len(before.messages)
	if r.Refused == 0 && !r.NoThinking && (len(sums) < same || !slices.Equal(sums[:same], before.messages)) {
		j.breaks(before, was, now, n, s)
	}
	binds := bindsThinking(r, was)
	if binds {
		if wrong := j.misplaced(r.Scope, was, now, n, before); wrong != "" {
			j.Fatalf("promise 3: thinking %q is sent behind something else than it was thought behind", wrong)
		}
	}
	record := func(asked, sent, size int) {
		p := prefix{messages: sums[:sent], tokens: size}
		if binds {
			p.bond = p.bond.walk(now.messages[:sent], nil)
		}
		if j.sent[chain[asked]] == nil {
			j.sent[chain[asked]] = map[string]prefix{}
		}
		j.sent[chain[asked]][was.model] = p
	}
	size := j.sizeOf(now)
	j.size = size
	record(len(was.messages), len(sums), size)
	last, end := len(was.messages)-1, len(sums)-1
	if last > 0 && isReminder(was.messages[last]) && sums[end] == was.messages[last].sum {
		record(last, end, size-j.count(&was.messages[last]))
	}
}

// before returns the links of a request, how many of its messages were sent before, and as what: empty where it goes on
// from what another model was sent.
func (j *judge) before(r Request, was *body) (chain []hash, n int, sent prefix) {
	chain = was.chain(r.API, r.Scope, r.Upstream)
	for n = len(chain) - 1; n > 0 && j.sent[chain[n]] == nil; {
		n--
	}
	return chain, n, j.sent[chain[n]][was.model]
}

// isReminder reports whether a message may be gone, or stand elsewhere, in the next request.
func isReminder(m message) bool {
	role := m.Get("role").Str
	return (role == "user" || role == "system") && !strings.Contains(m.Raw, `"tool_result"`)
}

// breaks holds that what was sent before changes by a decision alone, and that it pays.
func (j *judge) breaks(before prefix, was, now *body, n int, s Sent) {
	j.Helper()
	i := 0
	for i < len(now.messages)-1 && now.messages[i].sum == before.messages[i] {
		i++
	}
	what := fmt.Sprintf("message %d of what was sent for the first %d messages changes: %s", i, n,
		difference(j.said[before.messages[i]], now.messages[i].plain))
	if !s.Breaks {
		j.Fatalf("promise 5: nothing was decided, and %s", what)
	}
	whole := before.tokens
	for i := range was.messages[n:] {
		whole += j.count(&was.messages[n+i])
	}
	if size := j.sizeOf(now); size >= whole {
		j.Fatalf("promise 4: %d tokens become %d, and %s", whole, size, what)
	}
}

// sizeOf counts the tokens of a request.
func (j *judge) sizeOf(b *body) (n int) {
	n = j.around(b)
	for i := range b.messages {
		n += j.count(&b.messages[i])
	}
	return n
}

// escaped counts the tokens of all texts with escapes, as some models count results of several calls.
func (j *judge) escaped(b *body) (n int) {
	for i := range b.messages {
		texts("", b.messages[i].Result, func(text string) { n += j.counter.CountEscaped([]byte(text)) })
	}
	return n
}

// around counts the tokens of what stands around the messages.
func (j *judge) around(b *body) int {
	return j.counter.CountString(b.start) + j.counter.CountString(b.end)
}

// pictureTokens is more than a core may take a picture for.
const pictureTokens = 2000

// count counts the tokens of the texts of a message.
func (j *judge) count(m *message) int {
	n, known := j.tokens[m.sum]
	if !known {
		n = pictureTokens*strings.Count(m.plain, picture) + j.counter.CountString(m.Get("reasoning_content").Str)
		for _, thought := range m.Get("content.#.thinking").Array() {
			n += j.counter.CountString(thought.Str)
		}
		texts("", m.Result, func(text string) { n += j.counter.CountString(text) })
		j.tokens[m.sum], j.said[m.sum] = n, strings.Clone(m.plain)
	}
	return n
}

// least counts what cannot be taken out: all but what the model says and calls.
func (j *judge) least(b *body) (n int) {
	n = j.around(b)
	for i := range b.messages {
		if role := b.messages[i].Get("role").Str; i < 2 || i > len(b.messages)-3 || role != "assistant" && role != "tool" {
			n += j.count(&b.messages[i])
		}
	}
	return n
}

// difference shows where two texts part.
func difference(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	from := max(0, n-100)
	return fmt.Sprintf("at byte %d from %q to %q", n, a[from:min(len(a), n+200)], b[from:min(len(b), n+200)])
}
