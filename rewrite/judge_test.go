package rewrite_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"epitome/tokenize"
)

// own is how each text begins that epitome writes.
const own = "[epitome"

// judge holds what is sent over one storage to the promises of ARCHITECTURE.md. It reads bodies with gjson alone, so
// that it shares no mistake with the code it judges.
type judge struct {
	rapid.TB
	storage *storage
	loose   bool // writes fail, so that nobody can know what was decided
	broken  bool // requests break rules, so that it may be decided late how they are sent
	filters bool // some messages are not to be sent
	rescued bool // a request was refused: all marks may be gone, and small messages may grow
	size    int  // tokens of the body that was sent last

	answered map[hash]hash              // what was sent for each request
	sent     map[hash]map[string]prefix // what was sent for each prefix, by model
	tokens   map[counted]int            // of messages

	ids      map[hash]string // of conversations, by prefix
	branched map[hash]bool   // by prefix up to the first answer
	next     map[hash]hash   // by prefix, the one of a message more in the first request that had more
	begun    map[string]hash // by ID of a conversation, its prefix up to the first answer
}

// prefix is what was sent for a prefix of a conversation.
type prefix struct {
	messages []hash
	tokens   int
}

func newJudge(t rapid.TB, s *storage) *judge {
	t.Helper()
	return &judge{TB: t, storage: s, answered: map[hash]hash{}, sent: map[hash]map[string]prefix{},
		tokens: map[counted]int{}, ids: map[hash]string{}, next: map[hash]hash{}, begun: map[string]hash{},
		branched: map[hash]bool{}}
}

// told is what an agent is told of its machine, in the system prompt or as one.
var told = regexp.MustCompile(strings.ReplaceAll(`\\n\\nTEXT|,\{"type":"text","text":"TEXT"\}|"system":"TEXT",|`+
	`\{"role":"system","content":"TEXT"\},|`+
	`\{"type":"message","role":"developer","content":\[\{"type":"input_text","text":"TEXT"\}\]\},`,
	"TEXT", `\[epitome: The machine [^"]*`))

// check holds a response of the core to all promises.
func (j *judge) check(r request, s response) {
	j.Helper()
	const noRoom = "nothing is added to the system prompt: it takes too much of the window" // in a small window
	if err := cmp.Or(s.err, s.faults); err != nil && err.Error() != noRoom && !j.loose && !j.broken {
		j.Fatalf("the core fails: %v", err)
	}
	for _, said := range told.FindAllString(string(s.body), -1) {
		if r.folder == "" || !strings.Contains(said, strings.Trim(quoted(r.folder), `"`)) {
			j.Fatalf("promise 7: the agent in %q is told %s", r.folder, said)
		}
	}
	s.body = told.ReplaceAll(s.body, nil)
	same := bytes.Equal(r.body, s.body)
	if same != (s.action == "none" || s.action == "add") && s.err == nil {
		j.Fatalf("promise 1: the action is %s; the body is identical: %v", s.action, same)
	}
	j.rescued = j.rescued || r.refused > 0
	was, ok := parse(r.api, r.body)
	if !ok {
		if !same {
			j.Fatalf("promise 1: a body that cannot be read was changed")
		}
		return
	}
	now, ok := parse(r.api, s.body)
	if !ok {
		j.Fatalf("promise 3: what is sent is not a request: %.200s", s.body)
	}
	if !same {
		j.spans(was, now)
		j.flaws(r, was, now, s)
		j.losses(was, now)
		before, after := j.sizeOf(was), j.sizeOf(now)
		if after > before+j.slack() && !j.rescued {
			j.Fatalf("promise 4: %d tokens became %d", before, after)
		}
	}
	j.fits(r, was, now)
	j.replay(r, was, now, s)
}

