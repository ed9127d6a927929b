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
// recognizes the format by the first document that only one format has. The error is the first of several.
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
	for i, d := range documents {
		kind := d.Get("type").Str
		switch {
		case d.Get("messages.0.parts").IsArray():
			return readOpenCode(d), err
		case d.Get("messages.0.role").Exists() && !d.Get("system").Exists(): // requests in Messages have a key system
			bodies, invalid := readRequests(documents[i:])
			return bodies, cmp.Or(err, invalid)
		case d.Get("payload").IsObject():
			return readCodex(documents[i:]), err
		case kind == "session" || kind == "message":
			return readPi(documents[i:]), err
		case (kind == "user" || kind == "assistant") && d.Get("message").IsObject():
			return readClaudeCode(documents[i:]), err
		}
	}
	return nil, err
}

// readRequests reads Chat Completions requests. It leaves out those that another one extends. The error is that of the
// first one that cannot be read.
func readRequests(documents []gjson.Result) (bodies [][]byte, err error) {
	extended := map[conversation.Link]bool{} // the proper prefixes of all requests
	var requests []*conversation.Request
	for i, d := range documents {
		r, invalid := chat.Dialect{}.Read([]byte(d.Raw), nil)
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

// thread builds requests from the lines of a log. For each line its reader sets id and adds what the line says. Where
// lines form a tree, it calls rewind before that and end after it.
type thread struct {
	model    string
	id       string         // of the current line's message; lines with the same ID make one answer. Empty: unknown
	messages []message      // in the order of the log; each part of an answer is one
	places   map[string]int // by line ID, the number of messages at the end of the line; an empty ID is the start
	bodies   [][]byte       // of the conversations that have ended
}

// message is a message of a Chat Completions request.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`

	id string // as thread.id
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func newThread() *thread { return &thread{places: map[string]int{"": 0}} }

// add adds a message: the text in its content and, of an answer, the calls in it. Messages of other roles are left out.
func (t *thread) add(role string, content gjson.Result) {
	switch text := textOf(content); role {
	case "system", "developer":
		t.say("system", text)
	case "user", "custom", "hookMessage":
		t.say("user", text)
	case "assistant":
		t.say("assistant", text)
		for _, block := range content.Array() {
			if kind := block.Get("type").Str; kind == "tool_use" || kind == "toolCall" {
				t.call(block.Get("id").Str, block.Get("name").Str, firstOf(block, "input", "arguments"))
			}
		}
	}
}

// say adds a message, or a part of an answer, unless text is empty.
func (t *thread) say(role, text string) {
	if text != "" {
		t.messages = append(t.messages, message{Role: role, Content: text, id: t.id})
	}
}

// call adds a tool call as a part of an answer. Arguments that are free text become the field input of an object.
func (t *thread) call(id, name string, arguments gjson.Result) {
	if id == "" || name == "" {
		return
	}
	object := arguments.Str
	if arguments.IsObject() {
		object = arguments.Get("@ugly").Raw
	} else if !gjson.Valid(object) || !gjson.Parse(object).IsObject() {
		text, _ := json.Marshal(map[string]string{"input": arguments.String()}) // never fails for strings
		object = string(text)
	}
	c := call{ID: id, Type: "function"}
	c.Function.Name, c.Function.Arguments = name, object
	t.messages = append(t.messages, message{Role: "assistant", Calls: []call{c}, id: t.id})
}

// result adds the result of a call.
func (t *thread) result(id, text string) {
	t.messages = append(t.messages, message{Role: "tool", Content: text, CallID: id, id: t.id})
}

// end ends a line, so that later lines can rewind to it by its ID.
func (t *thread) end(line string) {
	if line != "" {
		t.places[line] = len(t.messages)
	}
}

// rewind goes back to the end of the line that is the parent of the current one, or to the start if the parent is null,
// and makes a conversation of the messages so far. Without an answer behind the parent there is no branch to leave.
func (t *thread) rewind(parent gjson.Result) {
	to, known := t.places[parent.Str]
	if parent.Exists() && known && to < len(t.messages) && slices.ContainsFunc(t.messages[to:], isAnswer) {
		t.finish()
		t.messages = t.messages[:to:to]
	}
}

// restart makes a conversation of the messages so far and goes on without them, as agents do at a compaction.
func (t *thread) restart() {
	t.finish()
	t.messages, t.places = nil, map[string]int{"": 0}
}

// finish makes a conversation of the messages so far, if they hold a request behind an answer. It returns all
// conversations of the thread.
func (t *thread) finish() [][]byte {
	messages := t.lastRequest()
	if !slices.ContainsFunc(messages, isAnswer) {
		return t.bodies
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	request := struct {
		Model    string    `json:"model,omitempty"`
		Messages []message `json:"messages"`
	}{t.model, messages}
	_ = e.Encode(request) // never fails: it consists of strings
	t.bodies = append(t.bodies, bytes.TrimSpace(body.Bytes()))
	return t.bodies
}

// lastRequest returns the messages of the last request: each answer as one message with the results of its calls behind
// it, no calls without a result, and no answers at the end.
func (t *thread) lastRequest() (messages []message) {
	results := map[string][]message{} // by the ID of the call
	var whole []message               // without the results
	isOpen := false                   // the next message may be a part of the answer that is the last one in whole
	for _, m := range t.messages {
		last := len(whole) - 1
		switch {
		case m.Role == "tool":
			results[m.CallID] = append(results[m.CallID], m)
			isOpen = isOpen && whole[last].id != ""
		case isOpen && isAnswer(m) && whole[last].id == m.id:
			whole[last].Content = strings.Trim(whole[last].Content+"\n"+m.Content, "\n")
			whole[last].Calls = append(whole[last].Calls, m.Calls...)
		default:
			whole, isOpen = append(whole, m), isAnswer(m)
		}
	}
	for _, m := range whole {
		var calls []call
		var answered []message
		for _, c := range m.Calls {
			if waiting := results[c.ID]; len(waiting) > 0 {
				calls, answered = append(calls, c), append(answered, waiting[0])
				results[c.ID] = waiting[1:]
			}
		}
		if m.Calls = calls; m.Content != "" || len(calls) > 0 {
			messages = append(append(messages, m), answered...)
		}
	}
	for len(messages) > 0 && isAnswer(messages[len(messages)-1]) {
		messages = messages[:len(messages)-1]
	}
	return messages
}

func isAnswer(m message) bool { return m.Role == "assistant" }

// textOf returns the text of a content, which is a string or a list of parts. It only names files.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var texts []string
	for _, part := range content.Array() {
		kind := strings.TrimPrefix(part.Get("type").Str, "input_")
		switch text := part.Get("text"); {
		case part.Get("ignored").Bool() || kind == "reasoning":
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
