package daemon

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"epitome/prose"
	"epitome/rewrite"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/span"
)

// leastTurns is how often user and model must have spoken in turn before a session is worth a question, and how much
// oftener before it is worth another one.
const leastTurns = 4

// quietSession is the newest request of a conversation.
type quietSession struct {
	dialect         conversation.Dialect
	body            []byte // a copy
	scope, project  string
	conversation    string // its id
	upstream, model string
	at              time.Time // when it came
}

// quietSessionOf is the session of a request.
func quietSessionOf(in *rewrite.Input, toldSession *rewrite.Report) quietSession {
	return quietSession{
		dialect: in.Dialect, body: bytes.Clone(in.Body), scope: in.Scope, project: toldSession.Project,
		conversation: toldSession.Conversation, upstream: in.Upstream, model: toldSession.Model,
	}
}

// question asks what the session teaches. It is worth asking if there is enough of it. Equal conversations of equal
// length, about, have equal questions, whichever process has seen them: one of them is asked.
func (s *quietSession) question(key string) (q prose.Question, worth bool) {
	r, err := s.dialect.Read(s.body, nil)
	if err != nil {
		return prose.Question{}, false
	}
	entries, turns := toldSession(r)
	if turns < leastTurns {
		return prose.Question{}, false
	}
	ref := decision.RefOf("memory 1", key, s.project, strconv.Itoa(turns/leastTurns))
	return prose.Question{
		Key: string(ref[:]), Conversation: s.conversation, Scope: s.scope, Project: s.project,
		Upstream: s.upstream, Model: s.model, Dialect: s.dialect.Key(), Detail: prose.DetailMemory, Transcript: entries,
	}, true
}

// toldSession is a conversation behind its head as text, and how often user and model speak in it in turn.
func toldSession(r *conversation.Request) (list []prose.Entry, turns int) {
	t := tellingSession{req: r, calls: activity.NewCalls()}
	for i := r.Head; i < len(r.Items); i++ {
		t.add(&r.Items[i])
	}
	return t.list, t.turns
}

// tellingSession is a conversation that is being told.
type tellingSession struct {
	req   *conversation.Request
	calls *activity.Calls
	list  []prose.Entry
	turns int
	group int
}

// add tells one item.
func (t *tellingSession) add(it *conversation.Item) {
	e := prose.Entry{Kind: prose.System, Text: itemText(t.req, it)}
	switch it.Role {
	case conversation.User:
		e.Kind, e.Text = prose.User, conversation.OwnWords(e.Text)
	case conversation.Assistant:
		e.Kind = prose.Assistant
		t.calls.Learn(t.req, it)
	case conversation.Tool:
		source := t.calls.Answered(it)
		e.Kind, e.Tool = prose.Result, source.Tool
		e.State = source.State(source.Exit(it.Content.Of(t.req.Body)))
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
func (t *tellingSession) count(it *conversation.Item) {
	if it.Begins || conversation.Speaks(t.req, it) {
		t.turns++
		t.group++
	}
}

// itemText is all the text of an item.
func itemText(r *conversation.Request, it *conversation.Item) string {
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
