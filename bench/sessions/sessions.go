// Package sessions reads conversations from the logs that agents keep of their sessions, and from files of requests.
//
// Each conversation becomes a Chat Completions request: the last one that its client would have sent. Requests in a
// file stay as they are, byte for byte. Requests made from an agent's log are valid: each result follows the message of
// its call. They lack images, the model's reasoning, calls without a result and answers that no request followed.
package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Conversation is one recorded conversation.
type Conversation struct {
	Name string // path of the log, with a number from its second conversation on
	Body []byte // the last request, in Chat Completions
}

// Find returns the logs at paths, sorted: files as given, and all files below folders that end in .json, .jsonl or
// .ndjson. skipped has a line for each path that cannot be read and for each without a log.
func Find(paths []string) (files, skipped []string) {
	for _, path := range paths {
		before := len(files) + len(skipped)
		visit := func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				skipped = append(skipped, err.Error())
			case entry.IsDir():
			case file == path || slices.Contains([]string{".json", ".jsonl", ".ndjson"}, filepath.Ext(file)):
				files = append(files, filepath.Clean(file))
			}
			return nil
		}
		_ = filepath.WalkDir(path, visit) // returns only errors of visit
		if len(files)+len(skipped) == before {
			skipped = append(skipped, fmt.Sprintf("cannot replay %s: it has no logs", path))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), skipped
}

// Read returns the conversations of the log at path. skipped is a line about the parts of the log that cannot be read;
// it is empty if there are none.
func Read(path string) (conversations []Conversation, skipped string) {
	log, err := os.ReadFile(path)
	if err != nil {
		return nil, err.Error()
	}
	bodies, problems := parse(log)
	for i, body := range bodies {
		name := path
		if i > 0 {
			name = fmt.Sprintf("%s, %d", path, i+1)
		}
		conversations = append(conversations, Conversation{name, body})
	}
	const maxShown = 3
	if more := len(problems) - maxShown; more > 0 {
		problems = append(problems[:maxShown], fmt.Sprintf("and %d more", more))
	}
	switch {
	case len(bodies) == 0:
		problems = append([]string{"it has no conversation in a known format"}, problems...)
		return nil, fmt.Sprintf("cannot replay %s: %s", path, strings.Join(problems, "; "))
	case len(problems) > 0:
		return conversations, fmt.Sprintf("left out of %s: %s", path, strings.Join(problems, "; "))
	}
	return conversations, ""
}

// parse returns the last request of each conversation in a log, which is one JSON document or has one on each line. It
// recognizes the format by the first document that only one format has.
func parse(log []byte) (bodies [][]byte, problems []string) {
	documents, problems := documentsIn(log)
	for i, d := range documents {
		kind := d.Get("type").Str
		switch {
		case d.Get("messages.0.parts").IsArray():
			return readOpenCode(d), problems
		case d.Get("messages.0.role").Exists() && !d.Get("system").Exists(): // requests in Messages have a key system
			bodies, invalid := readRequests(documents[i:])
			return bodies, append(problems, invalid...)
		case d.Get("payload").IsObject():
			return readCodex(documents[i:]), problems
		case kind == "session" || kind == "message":
			return readPi(documents[i:]), problems
		case (kind == "user" || kind == "assistant") && d.Get("message").IsObject():
			return readClaudeCode(documents[i:]), problems
		}
	}
	return nil, problems
}

// documentsIn returns the JSON documents in a log, and a problem for each line that is not JSON.
func documentsIn(log []byte) (documents []gjson.Result, problems []string) {
	if json.Valid(log) {
		return []gjson.Result{gjson.ParseBytes(log)}, nil
	}
	number := 0
	for line := range bytes.Lines(log) {
		number++
		switch {
		case json.Valid(line):
			documents = append(documents, gjson.ParseBytes(line))
		case len(bytes.TrimSpace(line)) > 0:
			problems = append(problems, fmt.Sprintf("line %d is not JSON", number))
		}
	}
	return documents, problems
}
