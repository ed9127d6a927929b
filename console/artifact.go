package console

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"epitome/offload"
)

// ReadArtifact returns the content of an artifact. The error is offload.ErrUnknown if there is none of that name.
// Whoever knows the name of an artifact may read it.
type ReadArtifact func(name string) ([]byte, error)

// mostTime is the time in which lines are selected: an expression may be costly over tens of megabytes.
const mostTime = 20 * time.Second

// lines returns an artifact, or the lines of it that are wanted.
func (get ReadArtifact) lines(ctx context.Context, name, lines, grep string) ([]byte, error) {
	want, err := offload.ParseRange(lines, grep)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	content, err := get(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	return offload.Select(ctx, content, want)
}

// artifact answers with an artifact, or with the lines of it that the query selects.
func (o *Console) artifact(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name := strings.TrimSuffix(r.PathValue("name"), ".txt")
	text, err := ReadArtifact(o.program.Artifact).lines(r.Context(), name, q.Get("lines"), q.Get("grep"))
	if err != nil {
		o.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // a client that has left misses it
	}
}
