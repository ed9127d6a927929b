package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"epitome/offload"
)

// OpenArtifact returns the content of an artifact, which the caller closes, and its size in bytes. The error is
// offload.ErrUnknown if there is none of that name. Whoever knows the name of an artifact may read it.
type OpenArtifact func(name string) (content io.ReadCloser, size int64, err error)

// artifact answers with an artifact, or with the lines of it that the query selects. It copies in pieces: artifacts
// may be large.
func (o *Console) artifact(w http.ResponseWriter, r *http.Request) {
	lines, grep := r.URL.Query().Get("lines"), r.URL.Query().Get("grep")
	want, err := offload.ParseRange(lines, grep)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	content, size, err := o.program.Artifacts(strings.TrimSuffix(r.PathValue("name"), ".txt"))
	switch {
	case errors.Is(err, offload.ErrUnknown):
		refuse(w, http.StatusNotFound, err.Error())
		return
	case err != nil:
		o.program.Log.Warn("cannot read an artifact", "error", err.Error())
		refuse(w, http.StatusInternalServerError, "the artifact exists but cannot be read: epitome's log says why")
		return
	}
	defer func() { _ = content.Close() }()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if lines == "" && grep == "" {
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		if r.Method == http.MethodHead {
			return
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), mostTime)
	defer cancel()
	switch err := offload.Select(contextReader{ctx, content}, &flushWriter{to: w}, want); {
	case errors.Is(err, offload.ErrNoLines):
		refuse(w, http.StatusNotFound, err.Error())
	case err != nil:
		panic(http.ErrAbortHandler) // a content that was cut off must not look whole
	}
}

// contextReader reads until a context ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

// flushWriter sends what was written in pieces of 64 KB. A smaller answer is sent whole, with its length.
type flushWriter struct {
	to   http.ResponseWriter
	held int
}

func (f *flushWriter) Write(p []byte) (int, error) {
	n, err := f.to.Write(p)
	if f.held += n; f.held >= 64<<10 {
		f.to.(http.Flusher).Flush()
		f.held = 0
	}
	return n, err
}
