// Package recall gives models tools to read back what was taken out of conversations, over the Model Context Protocol.
//
// It promises that an artifact's name is the right to read it, and to read what its text names, and nothing else; that
// an answer has at most mostAnswer bytes of content, whole lines of it as far as they are that short, and says how to
// go on; that time and memory are bounded whatever a model asks for; and that nothing is changed.
package recall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Artifacts gives back what was taken out, for whoever has its name.
type Artifacts interface {
	// Open returns the content under a name, which the caller closes, and its size in bytes.
	Open(name string) (content io.ReadCloser, size int64, err error)
	// Beginning returns the names that begin with these letters, or the first few of them.
	Beginning(letters string) (names []string, err error)
	// Lines reads which lines are wanted, as in "10-20", and a regular expression that they match; empty ones want all.
	// choose copies those; an error says what to write instead.
	Lines(lines, grep string) (choose func(from io.Reader, to io.Writer) error, err error)
}

// The bounds of an answer.
const (
	mostAnswer = 24 << 10         // bytes of content
	longest    = 20 * time.Second // that an answer may take
	mostNamed  = 200              // artifacts that one may lead to
	mostListed = 60               // of these that are told of
	mostScan   = 4 << 20          // bytes in which names are looked for
	mostJSON   = 64 << 20         // bytes of a content of which a path may be asked for
)

const instructions = "epitome moves large and old results out of the conversation. Lines that begin with [epitome: say " +
	"what was moved and name its artifact: 26 letters and digits, alone or in a path or URL. These tools read artifacts. " +
	"Read only what you need: begin with outline, or with grep or search."

// NewServer returns a server with the tools.
func NewServer(version string, artifacts Artifacts) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "epitome", Title: "epitome", Version: version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}})
	r := reader{artifacts}
	add(s, "recall", "Read an artifact: a result or older turns that epitome moved out of the conversation. Give lines, grep "+
		"or path to read a part of it. A long answer ends with what to ask for next.", r.recall)
	add(s, "search", "Search an artifact, and the artifacts that its text names, for a regular expression. Each line of the "+
		"answer begins with the artifact and the number of the line.", r.search)
	add(s, "outline", "Say what an artifact has: its size, its structure or its telling lines, with their numbers.", r.outline)
	add(s, "list", "List the artifacts that an artifact's text names, such as the results in a transcript.", r.list)
	return s
}

// Handler serves the tools over HTTP. It keeps no sessions. The tools are made for the first who asks: most programs
// that start are never asked.
func Handler(version string, artifacts Artifacts) http.Handler {
	made := sync.OnceValue(func() http.Handler {
		s := NewServer(version, artifacts)
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
			// who may come here is for the guard of the pages to say
			&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { made().ServeHTTP(w, r) })
}

// ServeStdio serves the tools on standard input and output, until that ends and all calls are answered.
func ServeStdio(ctx context.Context, version string, artifacts Artifacts) error {
	err := NewServer(version, artifacts).Run(ctx, patient{&mcp.StdioTransport{}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// add adds a tool. What it fails by is told to the model, which can ask for something else.
func add[In any](s *mcp.Server, name, description string, answer func(ctx context.Context, in In) (string, error)) {
	changesNothing := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}
	tool := &mcp.Tool{Name: name, Description: description, Annotations: changesNothing}
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		ctx, cancel := context.WithTimeout(ctx, longest)
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
