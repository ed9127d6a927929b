package console

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"epitome/offload"
)

// ReadArtifact returns the content of an artifact. The error is offload.ErrUnknown if there is none of that name.
// Whoever knows the name of an artifact may read it.
type ReadArtifact func(name string) ([]byte, error)

// artifact answers with an artifact, or with the lines of it that the query selects.
func (o *Console) artifact(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	want, err := offload.ParseRange(query.Get("lines"), query.Get("grep"))
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	content, err := o.program.Artifacts(strings.TrimSuffix(r.PathValue("name"), ".txt"))
	switch {
	case errors.Is(err, offload.ErrUnknown):
		refuse(w, http.StatusNotFound, err.Error())
		return
	case err != nil:
		o.program.Log.Warn("cannot read an artifact", "error", err.Error())
		refuse(w, http.StatusInternalServerError, "the artifact exists but cannot be read: epitome's log says why")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), mostTime)
	defer cancel()
	text, err := offload.Select(ctx, content, want)
	switch {
	case errors.Is(err, offload.ErrNoLines):
		refuse(w, http.StatusNotFound, err.Error())
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, err.Error())
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(text) // a client that has left misses it
		}
	}
}
