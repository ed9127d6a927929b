package console

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

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
	case done.Report.Err != nil:
		o.program.Log.Warn("cannot compact a conversation", "error", done.Report.Err.Error())
		refuse(w, http.StatusInternalServerError,
			"epitome failed, as its log says: go on with the conversation as it is, or try again")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(done.Body)))
	h.Set("X-Epitome-Action", done.Report.Action)
	h.Set("X-Epitome-Tokens", fmt.Sprintf("%d>%d", done.Report.TokensBefore.Total(), done.Report.TokensAfter.Total()))
	if reason := strings.Fields(done.Report.Reason); len(reason) > 0 {
		h.Set("X-Epitome-Reason", strings.Join(reason, " "))
	}
	_, _ = w.Write(done.Body) // an error means that the client has left
}
