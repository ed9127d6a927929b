// Package recall gives models tools that read artifacts, over the Model Context Protocol.
//
// The name of an artifact is the right to read it and the artifacts that its text names. An answer has at most 24 KB,
// in whole lines where they are short enough, and says how to read on. The tools change nothing.
package recall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"epitome/console"
	"epitome/internal/lazyregexp"
)

const (
	mostAnswer = 24 << 10         // bytes of content in an answer
	mostTime   = 20 * time.Second // for an answer
	mostNamed  = 200              // artifacts that are searched because a text names them
	mostScan   = 4 << 20          // bytes of a text in which names are looked for
)

const instructions = "epitome moves large and old results out of the conversation. Lines that begin with [epitome: say " +
	"what was moved and name its artifact: 26 letters and digits, alone or in a path or URL. These tools read artifacts. " +
	"Read only what you need: begin with grep or search."

// NewServer returns a server with the tools recall, search and list.
func NewServer(version string, artifacts console.Artifacts) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "epitome", Title: "epitome", Version: version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}})
	r := reader{artifacts}
	add(s, "recall", "Read an artifact: a result or older turns that epitome moved out of the conversation. Give lines or "+
		"grep to read a part of it. A long answer ends with what to ask for next.", r.recall)
	add(s, "search", "Search an artifact, and the artifacts that its text names, for a regular expression. Each line of the "+
		"answer begins with the artifact and the number of the line.", r.search)
	add(s, "list", "List the artifacts that an artifact's text names, such as the results in a transcript.", r.list)
	return s
}

// Handler serves the tools over HTTP, without sessions.
func Handler(version string, artifacts console.Artifacts) http.Handler {
	s := NewServer(version, artifacts)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		// The console checks hosts and origins.
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true})
}

// ServeStdio serves the tools on standard input and output until the input ends.
func ServeStdio(ctx context.Context, version string, artifacts console.Artifacts) error {
	err := NewServer(version, artifacts).Run(ctx, &mcp.StdioTransport{})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// add adds a tool that only reads. The model gets its errors, and can ask for something else.
func add[In any](s *mcp.Server, name, description string, answer func(ctx context.Context, in In) (string, error)) {
	tool := &mcp.Tool{
		Name: name, Description: description,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)},
	}
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		ctx, cancel := context.WithTimeout(ctx, mostTime)
		defer cancel()
		text, err := answer(ctx, in)
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("this takes too long; ask for fewer lines, or for a simpler expression")
		}
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
}

// reader answers calls.
type reader struct{ artifacts console.Artifacts }

type recallInput struct {
	Artifact string `json:"artifact" jsonschema:"the artifact: its 26 letters and digits, or the path or URL that ends with them"`
	Lines    string `json:"lines,omitempty" jsonschema:"only these lines, counted from 1: A-B, A-, -B or A"`
	Grep     string `json:"grep,omitempty" jsonschema:"only lines that match this regular expression, each after its number"`
	From     int    `json:"from,omitempty" jsonschema:"skip so many bytes of the answer: for long lines"`
}

// recall reads an artifact, or a part of it.
func (r reader) recall(ctx context.Context, in recallInput) (string, error) {
	name, err := nameOf(in.Artifact)
	if err != nil {
		return "", err
	}
	if in.From < 0 {
		return "", errors.New("from must not be negative")
	}
	a := answer{room: mostAnswer, skip: in.From}
	if err := r.read(ctx, name, in.Lines, in.Grep, &a); err != nil {
		return "", err
	}
	if a.skip > 0 {
		return fmt.Sprintf("[epitome: it ends %d bytes before]", a.skip), nil
	}
	if !a.more {
		return string(a.text), nil
	}
	text := whole(a.text)
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
		text = text[:end+1]
	}
	return fmt.Sprintf("%s\n[epitome: there is more. Read on with from = %d and the same lines and grep, or ask for less.]",
		text, in.From+len(text)), nil
}

