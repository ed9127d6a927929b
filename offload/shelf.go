// Package offload keeps artifacts: what was taken out of conversations, as files in a folder, objects in an S3 bucket,
// or in memory.
//
// Once Put has returned, the content survives the death of the process and can be read byte for byte until it was
// neither put nor touched for Options.Keep. A content is whole before its name exists. Its name is a keyed hash of
// scope and content: nobody can guess it, equal contents of two scopes have different names, and knowing it is the
// right to read the content. So errors and logs show its first letters only.
//
// The last change of a file or object is its last renewal; nothing else is recorded about it. So processes that share a
// folder or a bucket need nothing else in common.
package offload

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize/english"

	"epitome/store"
)

var (
	// ErrFull says that the quota is used up.
	ErrFull = errors.New("no room for artifacts")

	// ErrNotDeleted says that an artifact stays in its bucket, as the rights for that lack DeleteObject.
	ErrNotDeleted = errors.New("the rights for the bucket do not allow DeleteObject")

	// ErrUnknown says that there is no artifact of a name: never put, expired, or not a name.
	ErrUnknown = errors.New("there is no such artifact, or it has expired")
)

// Options are what all shelves need.
type Options struct {
	Keep    time.Duration  // an artifact lives at least that long after it was put or touched; an eighth more at most
	Quota   int64          // bytes of content, of which urgent content alone gets half; no limit for a bucket
	Secret  []byte         // with which names are made; nil: a random one, which is kept with the artifacts
	Address string         // how texts name artifacts: path, url, both or none
	URL     string         // at which artifacts are served, with a slash at its end
	Shown   string         // the folder that texts name in the place of the real one, with a slash; empty: the real one
	Log     *slog.Logger   // nil: none
	Observe store.Observer // of the calls to a bucket; nil: none
}

// Shelf keeps artifacts. Open one with OpenFolder, OpenBucket or OpenMemory. Its methods may be called from any
// goroutine.
type Shelf struct {
	place   place
	options Options
	folder  *folder // the place, if it is one

	used    atomic.Int64   // bytes
	refused atomic.Bool    // something found no room within the quota, and nothing was swept since
	failed  atomic.Int64   // when a content could not be written, in nanoseconds since 1970; 0 if the last one could
	server  *store.Monitor // of the bucket; nil for other shelves
}

// place keeps contents by the names of their files. Other processes may use the same place. An absent content is
// fs.ErrNotExist.
type place interface {
	// secret returns the key of names, the same for all that use the place. It makes one if there is none.
	secret() ([]byte, error)
	// put writes a content in the place of an earlier one of that name.
	put(name string, content []byte) error
	// renew begins the life of a content anew if its last renewal is older than age.
	renew(name string, age time.Duration) error
	get(name string) ([]byte, error)
	// remove deletes a content.
	remove(name string) error
}

// Swept is what a sweep has found.
type Swept struct {
	Files int   // deleted
	Bytes int64 // of these
	Left  int64 // bytes of the contents that stay
}

var silent = slog.New(slog.DiscardHandler)

// open finishes a shelf that has its place.
func (s *Shelf) open(o Options) (*Shelf, error) {
	s.options = o
	s.options.Log = cmp.Or(o.Log, silent)
	var err error
	if o.Secret == nil {
		s.options.Secret, err = s.place.secret()
	}
	if err == nil {
		_, err = s.sweep(context.Background(), time.Time{}) // this deletes nothing, and counts what is used
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("cannot open the artifacts: %w", err)
	}
	return s, nil
}

// Put keeps content under its name, unless it is there already. Content that cannot wait for room is urgent, and may fill
// the quota; other content may fill half of it. The error is ErrFull if there is no room.
func (s *Shelf) Put(name string, content []byte, urgent bool) error {
	if !IsName(name) {
		return errors.New("cannot put an artifact: this is not a name of one")
	}
	const small = 64 << 10 // bytes: to write so few to a bucket takes no longer than to ask whether they are there
	err := fs.ErrNotExist
	if s.server == nil || len(content) > small {
		err = s.place.renew(fileOf(name), s.options.Keep/8)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = s.write(name, content, urgent)
	}
	if err != nil && !errors.Is(err, ErrFull) {
		s.failed.Store(time.Now().UnixNano())
	}
	return failure("put", name, err)
}

