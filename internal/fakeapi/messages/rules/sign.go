package rules

import (
	"encoding/json"
	"fmt"

	"epitome/internal/fakeapi"
)

// Sign returns a request in which each thinking block is signed as if it had been thought where it stands, by the
// model that the request names, and the ids of the calls whose answers begin with thinking. Keys come out sorted.
func Sign(body []byte, modelOf func(string) Model, count func(string) int) ([]byte, []string, error) {
	q, refused := ReadBeginning(body, modelOf)
	if refused != nil {
		return nil, nil, fmt.Errorf("cannot sign a request: %w", refused)
	}
	list, refused := ReadList(q.Fields["messages"], "messages")
	if refused != nil {
		return nil, nil, fmt.Errorf("cannot sign a request: %w", refused)
	}
	n := notary{q: q, count: count, here: newBond(q)}
	for i := range list {
		if list[i], refused = n.signMessage(i, list[i]); refused != nil {
			return nil, nil, fmt.Errorf("cannot sign a request: %w", refused)
		}
	}
	q.Fields["messages"] = fakeapi.Encode(list)
	return fakeapi.Encode(q.Fields), n.calls, nil
}

// notary signs the messages of one request, in order.
type notary struct {
	q     *Request
	count func(string) int
	here  Bond
	calls []string // whose answers begin with thinking
}

// signMessage signs what was thought in message number i.
func (n *notary) signMessage(i int, raw json.RawMessage) (json.RawMessage, *Refusal) {
	path := fmt.Sprintf("messages.%d", i)
	fields, refused := ReadObject(raw, path)
	if refused != nil {
		return nil, refused
	}
	m := NewMessage(i, fields)
	if _, plain := fakeapi.IsText(fields["content"]); plain {
		n.here.hear(n.q, m, TextBlock(path, fields["content"]))
		return raw, nil
	}
	list, refused := ReadList(fields["content"], path+".content")
	if refused != nil {
		return nil, refused
	}
	s := &Signer{Model: n.q.Name, Answer: fakeapi.Digest(n.here.Before, []byte(path)), Of: thoughts(list)}
	for j := range list {
		if list[j], refused = n.signBlock(m, s, list[j]); refused != nil {
			return nil, refused
		}
	}
	fields["content"] = fakeapi.Encode(list)
	return fakeapi.Encode(fields), nil
}

// thoughts is how many of the blocks are thinking.
func thoughts(list []json.RawMessage) int {
	n := 0
	for _, raw := range list {
		fields, refused := ReadObject(raw, "")
		if refused == nil && IsThinking(&Block{Kind: fields.Text("type")}) {
			n++
		}
	}
	return n
}

// signBlock signs one block of m, if it is thinking, and takes it into the bond.
func (n *notary) signBlock(m *Message, s *Signer, raw json.RawMessage) (json.RawMessage, *Refusal) {
	path := fmt.Sprintf("messages.%d.content", m.Index)
	fields, refused := ReadObject(raw, path)
	if refused != nil {
		return nil, refused
	}
	if kind := fields.Text("type"); IsThinking(&Block{Kind: kind}) {
		s.Here = n.here
		if kind == "thinking" {
			fields["signature"] = fakeapi.Encode(s.Sign(fields.Text("thinking"), n.count(fields.Text("thinking"))))
		} else {
			fields["data"] = fakeapi.Encode(s.Sign("", n.count(fields.Text("data"))))
		}
		n.here = s.Here
		return fakeapi.Encode(fields), nil
	}
	b, refused := ReadBlock(raw, path, m.Place())
	if refused != nil {
		return nil, refused
	}
	n.here.hear(n.q, m, b)
	if s.place > 0 && b.Kind == "tool_use" {
		n.calls = append(n.calls, b.Fields.Text("id"))
	}
	return raw, nil
}
