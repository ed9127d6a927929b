//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"epitome/internal/fakeapi"
)

// Compactions that a client leaves to its provider, in front of providers that have none: each comes, the session goes
// on, also at another provider, and the requests that they get still have what was said before.

// told are facts, each told once in a session: by the user, by the result of a tool, and by the agent.
var told = []string{"The release is on the 4th of March.", "port = 7719", "I take the lock before the file."}

// teller is a model that tells the last fact, looks for the second, and writes into a summary those that it is shown.
func teller(x fakeapi.Exchange) []fakeapi.Part {
	if text := fakeapi.Summary(x.Body); text != "" {
		for _, fact := range told {
			if bytes.Contains(x.Body, []byte(fact)) {
				text += "- " + fact + "\n"
			}
		}
		return []fakeapi.Part{fakeapi.Text(text)}
	}
	last := gjson.GetBytes(x.Body, "input|@reverse|0.content")
	shell := func(file string) fakeapi.Part { return fakeapi.Call("", "exec_command", `{"cmd":"cat `+file+`"}`) }
	switch words := last.Str + last.Get("0.text").Str; {
	case strings.HasPrefix(words, "Remember."):
		return []fakeapi.Part{fakeapi.Text(told[2])}
	case words == "Which port?":
		return []fakeapi.Part{shell("port.txt")}
	case words == "Read.":
		return []fakeapi.Part{shell("one.txt"), shell("two.txt")}
	}
	return []fakeapi.Part{fakeapi.Text("That is done.")}
}

// judgeKnowing holds that the newest request has all facts and was not refused. A path, a field and an item may have
// been refused before, by which it is learned what the provider lacks.
func judgeKnowing(t *testing.T, p *fakeapi.Provider) {
	t.Helper()
	all := posts(p)
	if len(all) == 0 {
		t.Fatal("the provider got no request")
	}
	last := all[len(all)-1]
	for _, fact := range told {
		if !bytes.Contains(last.Body, []byte(fact)) {
			t.Errorf("request %d lacks %q", last.N, fact)
		}
	}
	if n := len(p.Refusals()); n > 3 || last.Refusal != nil {
		t.Errorf("the provider has refused %d requests, the newest: %t", n, last.Refusal != nil)
	}
}

// codexServer is a Codex that is asked over its standard input.
type codexServer struct {
	t         *testing.T
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *json.Decoder
	asked     int
	thread    string
	compacted int      // compactions that came to their end
	errors    []string // that Codex told
}

// startCodex starts one in a folder by a command, and begins a thread, or goes on with one.
func startCodex(t *testing.T, dir, thread string, argv ...string) *codexServer {
	t.Helper()
	argv = append(argv, "app-server", "-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false",
		"--disable", "apps", "--disable", "plugins")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	closed := "http://127.0.0.1:9" // nobody listens there
	cmd.Env = append(environ(), "HTTPS_PROXY="+closed, "HTTP_PROXY="+closed, "NO_PROXY=127.0.0.1,localhost",
		"HOME="+dir, "CODEX_HOME="+dir, "CODEX_API_KEY=sk-test") // run asks the environment which login is used
	var complaint fakeapi.Log
	cmd.Dir, cmd.WaitDelay, cmd.Stderr = dir, 5*time.Second, &complaint
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err != nil || err2 != nil || cmd.Start() != nil {
		t.Fatal("cannot start Codex:", err, err2)
	}
	c := &codexServer{t: t, cmd: cmd, in: in, out: json.NewDecoder(out), thread: thread}
	t.Cleanup(func() {
		if c.end(); t.Failed() {
			t.Logf("Codex told %q\n%s", c.errors, tail(complaint.String()))
		}
	})
	c.ask("initialize", `"clientInfo":{"name":"test","version":"1"}`, "")
	_, _ = io.WriteString(c.in, `{"method":"initialized"}`+"\n")
	c.ask("account/login/start", `"type":"apiKey","apiKey":"sk-test"`, "")
	method := "thread/resume"
	if thread == "" {
		method = "thread/start"
	}
	settings := fmt.Sprintf(`"model":%q,"cwd":%q,"approvalPolicy":"never","sandbox":"danger-full-access"`, codexModel, dir)
	c.thread = c.ask(method, settings, "").Get("thread.id").Str
	return c
}

// ask calls a method for the thread, if there is one, and reads until it is answered, and until is notified.
func (c *codexServer) ask(method, params, until string) (result gjson.Result) {
	c.t.Helper()
	if c.asked++; c.thread != "" {
		params += fmt.Sprintf(`,"threadId":%q`, c.thread)
	}
	params = "{" + strings.TrimPrefix(params, ",") + "}"
	_, _ = fmt.Fprintf(c.in, `{"id":%d,"method":%q,"params":%s}`+"\n", c.asked, method, params)
	for answered := false; ; {
		var raw json.RawMessage
		if err := c.out.Decode(&raw); err != nil {
			c.t.Fatalf("Codex ends in %s: %v", method, err)
		}
		m := gjson.ParseBytes(raw)
		name := m.Get("method").Str
		switch {
		case name == "" && m.Get("error").Exists():
			c.t.Fatalf("Codex answers %s with %s", method, raw)
		case name == "" && m.Get("id").Int() == int64(c.asked):
			answered, result = true, m.Get("result")
		case name == "error":
			c.errors = append(c.errors, m.Get("params.error.message").Str)
		case name == "item/completed" && m.Get("params.item.type").Str == "contextCompaction":
			c.compacted++
		}
		if answered && (until == "" || name == until) {
			return result
		}
	}
}

