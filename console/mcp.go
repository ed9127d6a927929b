package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"epitome/dialect/activity"
	"epitome/offload"
)

const mostAnswer = 24 << 10 // bytes of content in an answer

const instructions = "epitome moves large and old results out of the conversation. Lines that begin with [epitome: " +
	"say what was moved and name its artifact: 26 letters and digits, alone or in a path or URL. The tool recall " +
	"reads artifacts. Read only what you need: begin with grep. The tool compact shortens the conversation now."

// newMCP returns an MCP server with the tools recall, which reads artifacts, and compact, whose call the proxy sees in the
// conversation. The name of an artifact is the right to read it.
func newMCP(version string, get ReadArtifact) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "epitome", Title: "epitome", Version: version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}})
	mcp.AddTool(s, &mcp.Tool{
		Name: "recall", Description: "Read an artifact: a result or older turns that epitome moved out of the " +
			"conversation. Give lines or grep to read a part of it. A long answer ends with what to ask for next.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)},
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in recallInput) (*mcp.CallToolResult, any, error) {
		text, err := get.recall(ctx, in) // the model gets the error, and can ask for something else
		return say(text), nil, err
	})
	mcp.AddTool(s, &mcp.Tool{
		Name: "compact", Description: "Shorten this conversation now: a summary takes the place of older turns, which " +
			"stay readable as an artifact. Call it when a piece of work is done and another one begins.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)},
	}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return say(activity.CompactAnswer), nil, nil
	})
	return s
}

func say(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
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

type recallInput struct {
	Artifact string `json:"artifact,omitempty" jsonschema:"its name, path or URL; without one, the newest are listed"`
	Lines    string `json:"lines,omitempty" jsonschema:"only these lines, counted from 1: A-B, A-, -B or A"`
	Grep     string `json:"grep,omitempty" jsonschema:"lines that match this regular expression, each after its number"`
	From     int    `json:"from,omitempty" jsonschema:"skip so many bytes of the answer: for long lines"`
}

// recall returns an artifact, or a part of it, in whole lines where they are short enough.
func (get ReadArtifact) recall(ctx context.Context, in recallInput) (string, error) {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(in.Artifact), "artifact "), "?")
	name = strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".txt")
	if in.Artifact == "" {
		name = "" // the list of all, where there is one
	} else if !offload.IsName(name) {
		return "", fmt.Errorf("%.60q names no artifact: give the 26 letters and digits that epitome's text names",
			in.Artifact)
	}
	text, err := get.lines(ctx, name, in.Lines, in.Grep)
	from := max(in.From, 0)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", errors.New("this takes too long; ask for fewer lines, or for a simpler expression")
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
	return fmt.Sprintf("%s\n[epitome: there is more. Read on with from = %d and the same lines and grep, or ask "+
		"for less.]", text, from+len(text)), nil
}