// failure returns the error of doing something with an artifact; nil for nil. It tells the first letters of the name.
func failure(doing, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot %s artifact %s: %w", doing, name[:min(len(name), 6)]+"…", cause(err))
}

// write puts content in its place, if there is room.
func (s *Shelf) write(name string, content []byte, urgent bool) error {
	size := int64(len(content))
	limit := s.options.Quota
	if !urgent {
		limit /= 2
	}
	used := s.used.Add(size)
	if used > limit && s.server == nil {
		s.used.Add(-size)
		s.refused.Store(true)
		return fmt.Errorf("%w: %d of %d bytes are used, and it has %d", ErrFull, used-size, limit, size)
	}
	err := s.place.put(fileOf(name), content)
	if err != nil {
		s.used.Add(-size)
		return err
	}
	s.failed.Store(0)
	return nil
}

// Touch renews an artifact. It returns false if it is not there. If nobody can tell, as its server does not answer, it
// returns true, because what was put is there.
func (s *Shelf) Touch(name string) bool {
	if !IsName(name) {
		return false
	}
	err := s.place.renew(fileOf(name), s.options.Keep/8)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil && !errors.Is(err, store.ErrAway) {
		s.options.Log.Warn(failure("renew", name, err).Error())
	}
	return true
}

// Get returns the content under a name. The error is ErrUnknown if there is none.
func (s *Shelf) Get(name string) ([]byte, error) {
	if !IsName(name) {
		return nil, ErrUnknown
	}
	content, err := s.place.get(fileOf(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrUnknown
	}
	return content, failure("read", name, err)
}

// Delete deletes an artifact, if it is there. Its bytes count as used until the next Sweep. The error is ErrNotDeleted
// if the rights for a bucket do not allow it.
func (s *Shelf) Delete(name string) error {
	if !IsName(name) {
		return nil
	}
	err := s.place.remove(fileOf(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failure("delete", name, err)
}

// Sweep deletes what has expired and counts what is left. Nothing in a bucket is deleted: a rule of its owner does
// that. One goroutine at a time sweeps.
func (s *Shelf) Sweep(ctx context.Context) (Swept, error) {
	keep := s.options.Keep + s.options.Keep/8 // as renewals are skipped until an eighth of Keep has passed
	swept, err := s.sweep(ctx, time.Now().Add(-keep))
	if err != nil {
		return swept, fmt.Errorf("cannot sweep the artifacts: %w", cause(err))
	}
	return swept, nil
}

// sweep deletes what was last renewed before a time, and what broken writes have left.
func (s *Shelf) sweep(ctx context.Context, before time.Time) (Swept, error) {
	if s.folder == nil {
		return Swept{}, nil
	}
	counted := s.Used()
	swept, err := s.folder.sweep(ctx, before)
	if err == nil {
		s.used.Add(swept.Left - counted) // what was put meanwhile may count twice until the next sweep
	}
	if swept.Files > 0 {
		s.refused.Store(false)
	}
	return swept, err
}

// Used returns how many bytes of content there are, about.
func (s *Shelf) Used() int64 { return s.used.Load() }

// Full reports whether new content is likely to be refused unless it is urgent: half of the quota is used, something
// found no room since the last sweep that freed any, something could not be written in the last minute, or the bucket
// does not answer. Put may still take less.
func (s *Shelf) Full() bool {
	if s.server != nil {
		return s.server.State() == store.Away
	}
	return s.refused.Load() || s.Used() >= s.options.Quota/2 || time.Now().UnixNano()-s.failed.Load() < int64(time.Minute)
}

// Fails reports whether the last content could not be written, as on a full disk.
func (s *Shelf) Fails() bool { return s.server == nil && s.failed.Load() != 0 }

// Server returns the state of the bucket as /-/ready names it; empty for other shelves.
func (s *Shelf) Server() string {
	if s.server == nil {
		return ""
	}
	return s.server.State()
}

// Close ends calls to a bucket. Other shelves have nothing to close.
func (s *Shelf) Close() {
	if s.server != nil {
		s.server.Close()
	}
}

// memory is a place that ends with its process, and with it all contents: none expires before.
type memory struct{ contents sync.Map } // []byte by name

// OpenMemory returns a shelf that ends with its process.
func OpenMemory(o Options) *Shelf {
	s, _ := (&Shelf{place: &memory{}}).open(o) // no error: nothing is asked of a disk or a server
	return s
}

func (m *memory) secret() ([]byte, error) { return newSecret(), nil }

func (m *memory) put(name string, content []byte) error {
	m.contents.Store(name, bytes.Clone(content))
	return nil
}

func (m *memory) renew(name string, _ time.Duration) error {
	_, err := m.get(name)
	return err
}

func (m *memory) get(name string) ([]byte, error) {
	content, found := m.contents.Load(name)
	if !found {
		return nil, fs.ErrNotExist
	}
	return content.([]byte), nil
}

func (m *memory) remove(name string) error {
	m.contents.Delete(name)
	return nil
}

const maxRegexp = 256 // bytes; a search takes time for each byte of text and each of the expression

// ErrNoLines says that a text has none of the lines that are wanted.
var ErrNoLines = errors.New("no line matches")

// Range says which lines of a text are wanted. The zero Range wants all.
type Range struct {
	from, to int // from 1; 0 is open
	grep     *regexp.Regexp
}

// rangeForm matches numbers of lines, from 1, as "A-B", "A-", "-B" and "A".
var rangeForm = regexp.MustCompile(`^([1-9][0-9]{0,17})?(-)?([1-9][0-9]{0,17})?$`)

// ParseRange reads lines, as in "10-20", "10-", "-20" or "10", counted from 1, and grep, a regular expression of Go.
// Empty ones want everything. With both, the matching ones of these lines are wanted.
func ParseRange(lines, grep string) (want Range, err error) {
	if lines != "" {
		m := rangeForm.FindStringSubmatch(lines)
		if m != nil {
			want.from, _ = strconv.Atoi(m[1])
			want.to, _ = strconv.Atoi(m[3])
		}
		if m == nil || lines == "-" || want.to != 0 && want.to < want.from {
			return want, fmt.Errorf("cannot read lines=%.40q: want 10-20 (A-B, A at most B), 10-, -20 or 10", lines)
		}
		if m[2] == "" {
			want.to = want.from
		}
	}
	if len(grep) > maxRegexp {
		return want, fmt.Errorf("cannot read grep=%.40q: it has %d bytes; want at most %d", grep, len(grep), maxRegexp)
	}
	if grep != "" {
		want.grep, err = regexp.Compile(grep)
		if err != nil {
			return Range{}, fmt.Errorf("cannot read grep=%.40q: %w", grep, err)
		}
	}
	return want, nil
}

// Select returns the wanted lines of a text. Without grep they are unchanged. With grep, each line follows its number
// and a colon, and of a long line there is only the text around its matches. The error is ErrNoLines if a part of the
// text was wanted and there is none, and that of the context once it ends.
func Select(ctx context.Context, text []byte, want Range) ([]byte, error) {
	if want == (Range{}) {
		return text, ctx.Err()
	}
	var out bytes.Buffer
	lines, found := 0, false
	for line := range bytes.Lines(text) {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("cannot select lines: %w", ctx.Err())
		}
		lines++
		switch {
		case lines < want.from, want.to != 0 && lines > want.to:
		case want.grep == nil:
			found = true
			out.Write(line)
		default:
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			found = writeMatches(&out, lines, line, want.grep) || found
		}
	}
	if !found {
		return nil, fmt.Errorf("%w: the text has %s", ErrNoLines, english.Plural(lines, "line", ""))
	}
	return out.Bytes(), nil
}

// writeMatches writes line n if it matches, and reports whether it does. A long line is written in parts, each around a
// match, as in "12+61440:text": the number of the line and the offset of the part in bytes.
func writeMatches(w io.Writer, n int, line []byte, grep *regexp.Regexp) bool {
	const long, around, most = 2 << 10, 300, 10 // bytes, bytes, matches
	matches := grep.FindAllIndex(line, most)
	if matches != nil && len(line) <= long {
		fmt.Fprintf(w, "%d:%s\n", n, line)
		return true
	}
	shown := 0 // bytes of the line
	for _, match := range matches {
		from, to := max(match[0]-around, shown), min(match[1]+around, match[0]+2*long, len(line))
		if from < to {
			fmt.Fprintf(w, "%d+%d:%s\n", n, from, bytes.ToValidUTF8(line[from:to], nil))
			shown = to
		}
	}
	return matches != nil
}