// spans holds promises 2 and 8: what is sent is the original except for edited texts and messages that were taken out.
func (j *judge) spans(was, now *body) {
	j.Helper()
	if was.start != now.start || was.end != now.end {
		j.Fatalf("promise 2: what stands around the messages has changed")
	}
	all := ""
	for _, m := range was.messages {
		texts("", "", m.Result, func(_, text string) { all += text + "\n" })
	}
	i, previous := 0, -1 // previous is the index of the message before, if that is unchanged
	for _, m := range now.messages {
		texts("", "", m.Result, func(_, text string) {
			if err := forgedQuote(all, text); err != nil {
				j.Fatal(err)
			}
		})
		if m.Get("role").Str == "user" && isOwn(m.Result) { // a summary
			previous = -1
			continue
		}
		err := errors.New("promise 2: a message is no edit of any message of the request")
		at := i
		for ; at < len(was.messages); at++ {
			if isEdit("", was.messages[at].Result, m.Result) {
				if err = forged(was.messages[at].Result, m.Result); err == nil {
					break
				}
			}
		}
		if err != nil {
			j.Fatalf("%v: %.500s", err, m.Raw)
		}
		unchanged := was.messages[at].Raw == m.Raw
		if unchanged && previous == at-1 && was.messages[at].before != m.before {
			j.Fatalf("promise 2: what stands before message %d has changed: %q", at, m.before)
		}
		if previous = -1; unchanged {
			previous = at
		}
		i = at + 1
	}
}

// flaws holds promise 3.
func (j *judge) flaws(r request, was, now *body, s response) {
	j.Helper()
	marks, hadMarks := now.marks, was.marks
	if marks > hadMarks {
		j.Fatalf("promise 3: of %d marks for the cache %d are sent", hadMarks, marks)
	}
	if err := r.api.refusal(r.body, r.body); err == nil {
		if err := r.api.refusal(s.body, r.body); err != nil {
			j.Fatalf("promise 3: a server refuses what is sent: %v", err)
		}
		if marks == 0 && hadMarks > 0 && !j.rescued {
			j.Fatalf("promise 3: the last mark for the cache is gone")
		}
	} else if !j.broken {
		j.Fatalf("a server refuses what the client sent: %v: %s", err, r.body)
	}
}

// losses holds promise 6: a text that is not sent stands in an artifact whose name stands where something was taken
// out, or in an artifact that such an artifact names. Filters leave out messages, or blocks of one, that are smaller than
// a note would be, without one.
func (j *judge) losses(was, now *body) {
	j.Helper()
	original, unchanged := map[hash]bool{}, map[hash]bool{}
	for _, m := range was.messages {
		original[m.sum] = true
	}
	var names []string
	var sent strings.Builder // the texts of edited messages, each behind a NUL
	for _, m := range now.messages {
		if unchanged[m.sum] = true; !original[m.sum] {
			names = append(names, artifactNames(m.Raw)...)
			texts("", "", m.Result, func(_, text string) { sent.WriteString("\x00" + text) })
		}
	}
	kept := map[string]string{}
	for i := 0; i < len(names); i++ {
		if content := j.storage.artifact(names[i]); content != "" && kept[names[i]] == "" {
			kept[names[i]] = content
			names = append(names, artifactNames(content)...)
		}
	}
	artifacts := strings.Join(slices.Collect(maps.Values(kept)), "\x00")
	for i, m := range was.messages {
		if unchanged[m.sum] {
			continue
		}
		bare := 0 // tokens of its texts that no note stands for
		texts("", "", m.Result, func(_, text string) {
			if strings.Contains(artifacts, text) || strings.Contains(sent.String(), "\x00"+text) {
				return
			}
			bare += tokenize.CountString(text)
			if !j.filters || bare >= noteTokens || !j.storage.has(text) {
				j.Fatalf("promise 6: a text of message %d is neither sent nor in %v: %.1000s", i, names, text)
			}
		})
	}
}

