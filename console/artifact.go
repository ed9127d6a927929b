package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"epitome/console/reply"
)

// Artifacts gives back what was taken out of conversations, for whoever has its name.
type Artifacts interface {
	// Open returns the content under a name, which the caller closes, and its size in bytes. The error is ErrNoArtifact
	// if there is none; another one says that it cannot be read.
	Open(name string) (content io.ReadCloser, size int64, err error)
	// Lines reads which lines are wanted, as in "10-20", and a regular expression that they match; empty ones want all.
	// choose copies those, or has copied nothing if its error is ErrNoLines; an error says what to write instead.
	Lines(lines, grep string) (choose func(from io.Reader, to io.Writer) error, err error)
}

// ErrNoArtifact says that there is nothing under a name.
var ErrNoArtifact = errors.New("there is no such artifact, or it has expired")

// ErrNoLines says that a content has none of the lines that are wanted.
var ErrNoLines = errors.New("there is nothing to show")

// artifactsPath is in front of an artifact's name.
const artifactsPath = "/-/artifacts/"

// hasName reports whether the path names an artifact and nothing else. Its name is the right to read it.
func hasName(path string) bool {
	name, ok := strings.CutPrefix(path, artifactsPath)
	return ok && name != "" && !strings.Contains(name, "/")
}

// longestSearch bounds the time that one search may take; it is that of a costly one in tens of megabytes.
const longestSearch = 20 * time.Second

// artifact answers with a content, or with the lines of it that are asked for. It flows: no more than a piece of it
// is in memory.
func (o *Console) artifact(w http.ResponseWriter, r *http.Request) {
	lines, grep := r.URL.Query().Get("lines"), r.URL.Query().Get("grep")
	choose, err := o.program.Artifacts.Lines(lines, grep)
	if err != nil {
		reply.Refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	name := strings.TrimSuffix(r.PathValue("name"), ".txt") // the file is called so
	content, size, err := o.program.Artifacts.Open(name)
	if errors.Is(err, ErrNoArtifact) {
		reply.Refuse(w, http.StatusNotFound, err.Error())
		return
	}
	if err != nil {
		o.program.Log.Warn("an artifact cannot be read", "error", err.Error())
		reply.Refuse(w, http.StatusInternalServerError, "the artifact is there but cannot be read; epitome's log says why")
		return
	}
	defer func() { _ = content.Close() }()
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	if lines == "" && grep == "" {
		h.Set("Content-Length", strconv.FormatInt(size, 10))
		if r.Method == http.MethodHead {
			return
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), longestSearch)
	defer cancel()
	err = choose(&until{ctx, content}, &flowing{to: w})
	if errors.Is(err, ErrNoLines) {
		reply.Refuse(w, http.StatusNotFound, err.Error())
		return
	}
	if err != nil {
		panic(http.ErrAbortHandler) // a content that was cut must not look whole
	}
}

// until reads until its time is over or the client has left.
type until struct {
	ctx context.Context //nolint:containedctx // it lives as long as one answer
	io.Reader
}

func (u *until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// flowing sends what has come together whenever that is pieceSize bytes.
type flowing struct {
	to   http.ResponseWriter
	held int // bytes that were written and not sent
}

// pieceSize is how many bytes go out at once. A smaller answer goes out whole, with its length.
const pieceSize = 64 << 10

func (f *flowing) Write(p []byte) (int, error) {
	n, err := f.to.Write(p)
	f.held += n
	if flusher, ok := f.to.(http.Flusher); ok && err == nil && f.held >= pieceSize {
		flusher.Flush()
		f.held = 0
	}
	return n, err
}
