package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// agent is a plain loop around a model, as the makers of SDKs show it: it keeps its whole conversation and sends it
// again each turn. Nothing in it knows of epitome.
type agent struct {
	ruler    *ruler
	client   *http.Client
	tools    json.RawMessage
	messages []json.RawMessage
	plain    []*message // the same before they were encoded
	tokens   int        // of the request as the agent sends it
	several  bool       // the last assistant's message has called more than once
}

const systemPrompt = `You are a software engineer at work on the service settle, a ledger written in Go. You work alone, step by step, with the tools that you have.
Read before you edit. Change one thing at a time, and run the tests of a package after each change. Say in one line what you found out: lines that begin
with Tried, Decision, Done or Next are your notes. Where a result has been put aside, the text in its place says in which file it lies; search it there.`

func newAgent(r *ruler) (*agent, error) {
	a := &agent{ruler: r, client: &http.Client{Transport: &http.Transport{Proxy: nil}}, tools: declarations()}
	empty, err := r.look(a.body())
	if err != nil {
		return nil, err
	}
	a.tokens = empty.tokens
	a.add(&message{Role: "system", Content: systemPrompt})
	return a, nil
}

// add puts a message behind the others, and returns its size in tokens.
func (a *agent) add(m *message) (tokens int) {
	if m.Role == "assistant" {
		a.several = len(m.Calls) > 1
	}
	a.messages, a.plain = append(a.messages, encoded(m)), append(a.plain, m)
	tokens = a.ruler.message(m, m.Role == "tool" && a.several)
	a.tokens += tokens
	return tokens
}

func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(v); err != nil {
		panic("BUG: a message that is no JSON: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

// body returns the next request.
func (a *agent) body() []byte {
	return encoded(request{Model: modelName, Stream: true, StreamOptions: &streamOptions{true}, Tools: a.tools,
		Messages: a.messages})
}

// refusalError is an error that the model answered with.
type refusalError struct {
	status int
	failure
}

func (e refusalError) Error() string {
	code := ""
	if e.failure.Error.Code != nil {
		code = " " + *e.failure.Error.Code
	}
	return fmt.Sprintf("%d%s: %q", e.status, code, e.failure.Error.Message)
}

// ask sends a request to a base URL and reads the answer.
func (a *agent) ask(ctx context.Context, url string, body []byte) (*message, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer none")
	resp, err := a.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		refused := refusalError{status: resp.StatusCode}
		if err := json.NewDecoder(resp.Body).Decode(&refused.failure); err != nil {
			return nil, nil, fmt.Errorf("status %d, and %w", resp.StatusCode, err)
		}
		return nil, resp.Header, refused
	}
	m, err := readStream(resp.Body)
	return m, resp.Header, err
}

// readStream puts a streamed answer together.
func readStream(from io.Reader) (*message, error) {
	m := &message{Role: "assistant"}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case !ok:
			continue
		case line == "[DONE]":
			return m, nil
		}
		var piece reply
		if err := json.Unmarshal([]byte(line), &piece); err != nil {
			return nil, err
		}
		for _, c := range piece.Choices {
			if c.Delta != nil {
				m.take(c.Delta)
			}
		}
	}
	return nil, errors.Join(lines.Err(), io.ErrUnexpectedEOF)
}

// take adds a piece of the message.
func (m *message) take(d *delta) {
	m.Content += d.Content
	for _, c := range d.Calls {
		for len(m.Calls) <= c.Index {
			m.Calls = append(m.Calls, toolCall{Index: len(m.Calls)})
		}
		to := &m.Calls[c.Index]
		to.ID, to.Type = to.ID+c.ID, to.Type+c.Type
		to.Function.Name += c.Function.Name
		to.Function.Arguments += c.Function.Arguments
	}
}

// declarations returns the agent's tools.
func declarations() json.RawMessage {
	tool := func(name, description string, parameters ...string) (d declared) {
		d.Type, d.Function.Name, d.Function.Description = "function", name, description
		d.Function.Parameters.Type, d.Function.Parameters.Properties = "object", map[string]property{}
		for i := 0; i < len(parameters); i += 3 {
			d.Function.Parameters.Properties[parameters[i]] = property{parameters[i+1], parameters[i+2]}
			d.Function.Parameters.Required = append(d.Function.Parameters.Required, parameters[i])
		}
		return d
	}
	return encoded([]declared{
		tool(readTool, "Reads a file.", "path", "string", "Path of the file.", "limit", "integer", "Lines from the beginning; 0 for all."),
		tool(searchTool, "Searches files with a regular expression.", "pattern", "string",
			"The expression, as Go's regexp reads it.", "path", "string", "A dot for the repository, or paths of files, one to a line."),
		tool(editTool, "Replaces a text in a file.", "path", "string", "Path of the file.",
			"old_text", "string", "What stands there now.", "new_text", "string", "What is to stand there."),
		tool(writeTool, "Writes a file.", "path", "string", "Path of the file.", "content", "string", "All of it."),
		tool(shellTool, "Runs a command in the repository.", "command", "string", "The command line."),
		tool(webTool, "Sends a request to the service.", "method", "string", "GET or POST.", "url", "string", "The whole address."),
	})
}