// fits holds that a request which is too long for the model is shortened to what it holds, if that can be. A request
// that was sent before is sent as it was then, even if the window is smaller now: promise 5, and a refusal is rescued.
func (j *judge) fits(r request, was, now *body) {
	j.Helper()
	if _, again := j.answered[hashOf(r.name, r.scope, r.folder, string(r.body))]; again {
		return
	}
	const unseen = 300 // tokens that stay of each result that the model has not seen
	newest := len(was.messages) - 1
	for newest > 0 && was.messages[newest].Get("role").Str != "assistant" {
		newest--
	}
	size, least := j.around(now), j.around(was) // least: without what the model said and called before
	for i := range now.messages {
		size += j.count(&now.messages[i]) - pictureTokens*strings.Count(now.messages[i].plain, picture)
	}
	for i := range was.messages {
		role := was.messages[i].Get("role").Str
		switch {
		case i < 2 || i == newest || i > len(was.messages)-3 || role != "assistant" && role != "tool":
			least += j.count(&was.messages[i])
		case i > newest:
			least += min(unseen, j.count(&was.messages[i]))
		}
	}
	if size > r.window && r.window >= 20_000 && least < r.window/2 && r.refused == 0 && !j.loose && !j.broken {
		j.Fatalf("promise 4: %d of %d tokens are sent to a model that holds %d", size, j.sizeOf(was), r.window)
	}
}

// replay holds promise 5.
func (j *judge) replay(r request, was, now *body, s response) {
	j.Helper()
	if j.loose || s.err != nil {
		return
	}
	asked, answer := hashOf(r.name, r.scope, r.folder, string(r.body)), hashOf(string(s.body))
	if before, again := j.answered[asked]; again && before != answer && r.refused == 0 {
		j.Fatalf("promise 5: the same request is sent otherwise than before: %.1000s", s.body)
	}
	j.answered[asked] = answer
	j.size = j.sizeOf(now)
	if j.broken {
		return
	}
	chain, first := was.chain(r.name, r.scope, r.folder)
	sums := now.sums()
	n := len(chain) - 1 // messages that were sent before
	for n > 0 && j.sent[chain[n]] == nil {
		n--
	}
	j.names(chain, first, n, s.conversation)
	before := j.sent[chain[n]][was.model] // empty if another model was sent them
	same := len(before.messages)
	if r.refused == 0 && (len(sums) < same || !slices.Equal(sums[:same], before.messages)) {
		j.breaks(before, was.behind()[n:], now, s)
	}
	size := j.sizeBehind(now)
	record := func(asked, sent, size int) {
		if j.sent[chain[asked]] == nil {
			j.sent[chain[asked]] = map[string]prefix{}
		}
		j.sent[chain[asked]][was.model] = prefix{messages: sums[:sent], tokens: size}
	}
	record(len(was.behind()), len(sums), size)
	last, end := len(was.behind())-1, len(sums)-1
	if m := &was.behind()[last]; last > 0 && isReminder(m) && sums[end] == m.sum {
		record(last, end, size-j.count(m))
		if first > 0 && last >= first {
			j.ids[chain[last]] = s.conversation
		}
	}
}

// names holds that a conversation keeps its ID, of which it had sent n messages before, and that each ID is of one scope,
// one beginning and one first answer. The first to continue a prefix continues its conversation, others are branches.
func (j *judge) names(chain []hash, first, n int, id string) {
	j.Helper()
	goesOn := n == len(chain)-1
	if !goesOn && first > 0 && n >= first-1 { // else it begins with other words of the user
		if _, known := j.next[chain[n]]; !known {
			j.next[chain[n]] = chain[n+1]
		}
		goesOn = j.next[chain[n]] == chain[n+1]
		j.branched[chain[first]] = j.branched[chain[first]] || !goesOn && n >= first
	}
	was := j.ids[chain[n]]
	begun, isTaken := j.begun[was] // by another first answer to the same words
	isFree := first > 0 && (j.branched[chain[first]] || isTaken && begun != chain[first])
	if goesOn && !isFree && was != "" && id != was {
		j.Fatalf("promise 5: conversation %s is %s after %d of %d messages", was, id, n, len(chain)-1)
	}
	j.ids[chain[len(chain)-1]] = id
	if first == 0 {
		return
	}
	if begun, known := j.begun[id]; known && begun != chain[first] {
		j.Fatalf("promise 7: two conversations have the ID %s", id)
	}
	j.begun[id] = chain[first]
}

