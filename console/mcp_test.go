package console

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"epitome/event"
	"epitome/offload"
)

// contents are artifacts in memory, by name.
type contents map[string]string

func (s contents) get(name string) ([]byte, error) {
	text, ok := s[name]
	if !ok {
		return nil, offload.ErrUnknown
	}
	return []byte(text), nil
}

const (
	result = "bbbbbbbbbbbbbbbbbbbbbbbbbb"
	gone   = "eeeeeeeeeeeeeeeeeeeeeeeeee"
	faulty = "dddddddddddddddddddddddddd" // reading it panics
	odd    = "ffffffffffffffffffffffffff"
	long   = "gggggggggggggggggggggggggg"
)

func artifactsInMemory() contents {
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "line %d of the result\n", i+1)
	}
	return contents{
		result: lines.String(),
		odd:    strings.Repeat("ü", 40_000),
		long:   strings.Repeat("filler. ", 6_250) + "NEEDLE=42 " + strings.Repeat("filler. ", 31_250),
	}
}

// connect has the SDK's own client speak with the tools, over HTTP.
func connect(t *testing.T) func(tool string, args map[string]any) (string, bool) {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	get := func(name string) ([]byte, error) {
		if name == faulty {
			panic("planted")
		}
		return artifactsInMemory().get(name)
	}
	server := httptest.NewServer(mcpHandler(slog.New(slog.DiscardHandler), "test", get, nil))
	t.Cleanup(server.Close)
	far := &mcp.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}
	session, err := c.Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return func(tool string, args map[string]any) (string, bool) {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			return err.Error(), false
		}
		text, _ := r.Content[0].(*mcp.TextContent)
		return text.Text, !r.IsError
	}
}

func TestModelsReadArtifacts(t *testing.T) {
	call := connect(t)
	f := func(args map[string]any, well bool, wants ...string) {
		t.Helper()
		got, ok := call("recall", args)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%v: %.600q lacks %q", args, got, want)
			}
		}
		if ok != well || len(got) > mostAnswer+1000 {
			t.Errorf("%v: went well: %t, %d bytes: %.300q", args, ok, len(got), got)
		}
	}
	type args = map[string]any
	f(args{"artifact": "http://127.0.0.1:7070/-/artifacts/" + result, "lines": "10-11"}, true,
		"line 10 of the result\nline 11 of the result\n")
	f(args{"artifact": result}, true, "line 1 of", "there is more. Read on with from = ")
	f(args{"artifact": odd}, true, "Read on with from = 24576")
	f(args{"artifact": long, "grep": "NEEDLE=[0-9]+"}, true, "1+49", " NEEDLE=42 ")
	f(args{"artifact": faulty}, false, "epitome failed, as its log says")
	f(args{"artifact": gone}, false, "there is no such artifact")
	f(args{"artifact": "../../etc/passwd"}, false, "names no artifact")
}

// TestEachByteOfALongLineIsReached reads on by what each answer says.
func TestEachByteOfALongLineIsReached(t *testing.T) {
	get := ReadArtifact(artifactsInMemory().get)
	for name, lines := range map[string]string{long: "", odd: "1", result: ""} {
		var read strings.Builder
		for from := 2; ; { // what is read before would end at a line
			text, err := get.recall(t.Context(), recallInput{name, lines, "", from})
			if err != nil {
				t.Fatal(err)
			}
			piece, more, goesOn := strings.Cut(text, "\n[epitome: ")
			read.WriteString(piece)
			if !goesOn {
				break
			}
			_, at, _ := strings.Cut(more, "from = ")
			at, _, _ = strings.Cut(at, " ")
			next, err := strconv.Atoi(at)
			if err != nil || next <= from {
				t.Fatalf("behind %d bytes: %s", from, more)
			}
			from = next
		}
		if want := artifactsInMemory()[name][2:]; read.String() != want {
			t.Errorf("%s: %d bytes were read, want %d", name, read.Len(), len(want))
		}
	}
}

// Of a word that is everywhere, only the lines that are returned cost more than the search.
func TestFindOfAWordThatIsEverywhere(t *testing.T) {
	text := strings.Repeat("it is here\n", 10_000)
	find := func() { linesWith("here", text, event.Edit{Last: 1, Artifact: long}, 20) }
	if n := testing.AllocsPerRun(1, find); n > 5_000 {
		t.Errorf("%v allocations for 10,000 lines", n)
	}
}
