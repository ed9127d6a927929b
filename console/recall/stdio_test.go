package recall

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type closer struct{ io.Writer }

func (closer) Close() error { return nil }

// Whoever writes calls and closes standard input gets all answers.
func TestCallsBeforeTheEndAreAnswered(t *testing.T) {
	calls := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall","arguments":{"artifact":"` + data + `","path":"name"}}}
{"jsonrpc":"2.0","id":3,"method":"nothing/like/it"}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"outline","arguments":{"artifact":"` + result + `"}}}
`
	var said bytes.Buffer
	through := patient{&mcp.IOTransport{Reader: io.NopCloser(strings.NewReader(calls)), Writer: closer{&said}}}
	_ = NewServer("test", contents()).Run(t.Context(), through)
	for _, want := range []string{`"id":1`, `"id":2`, "mill", `"id":3`, `"id":4`, "5000 lines"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%s is not among the answers:\n%s", want, said.String())
		}
	}
}