// isReminder reports whether a message may be gone in the next request.
func isReminder(m *message) bool {
	role := m.Get("role").Str
	return (role == "user" || role == "system") && !strings.Contains(m.Raw, `"tool_result"`)
}

// slack returns how many tokens a request may have too many, which is open: the note of a filter about small calls may
// cost some more than this judge counts of them.
func (j *judge) slack() int {
	if j.filters {
		return 50
	}
	return 0
}

// breaks holds that what was sent before changes only by a decision that makes the request smaller.
func (j *judge) breaks(before prefix, news []message, now *body, s response) {
	j.Helper()
	if !s.broke {
		i, sent := 0, now.behind()
		for i < min(len(sent), len(before.messages))-1 && sent[i].sum == before.messages[i] {
			i++
		}
		j.Fatalf("promise 5: nothing was decided, and message %d of what was sent has become %.1000s", i, sent[i].Raw)
	}
	whole := before.tokens
	for i := range news {
		whole += j.count(&news[i])
	}
	if size := j.sizeBehind(now); size >= whole+j.slack() {
		j.Fatalf("promise 4: what was sent before changes, and %d tokens become %d", whole, size)
	}
}

// sizeOf counts the tokens of a request.
func (j *judge) sizeOf(b *body) int {
	n := j.around(b)
	for i := range b.messages {
		n += j.count(&b.messages[i])
	}
	return n
}

// sizeBehind counts the tokens of the messages behind the system's.
func (j *judge) sizeBehind(b *body) (n int) {
	for i := range b.behind() {
		n += j.count(&b.behind()[i])
	}
	return n
}

func (j *judge) around(b *body) int {
	return tokenize.CountString(b.start) + tokenize.CountString(b.end)
}

const (
	pictureTokens = 2000 // more than any model counts for a small picture
	messageTokens = 4    // that a model counts around what a message says
	callTokens    = 12   // the same around a call, beside its name and arguments, and around a result
	noteTokens    = 120  // more than a filter's note has
)

func (j *judge) count(m *message) int {
	n, known := j.tokens[counted{m.sum, m.escaped}]
	if !known {
		tokens := tokenize.Count
		if m.escaped {
			tokens = tokenize.CountEscaped
		}
		n = messageTokens + pictureTokens*strings.Count(m.plain, picture) +
			tokenize.CountString(m.Get("reasoning_content").Str)
		for _, thought := range m.Get("content.#.thinking").Array() {
			n += tokenize.CountString(thought.Str)
		}
		texts("", "", m.Result, func(_, text string) { n += tokens([]byte(text)) })
		for _, list := range []string{"tool_calls.#.function.name", `content.#(type=="tool_use")#.name`, "name"} {
			for _, name := range m.Get(list).Array() {
				n += callTokens + tokenize.CountString(name.Str)
			}
		}
		results := slices.Concat(m.Get("content.#.tool_use_id").Array(), m.Get("tool_call_id").Array())
		if n += callTokens * len(results); strings.HasSuffix(m.Get("type").Str, "_output") {
			n += callTokens
		}
		j.tokens[counted{m.sum, m.escaped}] = n
	}
	return n
}

type hash [sha256.Size]byte

func hashOf(parts ...string) hash { return sha256.Sum256([]byte(strings.Join(parts, "\x00"))) }

// body is a request as the judge reads it.
type body struct {
	model, system string
	start, end    string // what stands before and behind the messages
	messages      []message
	leads         int // how many messages are the system's, before all others
	marks         int // for the cache, in messages
}

type message struct {
	gjson.Result
	before  string // white space and a comma
	plain   string // without marks for the cache
	sum     hash   // of plain
	escaped bool   // the model gets its letters beyond ASCII as escapes
}

// counted is a message as it is counted.
type counted struct {
	sum     hash
	escaped bool
}

