package console

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Compacted is the result of compacting a conversation by hand.
type Compacted struct {
	Body          []byte // to be sent in place of the conversation; the conversation itself if nothing was done
	Action        string // as in event.Exchange
	Before, After int    // tokens
	Reason        string // why nothing was done, or not everything; empty if it was
	Failed        error  // inside the program
}

// compact answers a conversation with a shorter form of it. Nothing is sent to a provider.
func (o *Console) compact(w http.ResponseWriter, r *http.Request) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		refuse(w, http.StatusUnsupportedMediaType, "send the conversation without Content-Encoding")
		return
	}
	body, err := io.ReadAll(r.Body) // the server bounds it
	if err != nil {
		refuse(w, http.StatusBadRequest, "the body was cut off: send it again")
		return
	}
	done, err := o.program.Compact(r, body)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, err.Error())
		return
	case done.Failed != nil:
		o.program.Log.Warn("cannot compact a conversation", "error", done.Failed.Error())
		refuse(w, http.StatusInternalServerError,
			"epitome failed, as its log says: go on with the conversation as it is, or try again")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(done.Body)))
	h.Set("X-Epitome-Action", done.Action)
	h.Set("X-Epitome-Tokens", fmt.Sprintf("%d>%d", done.Before, done.After))
	if done.Reason != "" {
		h.Set("X-Epitome-Reason", strings.Join(strings.Fields(done.Reason), " "))
	}
	_, _ = w.Write(done.Body) // an error means that the client has left
}
