package console

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"epitome/dialect/activity"
	"epitome/event"
	"epitome/store"
)

const mostAnswer = 24 << 10 // bytes of content in an answer

const instructions = "epitome moves large and old results out of the conversation. Lines that begin with [epitome: " +
	"say what was moved and name its artifact: 26 letters and digits, alone or in a path or URL. The tool recall " +
	"reads artifacts; begin with grep. The tool find searches all of them. The tool compact shortens the conversation."

// newMCP returns an MCP server with the tools recall, which reads artifacts, find, which searches a conversation's, and
// compact, whose call the proxy sees in the conversation. The name of an artifact is the right to read it.
func newMCP(version string, get ReadArtifact, find FindWord) *mcp.Server {
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
		Name: "find", Description: "Find a word in all that epitome moved out of this conversation: the newest lines " +
			"with it, at most 20, each with its message. Call it before you do something again or ask for it.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)},
	}, func(ctx context.Context, r *mcp.CallToolRequest, in findInput) (*mcp.CallToolResult, any, error) {
		text, err := find(ctx, cmp.Or(r.Extra, &mcp.RequestExtra{}).Header, in.Artifact, in.Word)
		return say(text), nil, err
	})
	mcp.AddTool(s, &mcp.Tool{
		Name: "compact", Description: "Shorten this conversation now: a summary takes the place of older turns, " +
			"which stay readable as an artifact. Call it when a piece of work is done and another one begins.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)},
	}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return say(activity.CompactAnswer), nil, nil
	})
	return s
}

func say(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// mcpHandler serves the tools over HTTP, without sessions. A panic costs one call: calls run on goroutines of the SDK,
// where it would end the process.
func mcpHandler(log *slog.Logger, version string, get ReadArtifact, find FindWord) http.Handler {
	s := newMCP(version, get, find)
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (answer mcp.Result, err error) {
			defer func() {
				if p := recover(); p != nil {
					log.Error("panic in a call of a tool", "panic", p, "stack", string(debug.Stack()))
					err = errors.New("epitome failed, as its log says")
				}
			}()
			return next(ctx, method, r)
		}
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		// The console checks hosts and origins.
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true})
}

// ServeMCP serves the tools on standard input and output until the input ends.
func ServeMCP(ctx context.Context, version string, get ReadArtifact, find FindWord) error {
	err := newMCP(version, get, find).Run(ctx, &mcp.StdioTransport{})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// artifactName matches the name in what a model writes: the name itself, a path or a URL.
var artifactName = regexp.MustCompile(`\b[a-z2-7]{26}(?:\.(?:png|jpeg|gif|webp|pdf))?\b`)

type recallInput struct {
	Artifact string `json:"artifact" jsonschema:"its name, path or URL"`
	Lines    string `json:"lines,omitempty" jsonschema:"only these lines, counted from 1: A-B, A-, -B or A"`
	Grep     string `json:"grep,omitempty" jsonschema:"lines that match this regular expression, each after its number"`
	From     int    `json:"from,omitempty" jsonschema:"skip so many bytes of the answer: for long lines"`
}

type findInput struct {
	Word     string `json:"word" jsonschema:"a word, or any text within a line; case does not matter"`
	Artifact string `json:"artifact" jsonschema:"the name of any artifact of this conversation, best of its transcript"`
}

// recall returns an artifact, or a part of it, in whole lines where they are short enough.
func (get ReadArtifact) recall(ctx context.Context, in recallInput) (string, error) {
	name := artifactName.FindString(in.Artifact)
	if name == "" {
		return "", fmt.Errorf("%.60q names no artifact: give the 26 letters and digits in epitome's text", in.Artifact)
	}
	text, err := get.lines(ctx, name, in.Lines, in.Grep)
	from := max(in.From, 0)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", errors.New("this takes too long; ask for fewer lines, or for a simpler expression")
	case errors.Is(err, store.ErrAway):
		return "", errors.New("the artifacts cannot be reached now; ask again soon")
	case err != nil:
		return "", err
	case from > len(text):
		return fmt.Sprintf("[epitome: it ends %d bytes before]", from-len(text)), nil
	case len(text)-from <= mostAnswer:
		return string(text[from:]), nil
	}
	text = bytes.ToValidUTF8(text[from:from+mostAnswer], nil) // without a part of a character
	end := bytes.LastIndexByte(text, '\n')
	if end >= 0 {
		text = text[:end+1]
	}
	return fmt.Sprintf("%s\n[epitome: there is more. Read on with from = %d and the same lines and grep, or ask "+
		"for less.]", text, from+len(text)), nil
}