// parse reads a request; ok is false if it holds no conversation.
func parse(a api, raw []byte) (b *body, ok bool) {
	listName, systemName := a.members()
	text := string(raw)
	list := gjson.Get(text, listName)
	if !gjson.Valid(text) || !list.IsArray() || list.Index == 0 {
		return nil, false
	}
	b = &body{model: gjson.Get(text, "model").String(), start: text[:list.Index]}
	if systemName != "" {
		b.system = unmark(gjson.Get(text, systemName).Raw)
	}
	leads, at := true, 1
	for _, value := range list.Array() {
		m := message{Result: value, plain: unmark(value.Raw)}
		b.marks += strings.Count(value.Raw, marker)
		start := at + strings.Index(list.Raw[at:], value.Raw) // only white space and a comma stand before it
		m.before, at = list.Raw[at:start], start+len(value.Raw)
		role := value.Get("role").Str
		m.sum = hashOf(m.plain)
		b.messages = append(b.messages, m)
		if leads = leads && (role == "system" || role == "developer"); leads {
			b.leads++
		}
	}
	b.end = list.Raw[at:] + text[list.Index+len(list.Raw):]
	if tokenize.ModelOf(b.model).Exact {
		b.escape()
	}
	return b, true
}

// escape marks the results of answers with several calls, which OpenAI's models get with escapes. An answer has its calls
// in one message, or side by side as in Responses.
func (b *body) escape() {
	var calls []string // IDs of the last answer's
	isEnded := false   // a result stands behind them
	for i := range b.messages {
		m := &b.messages[i]
		kind := m.Get("type").Str
		id := cmp.Or(m.Get("tool_call_id").Str, m.Get("call_id").Str, m.Get("id").Str)
		switch {
		case m.Get("tool_calls").Exists():
			calls = nil
			for _, call := range m.Get("tool_calls.#.id").Array() {
				calls = append(calls, call.Str)
			}
		case strings.HasSuffix(kind, "_call"):
			if isEnded {
				calls = nil
			}
			calls, isEnded = append(calls, id), false
		case m.Get("role").Str == "tool" || strings.HasSuffix(kind, "_output"):
			m.escaped, isEnded = len(calls) > 1 && slices.Contains(calls, id), true
		}
	}
}

// unmark takes the marks for the provider's cache out; clients move them from turn to turn.
func unmark(raw string) string { return strings.ReplaceAll(raw, marker, "") }

var number = regexp.MustCompile(`[0-9]+`)

// behind returns the messages behind the system's.
func (b *body) behind() []message { return b.messages[b.leads:] }

// chain returns a hash for each prefix of the conversation behind the system's messages. What stands before it, as the
// prompt and the tools, tells requests apart up to the model's first answer. first is the length of the shortest prefix
// with an answer, 0 if there is none.
func (b *body) chain(lane ...string) (all []hash, first int) {
	before := b.start + b.end
	for _, m := range b.messages[:b.leads] {
		before += m.plain
	}
	last := hashOf(lane...)
	all = []hash{hashOf(string(last[:]), before)}
	for i, m := range b.behind() {
		last = sha256.Sum256(append(last[:], m.sum[:]...))
		role := m.Get("role").Str
		if first == 0 && (role == "user" || role == "system" || role == "developer") {
			all = append(all, hashOf(string(last[:]), before))
			continue
		}
		if first == 0 {
			first = i + 1
		}
		all = append(all, last)
	}
	return all, first
}

// sums returns the hashes of the messages behind the system's.
func (b *body) sums() (all []hash) {
	for _, m := range b.behind() {
		all = append(all, m.sum)
	}
	return all
}

// Values under these keys name something, and never change.
var names = map[string]bool{"type": true, "role": true, "id": true, "call_id": true, "tool_call_id": true,
	"tool_use_id": true, "name": true, "status": true, "signature": true, "thinking": true, "encrypted_content": true}

// Values under these keys are not texts for a model. They stay as they are or go with their key.
var hidden = map[string]bool{"reasoning_content": true, "cache_control": true, "data": true, "url": true,
	"image_url": true}

