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
