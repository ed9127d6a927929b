package conversation

import (
	"bytes"
	_ "embed" // apis.toml
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/internal/jsonspan"
)

//go:embed apis.toml
var apisText string

// APIs are the APIs of apis.toml by their names.
var APIs = func() (all map[string]*API) {
	text := toml.NewDecoder(strings.NewReader(apisText)).DisallowUnknownFields()
	if err := text.Decode(&all); err != nil {
		panic(err) // the file is a part of the program
	}
	for name, api := range all {
		api.Name = name
	}
	return all
}()

// API is what differs between APIs and is no more than data: paths, headers, limits, and the JSON of texts that epitome
// adds. In the forms, %s stands for a JSON value, or for a role.
type API struct {
	Name        string   // "chat", "messages" or "responses"; never changes, as keys of recorded decisions contain it
	Upstream    string   // name of the upstream in config.toml to which its clients are sent; empty for the default
	List        string   // key of the conversation in a body
	SystemField string   // key of the system prompt in a body; empty if it is a message of the SystemRole
	SystemRole  string   //
	Fields      []string // paths of gjson to fields of which a body of this API has one; see dialect.Of

	Path       string // where the API takes the requests that epitome makes itself
	PathEnd    string // ends the path of a request for an answer; servers put paths of their own before it
	CountEnd   string // the same of a request for the size of a conversation; empty if the API has none
	CompactEnd string // the same of a request that has the provider compact a conversation

	Headers       [][2]string // of a request with a key, which stands behind the first value
	VersionHeader string      // of all requests of clients, in lower case; empty if there is none
	MaxPictures   int         // that a request may have
	MaxImageBytes int         // of all its pictures

	KeepsPart  bool // a text is replaced within its part, which keeps its cache mark; else a string replaces all content
	SystemAsks bool // no message of the user may follow one of the system behind the head
	HasBlocks  bool // a string takes the place of a text alone: calls and thinking stand in the content, too

	PromptForm     string // of a request without messages: the model and the system prompt
	TextForm       string // of a text, as an element of a user's content or a result's
	MessageForm    string // of a message: its role and its text
	ResultForm     string // of a result: the ID of the call and the text
	FreeResultForm string // of a result of a tool that takes any text, where it differs
	NameResultForm string // of a result that has the tool's name in the place of an ID
	ResultsForm    string // of all results of an answer, as elements of the list

	NoTools [][2]string // paths of gjson to tools, each with the setting that lets the model call none of them
	Dropped []string    // settings that keep an answer from being one plain text, or were made for another answer
}

// Serves reports whether a request with a body and that path, as the upstream gets it, holds a conversation.
func (a *API) Serves(path []byte) bool { return endsWith(path, a.PathEnd) }

// Counts reports whether a request with that path asks how many tokens a conversation has, and no more.
func (a *API) Counts(path []byte) bool { return endsWith(path, a.CountEnd) }

// Compacts reports whether a request with that path has the provider compact a conversation. It is sent, like one that
// Counts, in the form that was decided before: both are about that form, and nothing new is decided.
func (a *API) Compacts(path []byte) bool { return endsWith(path, a.CompactEnd) }

func endsWith(path []byte, end string) bool { return end != "" && bytes.HasSuffix(path, []byte(end)) }

// MeantPath returns the path with the version of the API, for a request of a client that leaves the version to the base
// URL; nil for any other request. has reports whether the request has a header, named in lower case: that of the API's
// version shows that the client speaks this API, as the path alone may be another one's.
func (a *API) MeantPath(path []byte, has func(header string) bool) []byte {
	meant := "/v1" + string(path)
	isOfAPI := meant == a.PathEnd || meant == a.CountEnd
	if !isOfAPI || a.VersionHeader == "" || !has(a.VersionHeader) {
		return nil
	}
	return []byte(meant)
}

// Authorize returns the headers of a request with a key.
func (a *API) Authorize(key string) (headers [][2]string) {
	headers = slices.Clone(a.Headers)
	headers[0][1] += key
	return headers
}

// TextPart returns the JSON of a text as an element of a user's content or a result's.
func (a *API) TextPart(text string) []byte {
	return fmt.Appendf(nil, a.TextForm, jsonspan.Quoted(text))
}

// Message returns the JSON of a message, as an element of the list of items.
func (a *API) Message(role, text string) []byte {
	return fmt.Appendf(nil, a.MessageForm, role, jsonspan.Quoted(text))
}

// Ask returns body with a message at the end of its list, asked for in a form: see Plain.
func (a *API) Ask(body, message []byte, f answer.Form) ([]byte, error) {
	if !jsonspan.Valid(body) || !gjson.GetBytes(body, a.List).IsArray() {
		return nil, errors.New("the body is no object with a list of " + a.List)
	}
	body = jsonspan.Set(body, a.List+".-1", string(message)) // -1 appends
	return a.Plain(body, f), nil
}

// Prompt returns a request of its own for one plain text: a system prompt and a message of the user.
func Prompt(d Dialect, model, system, user string, f answer.Form) []byte {
	start := fmt.Appendf(nil, d.API().PromptForm, jsonspan.Quoted(model), jsonspan.Quoted(system))
	body, _ := d.Continue(start, user, f) // it has a list
	return body
}

