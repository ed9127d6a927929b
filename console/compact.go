package console

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"epitome/console/reply"
)

// Compacted is what has become of a conversation that was to be compacted.
type Compacted struct {
	Body   []byte // to be sent in its place; the one that was given if nothing was done
	Action string // what it carries, as a word of event.Exchange
	Before int    // tokens
	After  int
	Reason string // why nothing was done, or not all of it; empty if it was
	Failed error  // inside the program
}

// compact answers a conversation with what to send in its place. Nobody is asked to wait for a model, and nothing is
// sent.
func (o *Console) compact(w http.ResponseWriter, r *http.Request) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		reply.Refuse(w, http.StatusUnsupportedMediaType, "send the conversation without Content-Encoding")
		return
	}
	var body bytes.Buffer
	body.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead) // it is bounded by who serves us
	if _, err := body.ReadFrom(r.Body); err != nil {
		reply.Refuse(w, http.StatusBadRequest, "the body did not come whole: send it again")
		return
	}
	done, err := o.program.Compact(r, body.Bytes())
	if err != nil {
		reply.Refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if done.Failed != nil {
		o.program.Log.Warn("a conversation could not be compacted", "error", done.Failed.Error())
		reply.Refuse(w, http.StatusInternalServerError,
			"something failed inside epitome, whose log says what: go on with the conversation as it is, or try again")
		return
	}
	give(w, done)
}

// give answers with the conversation. A client that has left is no error of ours.
func give(w http.ResponseWriter, done Compacted) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(done.Body)))
	h.Set("X-Epitome-Action", done.Action)
	h.Set("X-Epitome-Tokens", fmt.Sprintf("%d>%d", done.Before, done.After))
	if done.Reason != "" {
		h.Set("X-Epitome-Reason", strings.Join(strings.Fields(done.Reason), " ")) // one line, whatever it says
	}
	// by pieces: w would hold all of it
	_, _ = io.Copy(&flowing{to: w}, struct{ io.Reader }{bytes.NewReader(done.Body)})
}
