// Package sessions reads conversations from the logs that agents keep of their sessions, and from files of requests.
//
// Each conversation becomes a Chat Completions request: the last one that its client would have sent. Requests in a
// file stay as they are, byte for byte. Requests made from an agent's log are valid: each result follows the message of
// its call. They lack images, the model's reasoning, calls without a result and answers that no request followed.
package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
)

// Find returns the logs at paths, sorted: files as given, and all files below folders that end in .json, .jsonl or
// .ndjson.
func Find(paths []string) (files []string, err error) {
	for _, root := range paths {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			isLog := path == root || slices.Contains([]string{".json", ".jsonl", ".ndjson"}, filepath.Ext(path))
			if err == nil && isLog && !entry.IsDir() {
				files = append(files, filepath.Clean(path))
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("cannot find sessions: %w", err)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Read returns the last request of each conversation in the log at path, in Chat Completions. The error names the first
// part of the log that cannot be read; the requests are those of the other parts.
func Read(path string) (bodies [][]byte, err error) {
	log, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	bodies, err = Parse(log)
	switch {
	case err != nil:
		err = fmt.Errorf("cannot read all of %s: %w", path, err)
	case len(bodies) == 0:
		err = fmt.Errorf("cannot replay %s: it has no conversation in a known format", path)
	}
	return bodies, err
}

// Parse returns the last request of each conversation in a log, which is one JSON document or has one on each line. It
// holds requests if one comes before any line of a session. The error is the first of several.
func Parse(log []byte) (bodies [][]byte, err error) {
	lines := bytes.SplitAfter(log, []byte("\n"))
	if json.Valid(log) {
		lines = [][]byte{log}
	}
	var documents []gjson.Result
	for i, line := range lines {
		if json.Valid(line) {
			documents = append(documents, gjson.ParseBytes(line))
		} else if len(bytes.TrimSpace(line)) > 0 && err == nil {
			err = fmt.Errorf("line %d is not JSON", i+1)
		}
	}
	t := &tree{lines: map[string]*message{"": nil}, calls: map[string]*call{}}
	for i, d := range documents {
		// Requests in Messages have a key system.
		isRequest := d.Get("messages.0.role").Exists() && !d.Get("system").Exists()
		if isRequest && len(t.messages) == 0 {
			bodies, invalid := readRequests(documents[i:])
			return bodies, cmp.Or(err, invalid)
		}
		t.readLine(d)
	}
	return t.requests(), err
}

// readRequests reads Chat Completions requests. It leaves out those that another one extends. The error is that of the
// first one that cannot be read.
func readRequests(documents []gjson.Result) (bodies [][]byte, err error) {
	extended := map[conversation.Link]bool{} // the proper prefixes of all requests
	var requests []*conversation.Request
	for i, d := range documents {
		r, invalid := conversation.Read(chat.Dialect{}, []byte(d.Raw), nil)
		if invalid == nil && len(r.Items) == 0 {
			invalid = errors.New("it has no messages")
		}
		if invalid != nil {
			err = cmp.Or(err, fmt.Errorf("request %d: %w", i+1, invalid))
			continue
		}
		requests = append(requests, r)
		for _, link := range r.Chain()[:len(r.Items)] {
			extended[link] = true
		}
	}
	for _, r := range requests {
		whole := r.Chain()[len(r.Items)]
		if !extended[whole] {
			extended[whole] = true // leaves out the next one that is equal
			bodies = append(bodies, r.Body)
		}
	}
	return bodies, err
}

// tree has the messages of a session. Each of its leaves ends a conversation. A session that is a list has one branch.
type tree struct {
	model        string
	instructions string              // of Codex
	part         string              // the same for all parts of an answer; empty: the log does not say it
	last         *message            // the next message follows it; nil: it is the first one
	messages     []*message          // without results
	lines        map[string]*message // the last messages of lines, by the IDs of the lines; the empty ID is the start
	calls        map[string]*call    // the newest of each ID
}

// message is a message of a Chat Completions request.
type message struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Calls   []*call `json:"tool_calls,omitempty"`
	CallID  string  `json:"tool_call_id,omitempty"`

	part      string   // as in tree
	before    *message // nil for the first one
	followers int
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`

	result *message // nil: none so far
}

// readLine adds what a line of a session says.
//
// Claude Code writes a line for each block of a message, and pi for each message. The lines have IDs and name their
// parents, so that a prompt that the user edits begins a new branch; subagents have trees of their own. A line whose
// parent is not known follows the one before. Codex writes a line for each item of a conversation in Responses, beside
// others for events and settings. Commands that the user ran, compactions of pi and error messages of Claude Code are
// left out.
func (t *tree) readLine(line gjson.Result) {
	id := firstOf(line, "uuid", "id").Str
	if _, again := t.lines[id]; again && id != "" {
		return
	}
	parent := firstOf(line, "parentUuid", "parentId")
	if m, known := t.lines[parent.Str]; known && parent.Exists() { // null is the start
		t.last = m
	}
	t.part = cmp.Or(line.Get("message.id").Str, id)
	said := line.Get("message")
	model := firstOf(line, "modelId", "message.model", "payload.model").Str
	if model == "<synthetic>" { // an error message
		model, said = "", gjson.Result{}
	}
	t.model = cmp.Or(model, t.model)
	if line.Get("subtype").Str == "compact_boundary" || line.Get("isCompactSummary").Bool() {
		t.last = nil
	}
	payload := line.Get("payload")
	switch line.Get("type").Str {
	case "session_meta":
		if len(t.messages) == 0 { // the log of a resumed session repeats it
			t.instructions = firstOf(payload, "base_instructions.text", "instructions").Str
			t.say("system", t.instructions)
		}
	case "response_item":
		t.add(payload)
	case "compacted":
		t.last = nil
		t.say("system", t.instructions)
		history := payload.Get("replacement_history")
		for _, item := range history.Array() {
			t.add(item)
		}
		if !history.Exists() {
			t.say("user", payload.Get("message").Str)
		}
	default:
		t.add(said)
	}
	if id != "" {
		t.lines[id] = t.last
	}
}

// firstOf returns the value of the first of the keys that v has.
func firstOf(v gjson.Result, keys ...string) (value gjson.Result) {
	for _, key := range keys {
		if value = v.Get(key); value.Exists() {
			break
		}
	}
	return value
}

var roles = map[string]string{"system": "system", "developer": "system", "user": "user", "custom": "user",
	"hookMessage": "user", "assistant": "assistant"}

// add adds a message, with the calls and results in it; a call; or a result. It leaves out messages of other roles.
func (t *tree) add(v gjson.Result) {
	content := v.Get("content")
	if role := roles[v.Get("role").Str]; role != "" {
		t.say(role, textOf(content))
		for _, block := range content.Array() {
			t.addCall(block)
		}
	}
	t.addCall(v)
}

// say adds a message, or a part of an answer, unless text is empty.
func (t *tree) say(role, text string) {
	switch {
	case text == "":
	case role == "assistant":
		m := t.answer()
		m.Content = strings.Trim(m.Content+"\n"+text, "\n")
	default:
		t.append(message{Role: role, Content: text, part: t.part})
	}
}

// answer returns the answer to which the current part belongs. Where a log does not say it, a result ends an answer.
func (t *tree) answer() *message {
	hasResult := func(c *call) bool { return c.result != nil }
	if t.last == nil || !isAnswer(t.last) || t.last.part != t.part ||
		t.part == "" && slices.ContainsFunc(t.last.Calls, hasResult) {
		t.append(message{Role: "assistant", part: t.part})
	}
	return t.last
}

// append adds a message behind the last one.
func (t *tree) append(m message) {
	m.before, m.followers = t.last, 0
	if t.last != nil {
		t.last.followers++
	}
	t.last = &m
	t.messages = append(t.messages, t.last)
}

// addCall adds a call, the first result of one, or both. All other blocks and items have neither.
func (t *tree) addCall(v gjson.Result) {
	id := firstOf(v, "tool_use_id", "toolCallId", "call_id", "id").Str
	if arguments := firstOf(v, "input", "arguments", "action"); arguments.Exists() && id != "" {
		c := &call{ID: id, Type: "function"}
		c.Function.Name = cmp.Or(v.Get("name").Str, strings.TrimSuffix(v.Get("type").Str, "_call"))
		c.Function.Arguments = objectOf(arguments)
		m := t.answer()
		m.Calls = append(m.Calls, c)
		t.calls[id] = c
	}
	result := firstOf(v, "output.content", "output", "content")
	if c := t.calls[id]; c != nil && c.result == nil && result.Exists() {
		c.result = &message{Role: "tool", Content: textOf(result), CallID: id}
	}
}

// objectOf returns the arguments of a call as a JSON object. Free text becomes the field input of one.
func objectOf(arguments gjson.Result) string {
	if arguments.IsObject() {
		return arguments.Get("@ugly").Raw
	}
	if gjson.Valid(arguments.Str) && gjson.Parse(arguments.Str).IsObject() {
		return arguments.Str
	}
	object, _ := json.Marshal(map[string]string{"input": arguments.String()}) // never fails for strings
	return string(object)
}

// requests returns the last request of each conversation in which the model has answered. A message beside others that
// nothing followed is no conversation.
func (t *tree) requests() (bodies [][]byte) {
	for _, m := range t.messages {
		isAlone := m.before == nil || m.before.followers == 1
		if m.followers > 0 || !isAlone && !isAnswer(m) {
			continue
		}
		messages := lastRequest(m.path())
		if slices.ContainsFunc(messages, isAnswer) {
			bodies = append(bodies, encode(t.model, messages))
		}
	}
	return bodies
}

// path returns the messages up to m.
func (m *message) path() (path []*message) {
	for ; m != nil; m = m.before {
		path = append(path, m)
	}
	slices.Reverse(path)
	return path
}

// lastRequest returns the messages of the last request in a conversation: the results of an answer's calls follow it,
// there are no calls without a result, and no answers at the end.
func lastRequest(conversation []*message) (messages []*message) {
	for _, m := range conversation {
		sent := message{Role: m.Role, Content: m.Content}
		var results []*message
		for _, c := range m.Calls {
			if c.result != nil {
				sent.Calls = append(sent.Calls, c)
				results = append(results, c.result)
			}
		}
		if sent.Content != "" || len(sent.Calls) > 0 {
			messages = append(append(messages, &sent), results...)
		}
	}
	for len(messages) > 0 && isAnswer(messages[len(messages)-1]) {
		messages = messages[:len(messages)-1]
	}
	return messages
}

func isAnswer(m *message) bool { return m.Role == "assistant" }

func encode(model string, messages []*message) []byte {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	_ = e.Encode(struct {
		Model    string     `json:"model,omitempty"`
		Messages []*message `json:"messages"`
	}{model, messages}) // never fails: it consists of strings
	return bytes.TrimSpace(body.Bytes())
}

// textOf returns the text of a content, which is a string or a list of parts. It only names files.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var texts []string
	for _, part := range content.Array() {
		kind := strings.TrimPrefix(part.Get("type").Str, "input_")
		switch text := part.Get("text"); {
		case part.Type == gjson.String:
			texts = append(texts, part.Str)
		case text.Type == gjson.String:
			texts = append(texts, text.Str)
		case kind == "image" || kind == "document" || kind == "file":
			texts = append(texts, "["+kind+" "+cmp.Or(part.Get("filename").Str, "omitted")+"]")
		}
	}
	return strings.Join(texts, "\n")
}
