package replay

import (
	"fmt"
	"time"

	"epitome/bench/policy"
	"epitome/bench/sessions"
	"epitome/bench/strict"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/messages"
	"epitome/rewrite/responses"
)

// The dialects that a conversation is played in.
const (
	AsChat      = "chat"
	AsMessages  = "messages"
	AsResponses = "responses"
)

// client is how the client of a conversation speaks, and what its provider makes of the requests as they come.
type client struct {
	dialect  conversation.Dialect
	as       string       // the dialect, as people name it
	provider strict.Judge // nil for Chat Completions
	before   strict.Judge // the same without the request at hand
	usage    strict.Usage // of the request at hand
	refused  error        // why it is; nil if it is not
	flaws    []error      // of all requests that are refused as they come
}

// record reads a conversation in the dialect that it is played in.
func (r *replayRun) record(in sessions.Conversation) (c *recording, err error) {
	in = in.Asking(r.Clients.Model).Thinking(r.Clients.Thought)
	as := r.Clients.dialectOf(in)
	switch as {
	case AsMessages:
		return r.recordMessages(in)
	case AsResponses:
		c, err = r.recordResponses(&in)
	default:
		c, err = newRecording(chat.Dialect{}, in.Body, r.Unit)
	}
	if err == nil {
		c.name, c.times, c.client.as = in.Name, in.Times, as
	}
	return c, err
}

// recordResponses reads a conversation as one of Responses, which it becomes.
func (r *replayRun) recordResponses(in *sessions.Conversation) (c *recording, err error) {
	if *in, err = in.AsResponses(); err != nil {
		return nil, err
	}
	if c, err = newRecording(responses.Dialect{}, in.Body, r.Unit); err == nil {
		c.client.provider, err = strict.NewResponses(in.Body, c.meter.Text, r.Provider.CacheLife > 0)
	}
	return c, err
}

// recordMessages reads a conversation as one of Messages.
func (r *replayRun) recordMessages(in sessions.Conversation) (c *recording, err error) {
	if in, err = in.AsMessages(); err != nil {
		return nil, err
	}
	meter, err := r.Unit.Meter(in.Model())
	if err != nil {
		return nil, err
	}
	signed := strict.Signed{Body: in.Body}
	if in.Thoughts != nil {
		if signed, err = strict.Sign(in.Body, meter.Text); err != nil {
			return nil, err
		}
	}
	if c, err = newRecording(messages.Dialect{}, signed.Body, r.Unit); err != nil {
		return nil, err
	}
	c.name, c.times, c.client.as = in.Name, in.Times, AsMessages
	c.client.provider = strict.New(signed, meter.Text, r.Provider.CacheLife > 0)
	return c, nil
}

// dialectOf returns what a conversation is played as.
func (c Clients) dialectOf(in sessions.Conversation) string {
	switch {
	case c.Dialect != "":
		return c.Dialect
	case in.Format == sessions.ClaudeCode:
		return AsMessages
	case in.Format == sessions.Codex:
		return AsResponses
	}
	return AsChat
}

// get gives the provider the request at hand as it comes.
func (c *client) get(body []byte, at time.Time) {
	if c.provider == nil {
		return
	}
	c.before = c.provider.Clone()
	c.usage, c.refused = c.provider.Take(body, at)
	if c.refused != nil {
		c.flaws = append(c.flaws, c.refused)
	}
}

// readRequest reads a request for measuring: instructions that stand apart are its first message, as they are in other
// dialects.
func readRequest(d conversation.Dialect, body []byte) (*conversation.Request, error) {
	r, err := d.Read(body, nil)
	if err != nil || r.System.Empty() {
		return r, err
	}
	first := conversation.Item{Span: r.System, Role: conversation.System, Content: r.System, Parts: policy.Prompts(r)}
	r.Items = append([]conversation.Item{first}, r.Items...)
	r.Lead, r.Head = r.Lead+1, r.Head+1
	return r, nil
}

// readItem measures item i of a request that readRequest gave. Instructions that stand apart are counted with what is
// beside the messages.
func readItem(m policy.Meter, r *conversation.Request, i int) policy.Reading {
	x := m.ReadItem(r, i)
	if r.Items[i].Span == r.System {
		x.Tokens = 0
	}
	return x
}

// marked returns the request of Messages that the client sent when the conversation had k messages: the last block has
// a mark for the cache.
func (c *recording) marked(k int) (*conversation.Request, error) {
	items, body := c.request.Items, c.request.Body
	it, last := &items[k-1], items[len(items)-1].Place().End
	cut := make([]byte, 0, len(body))
	if it.Role == conversation.Assistant || it.Span == c.request.System {
		cut = append(cut, body[:it.Place().End]...)
	} else {
		cut = append(append(cut, body[:it.End-1]...), policy.Marker...)
		cut = append(cut, body[it.End-1:it.Place().End]...)
	}
	return readRequest(c.client.dialect, append(cut, body[last:]...))
}

// markedAccount is what a provider that judges has got of a player. It takes ten times as long as all else that is
// measured of a request, so what is only compared with has none.
type markedAccount struct {
	provider strict.Judge // nil as long as all requests were sent as they came
	used     strict.Usage // of the request at hand
	wanted   bool         // of requests that were changed, too
	unknown  bool         // a request was changed, and nobody has looked at it
}

// hand gives the provider what is sent. An error says that it refuses it, and would not have refused what came.
func (p *player) hand(sent, original *conversation.Request, bound int) error {
	c, a := &p.recording.client, &p.account
	if c.provider == nil {
		return nil
	}
	a.unknown = a.unknown || !a.wanted && sent != original
	if a.provider == nil && sent == original || a.unknown {
		a.used = c.usage
		return nil
	}
	if a.provider == nil {
		a.provider = c.before.Clone()
	}
	var refused error
	a.used, refused = a.provider.Take(sent.Body, p.recording.requestTime(bound))
	if err := p.recording.answer(bound, a.provider); err != nil {
		return err
	}
	if refused == nil || c.refused != nil {
		return nil
	}
	return fmt.Errorf("the provider refuses it: %w", refused)
}

// notes tell what is wrong with requests as they came.
func (h heard) notes() (all []string) {
	for _, p := range h.played {
		if len(p.flaws) > 0 {
			all = append(all, fmt.Sprintf("%s: the provider refuses %d requests as they came; the first: %v", p.course.Conversation,
				len(p.flaws), p.flaws[0]))
		}
	}
	return all
}

// answer tells a provider what the model answered at a boundary, as the client has it.
func (c *recording) answer(bound int, p strict.Judge) error {
	var all [][]byte
	thought := false
	for i := c.bounds[bound]; bound+1 < len(c.bounds) && i < c.bounds[bound+1]; i++ {
		if it := &c.request.Items[i]; it.Role == conversation.Assistant {
			all, thought = append(all, it.Of(c.request.Body)), thought || len(it.Thinking) > 0
		}
	}
	if !thought {
		return nil
	}
	return p.Hear(all...)
}
