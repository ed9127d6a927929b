package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Artifacts reads artifacts. Whoever knows the name of one may read it.
type Artifacts interface {
	// Open returns the content of an artifact, which the caller closes, and its size in bytes. The error is
	// ErrNoArtifact if there is none of that name.
	Open(name string) (content io.ReadCloser, size int64, err error)
	// Lines parses a range of lines such as "10-20" and a regular expression; empty ones select everything. The
	// returned function copies the selected lines, and returns ErrNoLines if there are none. Errors say what to write
	// instead.
	Lines(lines, grep string) (choose func(from io.Reader, to io.Writer) error, err error)
}

// ErrNoArtifact says that there is no artifact of a name.
var ErrNoArtifact = errors.New("there is no such artifact, or it has expired")

// ErrNoLines says that an artifact has none of the selected lines.
var ErrNoLines = errors.New("there is nothing to show")

// artifact answers with an artifact, or with the lines of it that the query selects. It copies in pieces: artifacts
// may be large.
func (o *Console) artifact(w http.ResponseWriter, r *http.Request) {
	lines, grep := r.URL.Query().Get("lines"), r.URL.Query().Get("grep")
	choose, err := o.program.Artifacts.Lines(lines, grep)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	content, size, err := o.program.Artifacts.Open(strings.TrimSuffix(r.PathValue("name"), ".txt"))
	switch {
	case errors.Is(err, ErrNoArtifact):
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
	const mostTime = 20 * time.Second // a costly expression over tens of megabytes
	ctx, cancel := context.WithTimeout(r.Context(), mostTime)
	defer cancel()
	switch err := choose(contextReader{ctx, content}, &flushWriter{to: w}); {
	case errors.Is(err, ErrNoLines):
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
