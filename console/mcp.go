package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"epitome/offload"
)

const (
	mostAnswer = 24 << 10         // bytes of content in an answer
	mostTime   = 20 * time.Second // for an answer: an expression may be costly over tens of megabytes
	mostNamed  = 200              // artifacts that are searched because a text names them
	mostScan   = 4 << 20          // bytes of a text that are searched for names, or of matching lines
)

const instructions = "epitome moves large and old results out of the conversation. Lines that begin with [epitome: say " +
	"what was moved and name its artifact: 26 letters and digits, alone or in a path or URL. These tools read artifacts. " +
	"Read only what you need: begin with grep or search."

// newMCP returns an MCP server with tools that read artifacts: recall and search. The name of an artifact is the
// right to read it and the artifacts that its text names.
func newMCP(version string, get ReadArtifact) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "epitome", Title: "epitome", Version: version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}})
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}
	mcp.AddTool(s, &mcp.Tool{Name: "recall", Annotations: reads, Description: "Read an artifact: a result or older turns " +
		"that epitome moved out of the conversation. Give lines or grep to read a part of it. A long answer ends with what " +
		"to ask for next."}, answering(get.recall))
	mcp.AddTool(s, &mcp.Tool{Name: "search", Annotations: reads, Description: "Search an artifact, and the artifacts that " +
		"its text names, for a regular expression. Each line of the answer begins with the artifact and the number of the " +
		"line."}, answering(get.search))
	return s
}

// mcpHandler serves the tools over HTTP, without sessions.
func mcpHandler(version string, get ReadArtifact) http.Handler {
	s := newMCP(version, get)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		// The guard checks hosts and origins.
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true})
}

// ServeMCP serves the tools on standard input and output until the input ends.
func ServeMCP(ctx context.Context, version string, get ReadArtifact) error {
	err := newMCP(version, get).Run(ctx, &mcp.StdioTransport{})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// answering returns the handler of a tool that answers with a text. The model gets its errors, and can ask for
// something else.
func answering[In any](answer func(context.Context, In) (string, error)) mcp.ToolHandlerFor[In, any] {
	return func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		ctx, cancel := context.WithTimeout(ctx, mostTime)
		defer cancel()
		text, err := answer(ctx, in)
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("this takes too long; ask for fewer lines, or for a simpler expression")
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
	}
}

// artifactInput is the argument that both tools have.
type artifactInput struct {
	Artifact string `json:"artifact" jsonschema:"its 26 letters and digits, or the path or URL that ends with them"`
}

type recallInput struct {
	artifactInput
	Lines string `json:"lines,omitempty" jsonschema:"only these lines, counted from 1: A-B, A-, -B or A"`
	Grep  string `json:"grep,omitempty" jsonschema:"only lines that match this regular expression, each after its number"`
	From  int    `json:"from,omitempty" jsonschema:"skip so many bytes of the answer: for long lines"`
}

// recall returns an artifact, or a part of it, in whole lines where they are short enough.
func (get ReadArtifact) recall(ctx context.Context, in recallInput) (string, error) {
	name, err := artifactName(in.Artifact)
	if err != nil {
		return "", err
	}
	from := max(in.From, 0)
	text, err := get.lines(ctx, name, in.Lines, in.Grep, from+mostAnswer+1)
	switch {
	case err != nil:
		return "", err
	case from > len(text):
		return fmt.Sprintf("[epitome: it ends %d bytes before]", from-len(text)), nil
	case len(text)-from <= mostAnswer:
		return string(text[from:]), nil
	}
	text = bytes.ToValidUTF8(text[from:from+mostAnswer], nil) // without a part of a character
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
		text = text[:end+1]
	}
	return fmt.Sprintf("%s\n[epitome: there is more. Read on with from = %d and the same lines and grep, or ask for less.]",
		text, from+len(text)), nil
}

// lines returns the selected lines of an artifact, up to most bytes. Of long lines that match grep it returns what
// stands around the matches.
func (get ReadArtifact) lines(ctx context.Context, name, lines, grep string, most int) ([]byte, error) {
	want, err := offload.ParseRange(lines, grep)
	if err != nil {
		return nil, err
	}
	content, err := get(name)
	if err != nil {
		return nil, err
	}
	text, err := offload.Select(ctx, content, want)
	return text[:min(len(text), most)], err
}

type searchInput struct {
	artifactInput
	Pattern string `json:"pattern" jsonschema:"a regular expression, as Go has them"`
}

// search returns the matching lines of an artifact and of those that it names.
func (get ReadArtifact) search(ctx context.Context, in searchInput) (string, error) {
	if in.Pattern == "" {
		return "", errors.New("give a pattern")
	}
	names, err := get.named(ctx, in.Artifact)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, name := range names {
		if b.Len() >= mostAnswer {
			fmt.Fprintf(&b, "[epitome: %d more artifacts were not searched; search one of them by its name]\n", len(names)-i)
			break
		}
		text, err := get.lines(ctx, name, "", in.Pattern, mostAnswer/4)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil { // no match, or the artifact has expired
			continue
		}
		for line := range bytes.Lines(bytes.ToValidUTF8(text, nil)) {
			fmt.Fprintf(&b, "%s:%s\n", name, bytes.TrimSuffix(line, []byte("\n")))
		}
		if len(text) == mostAnswer/4 {
			fmt.Fprintf(&b, "[epitome: %s has more matches]\n", name)
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("[epitome: no line matches, in %d artifacts]", len(names)), nil
	}
	return b.String(), nil
}

var nameShape = regexp.MustCompile(`\b[a-z2-7]{26}\b`)

// artifactName returns the name of an artifact that is given by name, path or URL.
func artifactName(artifact string) (string, error) {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(artifact), "artifact "), "?")
	name = strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".txt")
	if !offload.IsName(name) {
		return "", fmt.Errorf("%.60q names no artifact: give the 26 letters and digits that epitome's text names", artifact)
	}
	return name, nil
}

// named returns the name of an artifact, and then the names in its text, each once.
func (get ReadArtifact) named(ctx context.Context, artifact string) ([]string, error) {
	first, err := artifactName(artifact)
	if err != nil {
		return nil, err
	}
	text, err := get.lines(ctx, first, "", "", mostScan)
	names := []string{first}
	for _, found := range nameShape.FindAll(text, -1) {
		if len(names) <= mostNamed && !slices.Contains(names, string(found)) {
			names = append(names, string(found))
		}
	}
	return names, err
}
