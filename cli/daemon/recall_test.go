package daemon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestModelsAskForArtifactsOverHTTP: whoever has a name can read it there, and no page of another site can ask.
func TestModelsAskForArtifactsOverHTTP(t *testing.T) {
	var p teamsProvider
	up := httptest.NewServer(&p)
	defer up.Close()
	at, _ := s3(t)
	one, err := keepIn(t, at, up.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer one.end(t)
	content := []byte("first\nsecond\n")
	shelf := one.shapers.storage.shelf
	name := shelf.Name("scope", content)
	if err := shelf.Put(name, content, false); err != nil {
		t.Fatal(err)
	}
	ask := func(origin string) (int, string) {
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"artifact":"` + name +
			`","lines":"2"}}}`
		r, err := http.NewRequest(http.MethodPost, "http://"+one.Address()+"/-/mcp", strings.NewReader(call))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	status, text := ask("")
	if status != http.StatusOK || !strings.Contains(text, `second\n`) || strings.Contains(text, "first") {
		t.Errorf("%d %s", status, text)
	}
	if status, text = ask("https://evil.example"); status != http.StatusForbidden || strings.Contains(text, "second") {
		t.Errorf("a page of another site gets %d %s", status, text)
	}
}
