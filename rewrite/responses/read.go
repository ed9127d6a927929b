// Package responses is the dialect of OpenAI Responses. The names of its JSON appear here and nowhere else.
//
// An edit changes no byte outside of its span, an entry of an unknown type is never changed, and encrypted content is
// never read.
package responses

import (
	"bytes"
	"strconv"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// Dialect implements conversation.Dialect, proxy.Dialect and summarize.Dialect. An item is one entry of input, but for
// an answer of the model: its run of reasoning, messages and calls is one item, as they come and go together.
type Dialect struct{}

func (Dialect) Name() string { return "responses" }

// Read parses a body.
func (d Dialect) Read(body []byte, known *conversation.Request) (*conversation.Request, error) {
	r := &conversation.Request{Body: body, Dialect: d}
	rd := reader{request: r}
	readList := func(start int) (int, error) { return rd.readInput(start, known) }
	if err := conversation.ReadBody(r, "input", readList, rd.readSetting); err != nil {
		return nil, err
	}
	return r, nil
}

// reader reads one request.
type reader struct {
	request *conversation.Request
	run     []entry // entries of the answer that is being read
}

func (rd *reader) readSetting(key []byte, v jsonspan.Span) error {
	r := rd.request
	switch string(key) {
	case "instructions":
		r.System, r.Prompts = v, []jsonspan.Span{v}
	case "reasoning":
		r.Settings = append(r.Settings, v)
	case "max_output_tokens":
		r.MaxOutput, _ = strconv.Atoi(string(v.Of(r.Body))) // 0 if it is no number
	case "previous_response_id", "conversation", "prompt":
		if r.ServerState.Empty() || string(key) != "prompt" {
			r.ServerState = v
		}
		if r.Upkeep != conversation.ClientSummarizes {
			r.Upkeep = conversation.ProviderRemembers
		}
	case "context_management":
		if r.Upkeep == conversation.NobodyElse && jsonspan.HasElements(r.Body, v) {
			r.Upkeep = conversation.ProviderClears
		}
	case "truncation":
		r.Truncates = string(v.Of(r.Body)) == `"auto"`
	case "client_metadata":
		if bytes.Contains(v.Of(r.Body), []byte(`\"request_kind\":\"compaction\"`)) { // Codex
			r.Upkeep = conversation.ClientSummarizes
		}
	}
	return nil
}

// readInput reads the input that begins at start: a list of entries, or a text of the user's, which never changes.
func (rd *reader) readInput(start int, known *conversation.Request) (end int, err error) {
	r := rd.request
	if r.Body[start] != '"' {
		end, err = r.ReadList(known, start, rd.readEntry)
		rd.endRun()
		return end, err
	}
	if end, err = jsonspan.EndOfString(r.Body, start); err != nil {
		return 0, err
	}
	text := jsonspan.Span{Start: start, End: end}
	it := conversation.Item{Span: text, Role: conversation.User, Locked: true}
	addContent(r.Body, &it, text)
	r.Items = append(r.Items, it)
	return end, nil
}

func (rd *reader) readEntry(i int) (int, error) {
	r := rd.request
	e, err := readEntry(r.Body, i)
	if err != nil {
		return 0, err
	}
	if e.isModels() || e.kind == unknownEntry { // which may be a part of an answer
		rd.run = append(rd.run, e)
		return e.End, nil
	}
	rd.endRun()
	it := conversation.Item{
		Span: e.Span, Role: e.role, Locked: e.role == conversation.Unknown, Pinned: e.pinned,
	}
	switch e.kind {
	case messageEntry:
		it.Content = e.value
	case outputEntry:
		it.Name, it.Answers, it.IsError = e.tool, e.callID, e.isFailed
		if !e.fixed {
			it.Content = e.value
		}
	case compactionEntry:
		it.Compaction = true
	case triggerEntry:
		r.Upkeep = conversation.ClientSummarizes
	case toolsEntry:
		it.Locked = true
	}
	e.addParts(r.Body, &it)
	r.Items = append(r.Items, it)
	return e.End, nil
}

// endRun makes an item of the entries of an answer. Unknown entries alone are no answer.
func (rd *reader) endRun() {
	if len(rd.run) == 0 {
		return
	}
	body, first := rd.request.Body, &rd.run[0]
	it := conversation.Item{Span: jsonspan.Span{Start: first.Start, End: rd.run[len(rd.run)-1].End}}
	messages := 0
	for k := range rd.run {
		e := &rd.run[k]
		if e.isModels() {
			it.Role, it.StartsAnswer = conversation.Assistant, !first.isInner
		}
		it.Pinned = it.Pinned || e.pinned || e.isAsync
		e.addParts(body, &it)
		switch e.kind {
		case messageEntry:
			if messages++; messages == 1 {
				it.Content = e.value
			} else {
				it.Content = jsonspan.Span{} // no text can stand in the place of several messages
			}
		case callEntry:
			it.Calls = append(it.Calls, conversation.Call{
				ID: e.callID, Name: e.tool, Arguments: e.value, FreeText: e.freeText, Fixed: e.fixed,
			})
		case unknownEntry:
			it.Locked = true
		}
	}
	rd.run = rd.run[:0]
	rd.request.Items = append(rd.request.Items, it)
}