// read copies the selected lines of an artifact. Of long lines that match grep it copies the surroundings of matches.
func (r reader) read(ctx context.Context, name, lines, grep string, to *answer) error {
	choose, err := r.artifacts.Lines(lines, grep)
	if err != nil {
		return err
	}
	content, _, err := r.artifacts.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	from := contextReader{ctx, content}
	if grep == "" {
		err = choose(from, to)
	} else {
		m := &matches{to: to, grep: regexp.MustCompile(grep)} // Lines has compiled it
		if err = choose(from, m); err == nil {
			err = m.pass() // a last line without an end
		}
	}
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

type searchInput struct {
	Artifact string `json:"artifact" jsonschema:"the artifact: its 26 letters and digits, or the path or URL that ends with them"`
	Pattern  string `json:"pattern" jsonschema:"a regular expression, as Go has them"`
}

// search searches an artifact and those that it names.
func (r reader) search(ctx context.Context, in searchInput) (string, error) {
	if in.Pattern == "" {
		return "", errors.New("give a pattern")
	}
	names, err := r.named(ctx, in.Artifact)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, name := range names {
		if b.Len() >= mostAnswer {
			fmt.Fprintf(&b, "[epitome: %d more artifacts were not searched; search one of them by its name]\n", len(names)-i)
			break
		}
		a := answer{room: mostAnswer / 4}
		err := r.read(ctx, name, "", in.Pattern, &a)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil { // no match, or the artifact has expired
			continue
		}
		for line := range strings.Lines(string(whole(a.text))) {
			b.WriteString(name + ":" + strings.TrimSuffix(line, "\n") + "\n")
		}
		if a.more {
			fmt.Fprintf(&b, "[epitome: %s has more matches]\n", name)
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("[epitome: no line matches, in %d artifacts]", len(names)), nil
	}
	return b.String(), nil
}

type listInput struct {
	Artifact string `json:"artifact" jsonschema:"the artifact: its 26 letters and digits, or the path or URL that ends with them"`
}

// list lists the artifacts that an artifact names, with their sizes and first lines.
func (r reader) list(ctx context.Context, in listInput) (string, error) {
	names, err := r.named(ctx, in.Artifact)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range names[1:] {
		if b.Len() >= mostAnswer {
			b.WriteString("[epitome: it names more; search them]\n")
			break
		}
		content, size, err := r.artifacts.Open(name)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil { // the text has letters that look like a name, or the artifact has expired
			continue
		}
		first := make([]byte, 200)
		n, _ := io.ReadFull(content, first) // a short or unreadable text shows as such
		_ = content.Close()
		line, _, _ := bytes.Cut(first[:n], []byte("\n"))
		fmt.Fprintf(&b, "%s: %d bytes, begins %q\n", name, size, whole(line))
	}
	if b.Len() == 0 {
		return "[epitome: it names no artifact that can be read]", nil
	}
	return b.String(), nil
}

var nameShape = lazyregexp.New(`\b[a-z2-7]{26}\b`)

// nameOf returns the name of an artifact that is given by name, path or URL.
func nameOf(artifact string) (string, error) {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(artifact), "artifact "), "?")
	name = strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".txt")
	if len(name) != 26 || !nameShape().MatchString(name) {
		return "", fmt.Errorf("%.60q names no artifact: give the 26 letters and digits that epitome's text names", artifact)
	}
	return name, nil
}

// named returns the name of an artifact, and then the names in its text, each once.
func (r reader) named(ctx context.Context, artifact string) ([]string, error) {
	first, err := nameOf(artifact)
	if err != nil {
		return nil, err
	}
	content, _, err := r.artifacts.Open(first)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }()
	text, err := io.ReadAll(io.LimitReader(contextReader{ctx, content}, mostScan))
	if err != nil {
		return nil, err
	}
	names, seen := []string{first}, map[string]bool{first: true}
	for _, found := range nameShape().FindAll(text, -1) {
		if name := string(found); !seen[name] && len(names) <= mostNamed {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, nil
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

// answer keeps what is written, without the first skip bytes, up to room bytes.
type answer struct {
	room, skip int
	text       []byte
	more       bool // something did not fit
}

var errFull = errors.New("the answer is full")

func (a *answer) Write(p []byte) (int, error) {
	skipped := min(a.skip, len(p))
	a.skip -= skipped
	taken := min(len(p)-skipped, a.room-len(a.text))
	a.text = append(a.text, p[skipped:skipped+taken]...)
	if skipped+taken < len(p) {
		a.more = true
		return skipped + taken, errFull
	}
	return len(p), nil
}

// whole returns a text without a part of a character at its end.
func whole(text []byte) []byte {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// matches shortens lines that it passes on: each is "number:text" or "number+offset:text". Of a long line it passes on
// the surroundings of the first matches.
type matches struct {
	to   *answer
	grep *regexp.Regexp
	line []byte // that has not ended
}

func (m *matches) Write(p []byte) (int, error) {
	for _, piece := range bytes.SplitAfter(p, []byte("\n")) {
		m.line = append(m.line, piece...)
		if !bytes.HasSuffix(piece, []byte("\n")) {
			continue
		}
		if err := m.pass(); err != nil {
			return 0, err
		}
		m.line = m.line[:0]
	}
	return len(p), nil
}

func (m *matches) pass() error {
	const long, around, most = 2 << 10, 300, 10 // bytes, bytes, matches
	if len(m.line) <= long {
		_, err := m.to.Write(m.line)
		return err
	}
	mark, text, _ := bytes.Cut(bytes.TrimSuffix(m.line, []byte("\n")), []byte(":"))
	number, at, _ := bytes.Cut(mark, []byte("+"))
	offset, _ := strconv.Atoi(string(at)) // none is 0
	shown := 0
	for _, match := range m.grep.FindAllIndex(text, most) {
		from, to := max(match[0]-around, shown), min(match[1]+around, match[0]+2*long, len(text))
		if from >= to {
			continue
		}
		shown = to
		if _, err := fmt.Fprintf(m.to, "%s+%d:%s\n", number, offset+from, bytes.ToValidUTF8(text[from:to], nil)); err != nil {
			return err
		}
	}
	return nil
}