// say has Codex do a turn.
func (c *codexServer) say(words string) {
	c.t.Helper()
	c.ask("turn/start", fmt.Sprintf(`"input":[{"type":"text","text":%q}]`, words), "turn/completed")
}

// compact is the command /compact, and a turn behind it.
func (c *codexServer) compact() {
	c.t.Helper()
	c.ask("thread/compact/start", "", "turn/completed")
	c.say("Go on.")
}

func (c *codexServer) end() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

func TestCodexCompacts(t *testing.T) {
	codex := find(t, "@openai/codex-*/vendor/*/bin/codex")
	const each = 5
	came := 0 // of four times each
	f := func(name string, none fakeapi.Compaction, next func(*codexServer), settings ...string) {
		t.Run(name, func(t *testing.T) {
			first := fakeapi.StartProvider(t, fakeapi.Options{Answer: teller, Compaction: none})
			second := fakeapi.StartProvider(t, fakeapi.Options{Answer: teller, Compaction: fakeapi.RefusesCompaction})
			w := &work{dir: t.TempDir()}
			w.file(t, "port.txt", told[1])
			w.file(t, "one.txt", lines("%s reads %d and %d", "one")[:11_000])
			w.file(t, "two.txt", lines("%s writes %d and %d", "two")[:11_000])
			w.file(t, "epitome.toml", fmt.Sprintf("upstream = \"first\"\nupstreams.first.url = \"%s/v1\"\n"+
				"upstreams.second.url = \"%s/v1\"\n", first.URL, second.URL))
			data := t.TempDir()
			base := serve(t, "--config", filepath.Join(w.dir, "epitome.toml"), "--data", data)
			agent, between := tapped(t, codex, `told=${2#openai_base_url=\"}; told=${told%\"}
setting="openai_base_url=\"$tap\""; shift 2; set -- -c "$setting" "$@"`)
			c := startCodex(t, w.dir, "", append([]string{build(t), "run", "--data", data, "--", agent}, settings...)...)
			c.say("Remember. " + told[0])
			c.say("Which port?")
			for i := 0; i < 2*each && c.compacted < each; i++ {
				next(c)
				judgeKnowing(t, first)
			}
			c.end()
			came += min(c.compacted, each)
			again := startCodex(t, w.dir, c.thread, codex, "-c", `openai_base_url="`+base+`/u/second/v1"`)
			again.say("Go on.")
			judgeKnowing(t, second)
			if told := append(c.errors, again.errors...); c.compacted < each || len(told) > 0 {
				t.Errorf("%d of %d compactions came; Codex told %q", c.compacted, each, told)
			}
			if none == fakeapi.RefusesCompaction && settings == nil {
				came += compactWhole(t, first, between, each)
			}
		})
	}
	f("refused", fakeapi.RefusesCompaction, (*codexServer).compact)
	f("ignored", fakeapi.IgnoresCompaction, (*codexServer).compact)
	f("by threshold", fakeapi.RefusesCompaction, func(c *codexServer) { c.say("Read.") },
		"-c", "model_auto_compact_token_limit=13000")
	t.Logf("%d of %d compactions came", came, 4*each)
}

// compactWhole asks for the same compactions as Codex did, but without a stream, and goes on with each item. It returns
// how many came.
func compactWhole(t *testing.T, p *fakeapi.Provider, between *tap, most int) (came int) {
	t.Helper()
	ask := func(body []byte) gjson.Result {
		body, _ = sjson.SetBytes(body, "stream", false)
		req, _ := http.NewRequestWithContext(t.Context(), "POST", between.URL+"/responses", bytes.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer sk-test")
		resp, err := fakeapi.Direct().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		answer, _ := io.ReadAll(resp.Body)
		return gjson.ParseBytes(answer)
	}
	for _, seen := range between.passages[:len(between.passages):len(between.passages)] {
		if !compacts(seen.body) || came == most {
			continue
		}
		answer := ask(seen.body)
		item := answer.Get("output.0")
		if answer.Get("output.#").Int() != 1 || item.Get("type").Str != "compaction" {
			t.Errorf("the answer is %s, want one item of a compaction", answer.Raw)
			continue
		}
		came++
		kept := gjson.GetBytes(seen.body, `input.#(role=="user")#|@reverse|0`).Raw
		next, _ := sjson.SetRawBytes(seen.body, "input", []byte("["+kept+","+item.Raw+`,{"role":"user","content":"Go on."}]`))
		if answer = ask(next); answer.Get("status").Str != "completed" {
			t.Errorf("the session ends with %s", answer.Raw)
		}
		judgeKnowing(t, p)
	}
	return came
}
