package summarize

import "context"

// Request is sent to an upstream. It holds a credential and a conversation: it is not for logs.
type Request struct {
	Upstream   string
	Body       []byte
	Path       string // where the API takes the body, unless the credential says it
	Credential any    // of the question; nil for another upstream
	KeyEnv     string // environment variable with the key, if it is not empty
	Authorize  func(key string) (headers [][2]string)
}

// Response is the answer of an upstream.
type Response struct {
	Status     int
	Body       []byte // without content coding
	RetryAfter string // the header of this name; empty if there is none
}

// Sender sends a request and returns the whole answer, or an error once ctx has ended.
type Sender func(ctx context.Context, r Request) (Response, error)
