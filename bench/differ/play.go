package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/bench/sessions"
)

// chatPath is where a conversation is sent.
const chatPath = "/v1/chat/completions"

// play is what one client sends, in order.
type play struct {
	name     string
	requests []request
	left     int    // requests of the conversation that are not sent
	settings string // name of the configuration, where plays have several
}

// request is one request of a play. Its body is made when it is needed: all bodies together are far larger than the
// conversation.
type request struct {
	path   string
	header http.Header
	body   func() []byte
}

// plays returns all that is to be played, in an order that depends on the options alone. notes say what was left out.
func plays(o options) (all []play, notes []string, err error) {
	add := func(c sessions.Conversation) error {
		p, err := conversation(c, o.turns)
		if err != nil {
			return fmt.Errorf("cannot play %s: %w", c.Name, err)
		}
		all = append(all, p)
		return nil
	}
	if o.corpus != "" {
		if notes, err = readCorpus(o.corpus, add); err != nil {
			return nil, nil, err
		}
	}
	for i := range o.sessions {
		if err := sessions.Make(o.seed, i, add); err != nil {
			return nil, nil, err
		}
	}
	if o.clients != "" {
		recorded, err := readClients(o.clients)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read the requests of clients in %s: %w", o.clients, err)
		}
		all = append(all, recorded...)
	}
	if len(all) == 0 {
		return nil, nil, errors.New("cannot compare: there is nothing to play; give --corpus, --clients or --sessions")
	}
	return all, notes, nil
}

// readCorpus calls add with each conversation in the folder.
func readCorpus(folder string, add func(sessions.Conversation) error) (notes []string, err error) {
	files, left := sessions.Find([]string{folder})
	notes = left
	for _, file := range files {
		left, err := sessions.Read(file, add)
		if err != nil {
			return nil, err
		}
		if left != "" {
			notes = append(notes, file+": "+left)
		}
	}
	return notes, nil
}

// conversation makes a play of a conversation's last request: one request wherever the assistant has answered, and the
// last one. Of more than most requests, most are chosen evenly, the last one among them; 0 chooses all.
func conversation(c sessions.Conversation, most int) (play, error) {
	messages := gjson.GetBytes(c.Body, "messages")
	if !messages.IsArray() || messages.Index == 0 {
		return play{}, errors.New("it has no messages")
	}
	var ends []int // offsets behind the messages of each request
	end := 0
	for i, m := range messages.Array() {
		if i > 0 && m.Get("role").Str == "assistant" {
			ends = append(ends, end)
		}
		end = m.Index + len(m.Raw)
	}
	if end == 0 {
		return play{}, errors.New("it has no messages")
	}
	ends = append(ends, end)
	p := play{name: filepath.Base(c.Name)}
	chosen := evenly(ends, most)
	p.left = len(ends) - len(chosen)
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"differ"}}
	for _, to := range chosen {
		p.requests = append(p.requests, request{path: chatPath, header: header, body: func() []byte {
			return slices.Concat(c.Body[:to], c.Body[end:])
		}})
	}
	return p, nil
}

// evenly chooses at most most of the offsets, the last one among them; 0 chooses all.
func evenly(offsets []int, most int) []int {
	if most <= 0 || len(offsets) <= most {
		return offsets
	}
	chosen := make([]int, 0, most)
	for i := range most {
		chosen = append(chosen, offsets[(i+1)*len(offsets)/most-1])
	}
	return chosen
}

// headEnding is how the file's name ends that has a client's path and headers.
const headEnding = "-headers.json"

// clientHead is what such a file holds.
type clientHead struct {
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
}

// readClients makes a play of each client: its requests are sent as they are.
func readClients(folder string) (all []play, err error) {
	heads, err := filepath.Glob(filepath.Join(folder, "*"+headEnding))
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	prefixes := make([]string, len(heads))
	for i, head := range heads {
		prefixes[i] = strings.TrimSuffix(head, "headers.json")
	}
	for i, head := range heads {
		p := play{name: "client " + strings.TrimSuffix(filepath.Base(head), headEnding)}
		own := func(file string) bool { return file != head && longestPrefix(file, prefixes) == prefixes[i] }
		if p.requests, err = clientRequests(head, filtered(files, own)); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// filtered returns the files for which wanted says so.
func filtered(files []string, wanted func(file string) bool) (some []string) {
	for _, file := range files {
		if wanted(file) {
			some = append(some, file)
		}
	}
	return some
}

// longestPrefix returns the client that a file belongs to: one client's name may begin with another's.
func longestPrefix(file string, prefixes []string) (longest string) {
	for _, p := range prefixes {
		if strings.HasPrefix(file, p) && len(p) > len(longest) {
			longest = p
		}
	}
	return longest
}

// clientRequests reads the requests that are sent with one head.
func clientRequests(head string, files []string) (all []request, err error) {
	text, err := os.ReadFile(head)
	if err != nil {
		return nil, err
	}
	var h clientHead
	if err := json.Unmarshal(text, &h); err != nil || !strings.HasPrefix(h.Path, "/") {
		return nil, fmt.Errorf("%s has no path and headers: %w", head, errors.Join(err))
	}
	header := http.Header{}
	for name, value := range h.Headers {
		switch strings.ToLower(name) {
		case "host", "content-length", "connection", "transfer-encoding", "authorization":
		default:
			header.Set(name, value)
		}
	}
	for _, file := range files {
		if strings.HasSuffix(file, headEnding) {
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, request{path: h.Path, header: header, body: func() []byte { return body }})
	}
	return all, nil
}