// Hit is an artifact with the lines in it that match.
type Hit struct {
	Conversation string     `json:"conversation"`
	Turn         int        `json:"turn"`  // at which its content was taken out
	Edit         event.Edit `json:"edit"`  // that took it out
	Lines        string     `json:"lines"` // each behind its number and a colon
}

// find looks for a word or regular expression, in either case, in all that was taken out of the conversations whose IDs
// begin as the query says. Hits are in the order of turns. With the name of an artifact, it answers like the tool find.
func (o *Console) find(r *http.Request) (any, error) {
	q := r.URL.Query()
	if q.Has("artifact") {
		return o.findWord(r.Context(), nil, q.Get("artifact"), q.Get("find"))
	}
	hits := []Hit{} // not null in JSON
	for _, id := range o.program.Book.IDs(q.Get("conversation")) {
		s, err := o.program.Book.Conversation(id)
		for _, e := range s.Exchanges {
			var edits event.Edits
			if err == nil && e.Decided {
				edits, err = o.program.Edits(e.Decision)
			}
			for _, edit := range edits.List {
				if !edit.New {
					continue
				}
				lines, failed := ReadArtifact(o.program.Artifact).lines(r.Context(), edit.Artifact, "", "(?i)"+q.Get("find"))
				if failed == nil {
					hits = append(hits, Hit{id, e.Turn, edit, string(lines)})
				} else if !isGone(failed) { // it has such lines, and has not expired
					err = failed
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return hits, nil
}

// FindWord answers the tool find. h has the headers of the call; nil if it comes from the owner.
type FindWord func(ctx context.Context, h http.Header, artifact, word string) (string, error)

// findWord returns the newest lines with a word of all that left the conversation in which an artifact's name stands.
func (o *Console) findWord(ctx context.Context, h http.Header, artifact, word string) (string, error) {
	const most = 20 // lines
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	edits, err := o.program.EditsWith(ctx, h, artifactName.FindString(artifact))
	var found []string
	for i := len(edits) - 1; i >= 0 && len(found) < most && ctx.Err() == nil; i-- {
		content, failed := o.program.Artifact(edits[i].Artifact)
		found = append(linesWith(word, string(content), edits[i], most-len(found)), found...)
		err = cmp.Or(err, failed, ctx.Err())
	}
	if found != nil {
		return strings.Join(found, "\n"), nil
	}
	if err != nil {
		return "", o.told(err) // models read it, too
	}
	return "", badRequest("nothing that left this conversation has %.80q", word)
}

// linesWith returns the last lines with a word in what an edit took out, each with its message and the text around.
func linesWith(word, text string, e event.Edit, most int) (found []string) {
	type hit struct {
		heading  string
		line, at int // its number; where the word begins, or nearly, as in lower case the bytes before it may be others
	}
	var hits []hit
	heading := e.Messages()
	start := 0                            // of a line
	mark, _, _ := strings.Cut(text, ": ") // of headings in a transcript
	word = strings.ToLower(word)
	for i, line := range strings.SplitAfter(text, "\n") {
		if e.Last > e.Item && strings.HasPrefix(line, mark) {
			heading = line
		}
		at := strings.Index(strings.ToLower(line), word)
		if at >= 0 {
			hits = append(hits[max(0, len(hits)-most+1):], hit{heading, i + 1, start + min(at, len(line))})
		}
		start += len(line)
	}
	for _, h := range hits {
		heading := Shorten(strings.TrimSpace(h.heading), 100)
		around := Shorten(text[max(0, h.at-60):], 180)
		found = append(found, Plain(fmt.Sprintf("%s, line %d of artifact %s: %s", heading, h.line, e.Artifact, around)))
	}
	return found
}
