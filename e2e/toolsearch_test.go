//go:build e2e

package e2e

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/internal/fakeapi"
)

// anthropic is the address by which epitome run knows that tool search works.
const anthropic = "https://api.anthropic.com"

// Claude Code with 60 tools of an MCP server asks for the schemas that it needs, in a version that does so behind any
// base URL and in one that needs to be told. A tool that it once found stays known to the model to the session's end.
func TestClaudeCodeSearchesItsTools(t *testing.T) {
	for name, pattern := range map[string]string{
		"2.1.300": "claude-code-before/claude", "newest": "@anthropic-ai/claude-code-*/claude",
	} {
		t.Run(name, func(t *testing.T) {
			claude := find(t, pattern)
			w := newWork(t, *turns, claudeTools)
			calls := w.searches()
			provider := plays(t, w, claudeModel, fakeapi.SaysTooLong)
			dir := t.TempDir()
			proxy := pretend(t, anthropic, provider.URL, filepath.Join(dir, "ca.pem"))
			config := filepath.Join(dir, "epitome.toml")
			text := fmt.Sprintf("[upstreams.anthropic.tls]\nca_file = %q\n", filepath.Join(dir, "ca.pem"))
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			servers := fmt.Sprintf(`{"mcpServers":{"many":{"command":"node","args":[%q]}}}`,
				filepath.Join(install(t, clients), "tools.mjs"))
			agent, between := tapped(t, claude, `told="$ANTHROPIC_BASE_URL"; export ANTHROPIC_BASE_URL="$tap"`)
			playClaude(t, w, claudeModel, anthropic, []string{"MAX_THINKING_TOKENS=0", "HTTPS_PROXY=" + proxy},
				[]string{build(t), "run", "--config", config, "--data", t.TempDir(), "--", agent}, "--mcp-config", servers)
			w.judge(t, provider, *turns)
			judgeArtifacts(t, provider)
			between.judge(t, provider)
			judgeTools(t, w, provider, calls)
		})
	}
}

// searches has the model ask for two tools, one early and one late, and call each again and again. It returns the
// answers that it gets.
func (w *work) searches() (answers []string) {
	const early, late = "record7", "record33"
	last := len(w.moves) - 1
	w.moves[1] = append(w.moves[1], call("ToolSearch", "query", "select:mcp__many__"+early))
	w.moves[last/2] = append(w.moves[last/2], call("ToolSearch", "query", "select:mcp__many__"+late))
	for turn := 2; turn <= last; turn++ {
		for tool, first := range map[string]int{early: 2, late: last/2 + 1} {
			if (turn-first)%4 == 0 && turn >= first {
				w.moves[turn] = append(w.moves[turn], call("mcp__many__"+tool, "field1", "x"))
				answers = append(answers, fmt.Sprintf("%s answers call %d", tool, (turn-first)/4+1))
			}
		}
	}
	return answers
}

// judgeTools holds that the model knows few tools, each from a search that it can see, and gets all answers.
func judgeTools(t *testing.T, w *work, p *fakeapi.Provider, answers []string) {
	t.Helper()
	deferred := 0
	for i, x := range posts(p) {
		if x.Counting || !w.asks(x.Body) {
			continue
		}
		messages, named := gjson.GetBytes(x.Body, "messages").Raw, 0
		for _, tool := range gjson.GetBytes(x.Body, "tools").Array() {
			name := tool.Get("name").Str
			if !strings.HasPrefix(name, "mcp__many__") {
				continue
			}
			named++
			if !strings.Contains(messages, fmt.Sprintf(`"tool_reference","tool_name":%q`, name)) {
				t.Errorf("request %d has tool %s, and no result names it", i+1, name)
			}
			if tool.Get("defer_loading").Bool() {
				deferred++
			}
		}
		if named > 2 {
			t.Errorf("request %d has the schemas of %d tools, want those of two at most", i+1, named)
		}
		answers = slices.DeleteFunc(answers, func(a string) bool { return bytes.Contains(x.Body, []byte(a)) })
	}
	if deferred == 0 || len(answers) > 0 {
		t.Errorf("tools were deferred %d times; the model got no answer %q", deferred, answers)
	}
}

// pretend starts a forward proxy that leads all connections to a server with the name in address, which hands all to
// base. It writes the certificate to trust, and returns the proxy's URL.
func pretend(t *testing.T, address, base, certificate string) (proxy string) {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	pair, _ := fakeapi.Issue(t, strings.TrimPrefix(address, "https://"), certificate, certificate+".key")
	front := httptest.NewUnstartedServer(&httputil.ReverseProxy{FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	front.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	front.StartTLS()
	t.Cleanup(front.Close)
	return "http://" + fakeapi.StartForwardProxy(t, front.Listener.Addr().String(), func(*http.Request) {})
}
