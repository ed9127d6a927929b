package summarize

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"epitome/prose"
)

// Request is what Means.Send is to send.
type Request struct {
	Upstream   string
	Body       []byte // JSON in the dialect
	Path       string // where its API takes the body, unless the credential says it
	Credential any    // the question's; nil if the upstream is not the one it is for
	KeyEnv     string // the environment variable whose value is the key, if it is not empty
	Authorize  func(key string) (headers [][2]string)
}

// Format keeps credential and conversation out of everything that prints.
func (r Request) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "a request for a summary") }

// LogValue does the same for logs.
func (r Request) LogValue() slog.Value { return slog.StringValue("a request for a summary") }

// Response is an upstream's answer.
type Response struct {
	Status      int
	ContentType string
	RetryAfter  string // the header as it came
	// without content coding; Close may come twice, and from another goroutine while Read waits
	Body io.ReadCloser
}

// Sender sends a request and returns when the head of its answer is there, or the context has ended.
type Sender func(ctx context.Context, r Request) (Response, error)

// Dialect makes requests and reads answers of a provider's dialect.
type Dialect interface {
	// Path is where the API takes requests.
	Path() string
	// Authorize gives the names and values of the headers that a request needs which speaks for a key.
	Authorize(key string) (headers [][2]string)
	// Continue puts an instruction behind the conversation in body, and takes out what would keep the answer from
	// being plain text.
	Continue(body []byte, instruction string, f prose.Form) ([]byte, error)
	// Prompt is a request that has a system prompt and a user's message.
	Prompt(model, system, user string, f prose.Form) []byte
	// ReadAnswer reads an answer, streamed or not, and not more than is good for the memory. One that breaks off is
	// an error.
	ReadAnswer(contentType string, body io.Reader) (prose.Answer, error)
	// Adapt says in which other form to ask after the provider has refused one; false if the form is not what it
	// complains of.
	Adapt(f prose.Form, refusal []byte) (prose.Form, bool)
}
