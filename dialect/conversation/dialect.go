package conversation

import (
	"epitome/dialect/answer"
	"epitome/dialect/jsonspan"
	"epitome/tokenize"
)

// Dialect is one API: all in which it differs from the others. It has no state.
type Dialect interface {
	answer.Format

	// Name is "chat", "messages" or "responses". It never changes, because the keys of recorded decisions contain it.
	Name() string
	// Upstream is the name of the upstream in config.toml to which clients of the API are sent; empty for the default.
	Upstream() string
	// MaxPictures returns how many pictures a request may have, and how many bytes of them.
	MaxPictures() (number, bytes int)

	// Owns reports whether a body, whose path nobody knows, has fields that only this API has.
	Owns(body []byte) bool
	// Serves reports whether a request with a body and that path, as the upstream gets it, holds a conversation.
	Serves(path []byte) bool
	// Counts reports whether a request with that path asks how many tokens a conversation has, and no more.
	Counts(path []byte) bool
	// Compacts reports whether a request with that path has the provider compact a conversation: it is sent in the form
	// that was decided before.
	Compacts(path []byte) bool
	// MeantPath returns the path with the version of the API, for a request of a client that leaves the version to the
	// base URL; nil for any other request. has reports whether the request has a header, named in lower case.
	MeantPath(path []byte, has func(header string) bool) []byte

	// Read parses a body in one pass. known, if not nil, is an earlier request of the same conversation: items in the
	// common prefix of both lists are copied from it. An error says why the body must not be edited, and as it is
	// logged, quotes nothing of the body.
	Read(body []byte, known *Request) (*Request, error)
	// Check finds how the request breaks rules of the API, among the rules that an edit could break.
	Check(r *Request) *Checker
	// Declared parses the declarations of tools, to count them; nil if their JSON source is to be counted.
	Declared(tools []byte) []tokenize.Tool

	// ReplaceContent returns the edits that replace the whole content of an item, pictures too, by one text.
	// It returns none for an item whose content no text can replace.
	ReplaceContent(r *Request, it *Item, text string) []jsonspan.Edit
	// TextPart returns the JSON of a text as an element of a user's content or a result's.
	TextPart(text string) []byte
	// UserMessage returns the JSON of a message of the user, as an element of the list of items.
	UserMessage(text string) []byte
	// Append returns the edit that adds text behind the content of a user's item, as a part of its own if the content
	// is a list; false if the item can take no text.
	Append(r *Request, it *Item, text string) (jsonspan.Edit, bool)
	// AddResults returns the edit that adds results of item i's calls behind it. They join the user's next message where
	// the API has results in it, unless they are to be apart.
	AddResults(r *Request, i int, results []Result, apart bool) jsonspan.Edit
	// AppendSystem returns the edit that adds text to the end of the system prompt, or as a new one; false if it cannot.
	AppendSystem(r *Request, text string) (jsonspan.Edit, bool)

	// CapOutput lowers a request's cap on the output to that many tokens. ok is false if it has no cap, or a lower one.
	CapOutput(body []byte, tokens int) (capped []byte, ok bool)
	// Path is where the API takes the requests that epitome makes itself.
	Path() string
	// Authorize returns the headers of a request with a key.
	Authorize(key string) (headers [][2]string)
	// Continue returns a request that puts an instruction behind the conversation in body and asks for plain text.
	Continue(body []byte, instruction string, f answer.Form) ([]byte, error)
	// Prompt returns a request of its own for one plain text: a system prompt and a message of the user.
	Prompt(model, system, user string, f answer.Form) []byte
}
