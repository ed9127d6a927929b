//go:build e2e

package agents_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"epitome/e2e/sdktest"
	"epitome/internal/fakeapi/responses/rules"
)

// Agents reach the tools of epitome mcp, by which a model reads an artifact when its agent may read no files of
// epitome.

// cited finds an artifact that a text names whose result was cleared or cut.
var cited = regexp.MustCompile(`artifacts?[/ ]([a-z2-7]{26})`)

// recallTool finds what an agent calls the tool: among those that the model has, or among names of which it is told
// that it may ask for them.
var recallTool = regexp.MustCompile(`(?:"name":"|\\n)([a-z_]*recall)\b`)

// recalls has the model read lines of an artifact that the request names, at the end of its work, and notes which. A
// tool that it has only heard of it asks for first, each agent in its own way.
func (w *work) recalls(name *string) {
	arguments := func(body []byte) (map[string]string, bool) {
		artifact := cited.FindSubmatch(body)
		if artifact == nil {
			return nil, false
		}
		*name = string(artifact[1])
		return map[string]string{"artifact": *name, "lines": "1-5"}, true
	}
	read := func(body []byte) (move, bool) {
		with, ok := arguments(body)
		tool := recallTool.FindSubmatch(body)
		if !ok || tool == nil {
			return move{}, false
		}
		c := calling(string(tool[1]), with)
		if space := namespace.FindSubmatch(body); space != nil {
			input, _ := json.Marshal(c.input)
			c.item = fmt.Sprintf(`{"type":"function_call","id":"fc_recall","call_id":"call_recall","namespace":%q,"name":%q,`+
				`"arguments":%s,"status":"completed"}`, space[1], c.tool, input)
		}
		return move{words: "What did that one say?", calls: []call{c}}, true
	}
	w.last = func(body []byte) (move, bool) {
		tool, find := recallTool.FindSubmatch(body), call{}
		switch {
		case tool != nil && bytes.Contains(body, []byte(`"name":"ToolSearch"`)):
			find = calling("ToolSearch", map[string]string{"query": "select:" + string(tool[1])})
		case tool == nil && bytes.Contains(body, []byte(`"type":"tool_search"`)):
			find.item = `{"type":"tool_search_call","id":"tsc_recall","call_id":"call_search","execution":"client",` +
				`"status":"completed","arguments":{"query":"recall read an artifact of epitome","limit":8}}`
		default:
			return read(body)
		}
		w.last = read
		return move{words: "Which tool reads it?", calls: []call{find}}, true
	}
}

// namespace finds that in which Codex has the tools of a server, once it was asked for them.
var namespace = regexp.MustCompile(`"type":"tool_search_output".*?"name":"(mcp__epitome[a-z_]*)"`)

// judgeRecall holds that the last request brings what the artifact has.
func judgeRecall(t *testing.T, received []taken, data, name string) {
	t.Helper()
	if name == "" {
		tools := regexp.MustCompile(`"(?:name|type)":"[^"]*(?i:mcp|recall|search|epitome|namespace)[^"]*"`).FindAll(received[len(received)-1].body, -1)
		t.Fatalf("the model found no tool or no artifact; the tools are %.2000s", bytes.Join(tools, []byte(" ")))
	}
	text, err := os.ReadFile(filepath.Join(data, "artifacts", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var longest string // of the lines that were asked for
	for _, line := range strings.SplitN(string(text), "\n", 6)[:5] {
		longest = cmp.Or(longest, line)
		if len(line) > len(longest) {
			longest = line
		}
	}
	want, err := json.Marshal(longest)
	if err != nil {
		t.Fatal(err)
	}
	want = want[1 : len(want)-1]
	last := received[len(received)-1].body
	at := bytes.LastIndex(last, []byte("What did that one say?"))
	if at < 0 || !bytes.Contains(last[at:], want) {
		t.Errorf("behind the call the last request has %s; want line %q", tail(string(last[max(at, 0):])), want)
	}
	t.Logf("artifact %s of %d bytes was read back", name, len(text))
}

func claudeRecalls(t *testing.T, n int, claude, binary string) {
	s := session{model: "claude-sonnet-4-5", home: t.TempDir(), env: []string{"MAX_THINKING_TOKENS=0"}}
	w := newWork(t, n, claudeTools, s.think)
	var name string
	w.recalls(&name)
	provider := strictMessages(t, s.model, w)
	data := t.TempDir()
	base := sdktest.Serve(t, binary, "--upstream", provider.URL(), "--data", data)
	s.words = []string{"--mcp-config", fmt.Sprintf(`{"mcpServers":{"epitome":{"command":%q,"args":["mcp","--data",%q]}}}`,
		binary, data)}
	s.playClaude(t, w, base, []string{claude})
	judgeRecall(t, inMessages(provider), data, name)
}

func codexRecalls(t *testing.T, n int, codex, binary string) {
	s := codexSession{builtin: true, home: t.TempDir()}
	w := newWork(t, n, codexTools, true)
	var name string
	w.recalls(&name)
	provider := strictResponses(t, trueWindow, rules.TooLong, w)
	data := t.TempDir()
	base := sdktest.Serve(t, binary, "--upstream", provider.URL()+"/v1", "--data", data)
	argv := append([]string{codex}, s.settings(base)...)
	argv = append(argv, "-c", fmt.Sprintf("mcp_servers.epitome.command=%q", binary),
		"-c", fmt.Sprintf("mcp_servers.epitome.args=[%q,%q,%q]", "mcp", "--data", data))
	s.play(t, w, argv)
	judgeRecall(t, inResponses(provider), data, name)
}