// texts calls visit with each text in a value that stands under key, and with the role of whoever wrote it.
func texts(role, key string, value gjson.Result, visit func(role, text string)) {
	switch {
	case names[key] || hidden[key]:
	case value.IsObject():
		switch kind := value.Get("type").Str; {
		case value.Get("role").Str != "":
			role = value.Get("role").Str
		case kind == "tool_result" || strings.HasSuffix(kind, "_output"):
			role = "tool"
		case strings.HasSuffix(kind, "_call"):
			role = "assistant"
		}
		value.ForEach(func(key, value gjson.Result) bool {
			texts(role, key.Str, value, visit)
			return true
		})
	case value.IsArray():
		for _, element := range value.Array() {
			texts(role, key, element, visit)
		}
	case value.Type != gjson.String || value.Str == "":
	case gjson.Valid(value.Str) && (value.Str[0] == '"' || key == "arguments" && value.Str[0] == '{'):
		texts(role, "", gjson.Parse(value.Str), visit)
	default:
		visit(role, value.Str)
	}
}

// isOwn reports whether epitome wrote all texts of a value.
func isOwn(value gjson.Result) bool {
	all, count := true, 0
	texts("", "", value, func(_, text string) {
		count++
		all = all && strings.HasPrefix(strings.TrimSpace(text), own)
	})
	return all && count > 0
}

// isEdit reports whether now, which stands in the place of was under key, differs only in texts, by elements of lists
// and hidden members that are gone, and by marks for the cache.
func isEdit(key string, was, now gjson.Result) bool {
	switch {
	case was.Raw == now.Raw:
		return true
	case names[key] || hidden[key]:
		return false
	case was.IsObject() && now.IsObject():
		return isObjectEdit(was, now)
	case was.IsArray() && now.IsArray():
		rest := was.Array()
		for _, value := range now.Array() {
			at := slices.IndexFunc(rest, func(w gjson.Result) bool { return isEdit("", w, value) })
			if at < 0 && !isOwn(value) {
				return false
			}
			rest = rest[at+1:]
		}
		return true
	case was.Type == gjson.String && key == "content" && now.IsArray(): // each of the others is epitome's own
		first := now.Get("0.text")
		return first.Type == gjson.String && isEdit("", was, first) &&
			!slices.ContainsFunc(now.Array()[1:], func(value gjson.Result) bool { return !isOwn(value) })
	case now.Type != gjson.String:
		return false
	case key == "arguments" && gjson.Valid(was.Str):
		return gjson.Valid(now.Str) && isEdit("", gjson.Parse(was.Str), gjson.Parse(now.Str))
	}
	return was.Type == gjson.String || key == "content" || key == "output" // one text may stand for several parts
}

func isObjectEdit(was, now gjson.Result) bool {
	isMarked := strings.Contains(was.Raw+now.Raw, marker)
	ok := isMarked || len(was.Map()) != len(now.Map()) || frame(was) == frame(now)
	now.ForEach(func(key, value gjson.Result) bool {
		before := was.Get(gjson.Escape(key.Str))
		isNew := key.Str == "cache_control" || key.Str == "content" && was.Get("type").Str == "tool_result"
		ok = ok && (!before.Exists() && isNew || before.Exists() && isEdit(key.Str, before, value))
		return ok
	})
	was.ForEach(func(key, _ gjson.Result) bool {
		ok = ok && (now.Get(gjson.Escape(key.Str)).Exists() || hidden[key.Str])
		return ok
	})
	return ok
}

// frame is an object without the values of its members.
func frame(value gjson.Result) string {
	var b strings.Builder
	at := 0
	value.ForEach(func(_, member gjson.Result) bool {
		start := member.Index - value.Index
		b.WriteString(value.Raw[at:start])
		at = start + len(member.Raw)
		return true
	})
	return b.String() + value.Raw[at:]
}

// messageLine is the line above a message in a summary.
var messageLine = regexp.MustCompile(`(?m)^-- (?:\w{8}: )?\d+ (user|you|not the user|the user's answer).*$`)

