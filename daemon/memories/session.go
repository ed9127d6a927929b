package memories

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"epitome/prose"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/span"
)

// leastTurns is how often user and model must have spoken in turn before a session is worth a question, and how much
// oftener before it is worth another one.
const leastTurns = 4

// session is the newest request of a conversation.
type session struct {
	dialect         conversation.Dialect
	body            []byte // a copy
	scope, project  string
	conversation    string // its id
	upstream, model string
	at              time.Time // when it came
}

// sessionOf is the session of a request.
func sessionOf(in *rewrite.Input, told *rewrite.Report) session {
	return session{
		dialect: in.Dialect, body: bytes.Clone(in.Body), scope: in.Scope, project: told.Project,
		conversation: told.Conversation, upstream: in.Upstream, model: told.Model,
	}
}

// question asks what the session teaches. It is worth asking if there is enough of it. Equal conversations of equal
// length, about, have equal questions, whichever process has seen them: one of them is asked.
func (s *session) question(key string) (q prose.Question, worth bool) {
	r, err := s.dialect.Read(s.body, nil)
	if err != nil {
		return prose.Question{}, false
	}
	entries, turns := told(r)
	if turns < leastTurns {
		return prose.Question{}, false
	}
	ref := decision.RefOf("memory 1", key, s.project, strconv.Itoa(turns/leastTurns))
	return prose.Question{
		Key: string(ref[:]), Conversation: s.conversation, Scope: s.scope, Project: s.project,
		Upstream: s.upstream, Model: s.model, Dialect: s.dialect.Key(), Detail: prose.DetailMemory, Transcript: entries,
	}, true
}

// told is a conversation behind its head as text, and how often user and model speak in it in turn.
func told(r *conversation.Request) (list []prose.Entry, turns int) {
	t := telling{req: r, calls: action.NewCalls()}
	for i := r.Head; i < len(r.Items); i++ {
		t.add(&r.Items[i])
	}
	return t.list, t.turns
}

// telling is a conversation that is being told.
type telling struct {
	req   *conversation.Request
	calls *action.Calls
	list  []prose.Entry
	turns int
	group int
}

// add tells one item.
func (t *telling) add(it *conversation.Item) {
	e := prose.Entry{Kind: prose.System, Text: textOf(t.req, it)}
	switch it.Role {
	case conversation.User:
		e.Kind, e.Text = prose.User, conversation.OwnWords(e.Text)
	case conversation.Assistant:
		e.Kind = prose.Assistant
		t.calls.Learn(t.req, it)
	case conversation.Tool:
		source := t.calls.SourceOf(it)
		e.Kind, e.Tool = prose.Result, source.Name
		e.State = ending.StateOf(&source, it.Content.Of(t.req.Body), e.Text)
	}
	t.count(it)
	e.Group = t.group
	if e.Text != "" || it.Role == conversation.Tool {
		t.list = append(t.list, e)
	}
	for _, c := range it.Calls {
		text := string(c.ArgumentsIn(t.req.Body))
		t.list = append(t.list, prose.Entry{Group: t.group, Kind: prose.Call, Tool: c.Name, Text: text})
	}
}

// count counts answers of the model and messages of the user. Each of them begins a group.
func (t *telling) count(it *conversation.Item) {
	if it.Begins || conversation.Speaks(t.req, it) {
		t.turns++
		t.group++
	}
}

// textOf is all the text of an item.
func textOf(r *conversation.Request, it *conversation.Item) string {
	parts, err := r.Parts(it)
	if err != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Kind == conversation.TextPart {
			texts = append(texts, string(span.TextOf(p.Value.Of(r.Body))))
		}
	}
	return strings.Join(texts, "\n")
}
