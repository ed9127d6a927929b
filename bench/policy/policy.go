// Package policy says what a replay measures: ways of shaping the requests of a conversation before they are sent.
//
// It has the words in which a replay, the baselines and the program's own shaping speak of that; what a request costs
// under a prompt cache, the same whoever asks, in characters / 3.6 or in the tokens by which requests are served; and
// the names (paths, words of code, long numbers, quoted strings) that calls have in a text, found in linear time.
package policy

import (
	"errors"
	"time"

	"epitome/rewrite/conversation"
)

// Shaper is what is measured: it gets each request as the client would send it and returns what would be sent
// upstream. The requests of a conversation come in order. It may neither change the body nor keep it beyond the call.
type Shaper interface {
	// Shape gets the time at which the request was made; zero where the log does not say.
	Shape(body []byte, at time.Time) (Shaped, error)
}

// Shaped is a request as it would be sent.
type Shaped struct {
	// Body may be the very slice that came in.
	Body []byte
	// Decided says that a new decision which changed earlier messages was recorded with this request. Any other
	// change of earlier messages is counted as unrecorded.
	Decided bool
	// Asked are the shaper's own requests to a model since the request before, whatever became of them.
	Asked []Asking
	// Invalid is what the shaper itself found wrong with its outcome. The replay looks for itself, too.
	Invalid error
}

// Policy is a way of shaping, with its name in the report.
type Policy struct {
	Name string
	// Open returns the shaping of one conversation. It is called from several goroutines.
	Open func(Setting) (Shaping, error)
}

// Setting is what is known of a conversation before it begins.
type Setting struct {
	Window  int                  // tokens that its model holds
	Dialect conversation.Dialect // of its requests
}

// Shaping shapes one conversation. Only the shaper is needed. All of it is used by one goroutine at a time.
type Shaping struct {
	Shaper
	// Artifact returns what was taken out, by a name that stands in a request. nil: nothing comes back.
	Artifact func(name string) ([]byte, bool)
	// Close is called at the conversation's end; nil: there is nothing to close.
	Close func() error
}

// ErrNoWay says that a program cannot be played through at all.
var ErrNoWay = errors.New("cannot play through the program")
