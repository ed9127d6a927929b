// Package responses is the dialect of OpenAI Responses.
//
// The names of its JSON stand here and nowhere else: how a request is read and edited, and what a server checks. It
// promises that no byte outside an edit changes, that what it does not know is never touched, and that what is sealed
// is never opened.
package responses

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Dialect is the dialect of OpenAI Responses. What the model says at once, with what it thought and calls, is one item,
// though the API has it as several: they come and go together. All else is an item as the API has it.
type Dialect struct{}

// Key stands in the keys of decisions.
func (Dialect) Key() string { return "responses" }

// Values that are JSON, and not what the API has in their place.
var (
	errNoInput = errors.New("input is neither a text nor a list")
	errNoItem  = errors.New("it is not an object")
)

// Read reads a request in one pass. known may have seen the beginning behind its head; nil if nobody has.
func (d Dialect) Read(body []byte, known conversation.Recall) (*conversation.Request, error) {
	rd := reader{req: &conversation.Request{Body: body, Dialect: d, Nested: true}, known: known}
	if err := conversation.ReadBody(rd.req, "input", rd.readInput, readSetting); err != nil {
		return nil, err
	}
	rd.flush()
	finish(rd.req)
	return rd.req, nil
}

// ReadMessage reads what Message wrote.
func (d Dialect) ReadMessage(message []byte) (*conversation.Request, error) {
	rd := reader{req: &conversation.Request{Body: message, Dialect: d, Nested: true}}
	_, err := rd.readOrRecall(0)
	rd.flush()
	return rd.req, err
}

// readSetting takes what stands beside the input.
func readSetting(r *conversation.Request, key []byte, v span.Span) (err error) {
	switch string(key) {
	case "model":
		r.Model, err = span.ShortText(v.Of(r.Body))
	case "instructions":
		r.Instructions = span.UnlessNull(r.Body, v)
	case "tools":
		r.Tools = span.UnlessNull(r.Body, v)
	case "tool_choice", "reasoning":
		r.Settings = append(r.Settings, v)
	case "stream":
		r.Stream = string(v.Of(r.Body)) == "true"
	case "max_output_tokens":
		if n, err := strconv.Atoi(string(v.Of(r.Body))); err == nil {
			r.MaxOutput = n
		}
	default:
		readUpkeep(r, key, v)
	}
	return err
}

// reader reads the input of a request.
type reader struct {
	req      *conversation.Request
	known    conversation.Recall // nil if nobody knows the beginning, or as soon as it was asked for
	recalled int                 // items that were known
	ids      *ids                // nil as long as nobody asked
	run      []entry             // of the model, that follow one another and are no item yet
}

// readInput reads the input that begins at body[i]. A text is all that the user says, and stays as it is.
func (rd *reader) readInput(i int) (int, error) {
	r := rd.req
	switch r.Body[i] {
	case '[':
		return span.Elements(r.Body, i, rd.readOrRecall)
	case '"':
		end, err := span.EndOfString(r.Body, i)
		at := span.Span{Start: i, End: max(i, end)}
		r.Items = append(r.Items, conversation.Item{
			Span: at, Role: conversation.User, Content: at, Pinned: true, Locked: true})
		return end, err
	}
	return 0, errNoInput
}

// readOrRecall reads an entry; at the first one behind the head it takes all that is known from there on.
func (rd *reader) readOrRecall(i int) (int, error) {
	r := rd.req
	if err := conversation.CheckRoom(r); err != nil {
		return 0, err
	}
	if err := span.Want(r.Body, i, '{', errNoItem); err != nil {
		return 0, fmt.Errorf("item %d: %w", len(r.Items)+len(rd.run), err)
	}
	e, err := readEntry(r.Body, i)
	if err != nil {
		return 0, fmt.Errorf("item %d: %w", len(r.Items)+len(rd.run), err)
	}
	if known, n := rd.known, len(r.Items); known != nil && e.role != conversation.System {
		rd.known = nil
		if items, stop := known(r.Body, i, r.Items[:n:n]); len(items) > n {
			r.Items, rd.recalled = items, len(items)
			return stop, nil
		}
	}
	return e.End, rd.take(e)
}

// finish sees to what only all items together tell.
func finish(r *conversation.Request) {
	conversation.MarkEnds(r)
	n := len(r.Items)
	for i := n - 1; i >= r.Head; i-- {
		if r.Items[i].Compacts {
			r.Upkeep.Fixed, r.Upkeep.Live = i+1-r.Head, !slices.ContainsFunc(r.Items[r.Head:i], isWork)
			break
		}
	}
	noteReferences(r)
	noteSummary(r)
	notePreface(r)
}

// isWork reports whether an item is what a provider's compaction would have left out: what stands before one without it
// is what that has kept.
func isWork(it conversation.Item) bool {
	return it.Role == conversation.Assistant || it.Role == conversation.Tool
}
