package replay

import (
	"errors"
	"time"

	"github.com/tidwall/gjson"

	"epitome/bench/policy"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// recording is a conversation as it was recorded: the last request of it, which holds all before.
type recording struct {
	name     string
	request  *conversation.Request
	messages []*message
	byRaw    map[string]*message
	meter    policy.Meter
	lines    lineIndex
	results  map[int]*result // by their place among the messages
	fixed    int             // tokens beside the messages
	bounds   []int           // the requests: bounds[b] messages each, in order
	needs    [][]need
	times    []time.Time // of the messages; zero where unknown, nil: all are
	client   client
}

// message is one message, read for measuring.
type message struct {
	policy.Reading
	raw  string // its bytes without marks for the cache, which move from one message to the next
	role conversation.Role
	// origin is its place among the client's messages, the first of those that are equal; -1: it is none of them.
	origin int
	// artifacts are the names in a message that is none of the client's.
	artifacts []string
	// kept are the lines of such a message that one of the client's has word for word.
	kept string
}

// newRecording reads a conversation and what its answers need. Tokens are in the unit.
func newRecording(d conversation.Dialect, body []byte, unit policy.Unit) (*recording, error) {
	request, err := readRequest(d, body)
	if err != nil {
		return nil, err
	}
	if !gjson.ValidBytes(body) {
		return nil, errors.New("the body is not JSON")
	}
	if len(request.Items) == 0 {
		return nil, errors.New("it has no messages")
	}
	meter, err := unit.Meter(request.Model)
	if err != nil {
		return nil, err
	}
	c := &recording{request: request, byRaw: make(map[string]*message), meter: meter, fixed: meter.Fixed(request)}
	c.client.dialect = d
	for i, it := range request.Items {
		m := c.byRaw[string(policy.Bare(it.Of(body)))]
		if m == nil {
			m = c.readMessage(request, i)
			m.origin = i
			c.byRaw[m.raw] = m
		}
		c.messages = append(c.messages, m)
		if it.StartsAnswer && i > 0 {
			c.bounds = append(c.bounds, i)
		}
	}
	c.bounds = append(c.bounds, len(c.messages))
	c.needs, c.lines, c.results = needsOf(c), newLineIndex(c.messages), resultsOf(c)
	return c, nil
}

// pause returns the time between a request and the one before; known is false where the log does not say, and of the
// first one. A request is made when the last of its new messages has come.
func (c *recording) pause(bound int) (d time.Duration, known bool) {
	if bound == 0 {
		return 0, false
	}
	now, before := c.requestTime(bound), c.requestTime(bound-1)
	if now.IsZero() || before.IsZero() {
		return 0, false
	}
	return now.Sub(before), true
}

// requestTime returns when a request was made; zero where the log does not say.
func (c *recording) requestTime(bound int) (at time.Time) {
	if len(c.times) != len(c.messages) {
		return at
	}
	start := 0
	if bound > 0 {
		start = c.bounds[bound-1]
	}
	for _, t := range c.times[start:c.bounds[bound]] {
		if t.After(at) {
			at = t
		}
	}
	return at
}

// prefix returns the request that the client sent when the conversation had k messages, to the byte like the recorded
// one but for the messages that came later.
func (c *recording) prefix(k int) (*conversation.Request, error) {
	if c.client.as == AsMessages {
		return c.marked(k)
	}
	items, body := c.request.Items, c.request.Body
	last := items[len(items)-1]
	cut := make([]byte, 0, len(body)-(last.End-items[k-1].End))
	cut = append(append(cut, body[:items[k-1].End]...), body[last.End:]...)
	r := *c.request
	r.Body, r.Items = cut, items[:k]
	if shift := last.End - items[k-1].End; r.Tools.Start >= last.End {
		r.Tools = jsonspan.Span{Start: r.Tools.Start - shift, End: r.Tools.End - shift}
	}
	return &r, nil
}

// readMessage reads item i of a request; it is none of the client's until it is found to be.
func (c *recording) readMessage(r *conversation.Request, i int) *message {
	it := &r.Items[i]
	raw := string(policy.Bare(it.Of(r.Body)))
	return &message{Reading: readItem(c.meter, r, i), raw: raw, role: it.Role, origin: -1}
}

// holds reports whether the message holds the name, in its text or its calls.
func (m *message) holds(n policy.Name) bool { return n.In(m.Text) || n.In(m.Args) }
