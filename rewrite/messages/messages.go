// Package messages is the dialect of Anthropic Messages.
//
// The names of its JSON stand here and nowhere else: how a request is read and edited, and what a server checks. It
// promises that no byte outside an edit changes, and that what it does not know is never touched.
package messages

import (
	"errors"
	"fmt"
	"strconv"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
	"epitome/tokenize"
)

// Dialect is the dialect of Anthropic Messages. A message of the model is one item, with its calls; one of the user is
// as many as it has results, and one for each run of other blocks between them.
type Dialect struct{}

// Key stands in the keys of decisions.
func (Dialect) Key() string { return "messages" }

// Tools is nil: declarations are counted as they are written.
func (Dialect) Tools([]byte) []tokenize.Tool { return nil }

// Values that are JSON, and not what the API has in their place.
var (
	errNoList    = errors.New("messages is not a list")
	errNoMessage = errors.New("it is not an object")
)

// Read reads a request in one pass. known may have seen the beginning behind its head; nil if nobody has.
func (d Dialect) Read(body []byte, known conversation.Recall) (*conversation.Request, error) {
	rd := reader{req: &conversation.Request{Body: body, Dialect: d, Nested: true}, known: known}
	if err := conversation.ReadBody(rd.req, "messages", rd.readMessages, readSetting); err != nil {
		return nil, err
	}
	r := rd.req
	conversation.MarkEnds(r)
	for i := len(r.Items) - 1; i >= r.Head; i-- {
		if r.Items[i].Compacts {
			r.Upkeep.Fixed = i + 1 - r.Head
			break
		}
	}
	noteSummary(r)
	return r, nil
}

// ReadMessage reads what Message wrote.
func (d Dialect) ReadMessage(message []byte) (*conversation.Request, error) {
	rd := reader{req: &conversation.Request{Body: message, Dialect: d, Nested: true}}
	_, err := rd.readMessage(0, 0)
	return rd.req, err
}

// readSetting takes what stands beside the messages.
func readSetting(r *conversation.Request, key []byte, v span.Span) (err error) {
	switch string(key) {
	case "model":
		r.Model, err = span.ShortText(v.Of(r.Body))
	case "system":
		r.Instructions = span.UnlessNull(r.Body, v)
	case "tools":
		r.Tools = span.UnlessNull(r.Body, v)
	case "tool_choice":
		r.Settings = append(r.Settings, v)
	case "thinking":
		r.Settings = append(r.Settings, v)
		r.ThinksFirst = thinksFirst(r.Body, v)
	case "stream":
		r.Stream = string(v.Of(r.Body)) == "true"
	case "mcp_servers", "container":
		r.Opaque = r.Opaque || !span.UnlessNull(r.Body, v).Empty()
	case "thread", "compaction", "context_management":
		r.Opaque = r.Opaque || string(key) != "context_management" && !span.UnlessNull(r.Body, v).Empty()
		readUpkeep(r, key, v)
	case "max_tokens":
		if n, err := strconv.Atoi(string(v.Of(r.Body))); err == nil {
			r.MaxOutput = n
		}
	}
	return err
}

// thinksFirst reports whether the setting v has the model think before all that it says.
func thinksFirst(body []byte, v span.Span) (first bool) {
	if body[v.Start] != '{' {
		return false
	}
	_, err := span.Members(body, v.Start, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		first = first || err == nil && string(key) == "type" && string(body[i:end]) == `"enabled"`
		return end, err
	})
	return first && err == nil
}

// reader reads the messages of a request.
type reader struct {
	req    *conversation.Request
	known  conversation.Recall // nil if nobody knows the beginning, or as soon as it was asked for
	blocks []block             // of the message that is being read
	answer int                 // the item behind the one at which the last answer begins; 0 if nobody has seen that
}

// readMessages reads the messages, whose list begins at body[i].
func (rd *reader) readMessages(i int) (int, error) {
	if err := span.Want(rd.req.Body, i, '[', errNoList); err != nil {
		return 0, err
	}
	return span.Elements(rd.req.Body, i, rd.readOrRecall)
}

// readOrRecall reads a message; at the first one behind the head it takes all that is known from there on.
func (rd *reader) readOrRecall(i int) (int, error) {
	r := rd.req
	n := len(r.Items)
	end, err := rd.readMessage(i, 0)
	if err != nil || rd.known == nil || r.Items[n].Role == conversation.System {
		return end, err
	}
	known := rd.known
	rd.known = nil
	items, stop := known(r.Body, i, r.Items[:n:n])
	if len(items) <= n {
		return end, nil
	}
	r.Items, rd.answer = items, 0
	last := &items[len(items)-1]
	if stop == last.Place().End {
		return stop, nil
	}
	return rd.readRest(last.Place())
}

// readRest reads the message at place again, of which the last items are known, for what stands behind them.
func (rd *reader) readRest(place span.Span) (end int, err error) {
	r := rd.req
	first := len(r.Items)
	for first > 0 && r.Items[first-1].Outer == place {
		first--
	}
	known := len(r.Items) - first
	end, err = rd.readMessage(place.Start, known)
	if err != nil {
		return 0, err
	}
	for k := range known {
		r.Items[first+k].Outer.End = end
	}
	return end, nil
}

// readMessage reads the message that begins at body[i], and appends its items but for the first skip, which are known.
func (rd *reader) readMessage(i, skip int) (int, error) {
	body := rd.req.Body
	if err := conversation.CheckRoom(rd.req); err != nil {
		return 0, err
	}
	if err := span.Want(body, i, '{', errNoMessage); err != nil {
		return 0, fmt.Errorf("message %d: %w", len(rd.req.Items), err)
	}
	m := message{}
	rd.blocks = rd.blocks[:0]
	end, err := span.Members(body, i, func(key []byte, i int) (int, error) {
		if string(key) == "content" && body[i] == '[' {
			end, err := rd.readBlocks(i)
			m.content = span.Span{Start: i, End: end}
			return end, err
		}
		end, err := span.EndOfValue(body, i)
		switch string(key) {
		case "role":
			m.role = roleOf(body[i:max(i, end)])
		case "content":
			m.content = span.UnlessNull(body, span.Span{Start: i, End: max(i, end)})
		}
		return end, err
	})
	if err != nil {
		return 0, fmt.Errorf("message %d: %w", len(rd.req.Items), err)
	}
	m.Span = span.Span{Start: i, End: end}
	items := rd.itemsOf(&m)
	if skip > len(items) || skip > 0 && items[skip-1].Role != conversation.Tool {
		return 0, conversation.ErrMoved
	}
	for _, it := range items[skip:] {
		rd.add(it)
	}
	return end, nil
}

// readBlocks reads the blocks of the list that begins at body[i].
func (rd *reader) readBlocks(i int) (int, error) {
	return span.Elements(rd.req.Body, i, func(i int) (int, error) {
		b, err := readBlock(rd.req.Body, i)
		rd.blocks, rd.req.Marks = append(rd.blocks, b), append(rd.req.Marks, b.marks...)
		return b.End, err
	})
}

// roleOf reads a role with its quotes.
func roleOf(role []byte) conversation.Role {
	switch string(role) {
	case `"system"`:
		return conversation.System
	case `"user"`:
		return conversation.User
	case `"assistant"`:
		return conversation.Assistant
	}
	return conversation.Unknown
}