// Plain returns body without the settings that are Dropped, and so that no tool is called. It is streamed only if the
// form says so.
func (a *API) Plain(body []byte, f answer.Form) []byte {
	body = jsonspan.Delete(jsonspan.Delete(body, "stream"), a.Dropped...)
	if f.Stream {
		body = jsonspan.Set(body, "stream", "true")
	}
	for _, tools := range a.NoTools { // without tools, servers may refuse a choice
		if gjson.GetBytes(body, tools[0]).Exists() {
			body = jsonspan.Set(body, tools[1], `"none"`)
		}
	}
	return body
}

// Result is a text to be sent as the result of a call.
type Result struct {
	*Call
	Text string
}

// AddResults returns the edit that adds results of item i's calls behind it. They join the user's next message where
// the API has results in it, unless they are to be apart.
func (r *Request) AddResults(i int, results []Result, apart bool) jsonspan.Edit {
	api := r.Dialect.API()
	var list []string
	for _, result := range results {
		form := api.ResultForm
		if result.FreeText && api.FreeResultForm != "" {
			form = api.FreeResultForm
		}
		if result.ByName {
			form = api.NameResultForm
		}
		list = append(list, fmt.Sprintf(form, jsonspan.Quoted(result.ID), jsonspan.Quoted(result.Text)))
	}
	all := strings.Join(list, ",")
	if i+1 < len(r.Items) && !r.Items[i+1].Message.Empty() && !apart {
		return jsonspan.Insert(r.Items[i+1].Start, all+",")
	}
	return jsonspan.Insert(r.Items[i].End, ","+fmt.Sprintf(api.ResultsForm, all))
}

// Append returns the edit that adds text behind the content of an item; false if the item can take no text. The text is a
// part of its own if the content is a list, and where the API has cache marks, which only a part can have.
func (r *Request) Append(it *Item, text string) (e jsonspan.Edit, ok bool) {
	end := it.Content.End
	part := "," + string(r.Dialect.API().TextPart(text))
	switch {
	case it.Locked, it.Content.Empty():
		return e, false
	case jsonspan.IsText(r.Body, it.Content) && r.Dialect.API().HasBlocks && it.Role == User:
		first := fmt.Appendf(nil, r.Dialect.API().TextForm, it.Content.Of(r.Body))
		return jsonspan.Edit{Span: it.Content, With: slices.Concat([]byte("["), first, []byte(part+"]"))}, true
	case jsonspan.IsText(r.Body, it.Content):
		quoted := jsonspan.Quoted(text)
		return jsonspan.Insert(end-1, quoted[1:len(quoted)-1]), true // before the closing quote
	case r.Body[it.Content.Start] == '{': // a run of parts within the list of its message
		return jsonspan.Insert(end, part), true
	case jsonspan.HasElements(r.Body, it.Content):
		return jsonspan.Insert(end-1, part), true
	}
	return e, false
}

// AppendSystem returns the edit that adds text to the end of the system prompt, or as a new one; false if it cannot. Of
// several leading system messages the last gets it, as many servers take no further one.
func (r *Request) AppendSystem(text string) (e jsonspan.Edit, ok bool) {
	api := r.Dialect.API()
	if api.SystemField != "" {
		return r.appendToField(api, text)
	}
	if len(r.Items) == 0 { // the comma behind the new message would be one too many
		return e, false
	}
	if r.Lead > 0 {
		e, ok = r.Append(&r.Items[r.Lead-1], "\n\n"+text)
		if ok { // it is no declaration of tools
			return e, true
		}
	}
	added := string(api.Message(api.SystemRole, text)) + ","
	first := r.Items[0].Span
	if r.List == 0 { // the whole conversation is a text of the user: it becomes a list
		list := "[" + added + `{"type":"message","role":"user","content":` + string(first.Of(r.Body)) + "}]"
		return jsonspan.Edit{Span: first, With: []byte(list)}, true
	}
	return jsonspan.Insert(first.Start, added), true
}

func (r *Request) appendToField(api *API, text string) (e jsonspan.Edit, ok bool) {
	switch {
	case jsonspan.IsText(r.Body, r.System):
		return r.Append(&Item{Content: r.System}, "\n\n"+text)
	case jsonspan.HasElements(r.Body, r.System): // as a part of its own
		return r.Append(&Item{Content: r.System}, text)
	case !r.System.Empty():
		return e, false
	}
	if null := gjson.GetBytes(r.Body, api.SystemField); null.Exists() { // the key is there, with null as its value
		span := jsonspan.Span{Start: null.Index, End: null.Index + len(null.Raw)}
		return jsonspan.Edit{Span: span, With: jsonspan.AppendQuoted(nil, text)}, true
	}
	start := bytes.IndexByte(r.Body, '{') + 1
	return jsonspan.Insert(start, jsonspan.Quoted(api.SystemField)+":"+jsonspan.Quoted(text)+","), true
}