// forgedQuote holds promise 8 in summaries: whatever stands there as the user's stands in the conversation word for
// word, but for marks where it is cut.
func forgedQuote(all, text string) error {
	_, said, _ := strings.Cut(text, ": the user's messages, ")
	said, _, _ = strings.Cut(said, "\n[end of summary ")
	at := messageLine.FindAllStringSubmatchIndex(said, -1)
	for k, m := range at {
		end := len(said)
		if k+1 < len(at) {
			end = at[k+1][0]
		}
		for part := range strings.SplitSeq(said[m[1]:end], "[…]") {
			for line := range strings.SplitSeq(part, "\n") {
				if said[m[2]:m[3]] == "user" && !strings.Contains(all, strings.TrimSpace(line)) {
					return fmt.Errorf("promise 8: %.300q is no part of what the user said", line)
				}
			}
		}
	}
	return nil
}

// forged holds promise 8: a text of the user is sent whole, with or without a summary behind it, moved whole, or quoted
// with a mark where it is cut; other texts are made of lines of the message and of epitome's own.
func forged(was, now gjson.Result) (err error) {
	known := map[string]bool{"": true}
	originals := []string{""}
	texts("", "", was, func(_, text string) {
		originals = append(originals, text)
		for line := range strings.SplitSeq(text, "\n") {
			known[line], known[strings.TrimSuffix(line, "\r")] = true, true
		}
	})
	all := strings.Join(originals, "\n")
	texts("", "", now, func(role, text string) {
		continues := func(original string) bool {
			rest, ok := strings.CutPrefix(text, original)
			return ok && strings.HasPrefix(strings.TrimSpace(rest), own)
		}
		switch {
		case slices.Contains(originals, text):
		case role == "system" || role == "developer":
			err = fmt.Errorf("promise 2: the system's text became %.200q", text)
		case role == "user" && !slices.ContainsFunc(originals, continues):
			err = fmt.Errorf("promise 8: the user's %.300q became %.300q", all, text)
		case role != "user":
			for line := range strings.SplitSeq(text, "\n") {
				shown := strings.TrimPrefix(line, "> ")
				if !known[line] && !known[shown] && !strings.HasPrefix(line, own) && !shows(all, shown) &&
					!isCut(all, line) {
					err = fmt.Errorf("promise 8: %q is no line of %.300q", line, all)
				}
			}
		}
	})
	return err
}

// gapNote is epitome's note in a gap within a line.
var gapNote = regexp.MustCompile(`\[epitome: (\d+) bytes omitted\]`)

// isCut reports whether a line is a part of text with true notes in its gaps. Of a text that has another form before it
// is cut, as JSON or a terminal's, only what stands between the notes is looked for.
func isCut(text, line string) bool {
	notes, parts := gapNote.FindAllStringSubmatch(line, -1), gapNote.Split(line, -1)
	isHere := func(rest string) bool {
		for i, part := range parts {
			if i > 0 {
				n, _ := strconv.Atoi(notes[i-1][1])
				rest = rest[min(n, len(rest)):]
			}
			if !strings.HasPrefix(rest, part) {
				return false
			}
			rest = rest[len(part):]
		}
		return true
	}
	for at := range text {
		if notes != nil && isHere(text[at:]) {
			return true
		}
	}
	isPlain := !strings.ContainsAny(text, "\r\b\x1b{[")
	return notes != nil && !isPlain && !slices.ContainsFunc(parts, func(part string) bool { return !shows(text, part) })
}

// shows reports whether a line may be one of JSON that is laid out, or what a terminal shows of a text, which has all
// its letters in this order.
func shows(text, line string) bool {
	bare := func(text string) string { return strings.Join(strings.Fields(text), "") }
	if strings.Contains(bare(text), bare(line)) {
		return true
	}
	if !strings.ContainsAny(text, "\r\b\x1b") {
		return false
	}
	for _, letter := range line {
		at := strings.IndexRune(text, letter)
		if at < 0 && letter != ' ' {
			return false
		}
		text = text[max(0, at):]
	}
	return true
}
