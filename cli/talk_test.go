package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"text/template"

	"github.com/tidwall/gjson"

	"epitome/internal/fakeapi"
	"epitome/tokenize"
)

type object = map[string]any

// talk is a conversation that can be written in three APIs.
type talk []line

// line is something that is said: by the system, the user or the agent, what the agent thinks, a call, with the kind "="
// its result, or a raw item as the API has it.
type line struct {
	kind string
	name string // of a tool, or of who speaks
	text string // of a call, its arguments
}

var lineStart = regexp.MustCompile(`(?m)^(?:(system|user|agent|thinks|raw)(?:/(\w+))?:|(call) (\S+)|(=))(?: |$)`)

// readTalk reads a file: lines of the kinds that lineStart has, each with the lines that follow it. The file is a
// template with the functions below. A text that begins with a quote is a JSON string.
func (s *stage) readTalk(file string) (all talk) {
	functions := template.FuncMap{"seq": seq, "rows": rows, "words": words, "file": s.ReadFile}
	t, err := template.New(file).Funcs(functions).Parse(s.ReadFile(file))
	s.Check(err)
	var b strings.Builder
	s.Check(t.Execute(&b, nil))
	text := strings.TrimRight(b.String(), "\n")
	starts := lineStart.FindAllStringSubmatchIndex(text, -1)
	for n, at := range starts {
		end := len(text) + 1
		if n+1 < len(starts) {
			end = starts[n+1][0]
		}
		group := func(k int) string {
			if at[2*k] < 0 {
				return ""
			}
			return text[at[2*k]:at[2*k+1]]
		}
		said := strings.TrimPrefix(text[at[1]:end-1], " ")
		if strings.HasPrefix(said, `"`) {
			s.Check(json.Unmarshal([]byte(said), &said))
		}
		all = append(all, line{kind: group(1) + group(3) + group(5), name: group(2) + group(4), text: said})
	}
	return all
}

func seq(from, to int) (all []int) {
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	return all
}

// rows are so many lines, unlike those with another tag.
func rows(n int, tag any) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, "row %d of %v has the value %d\n", k+1, tag, (k+7)*(k+13))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// words are so many words in one line.
func words(n int, tag any) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, "%v%d ", tag, (k+3)*(k+5))
	}
	return strings.TrimSpace(b.String())
}

// requests are the lengths of the beginnings of a talk that a model is asked to go on from.
func (t talk) requests() (ends []int) {
	open := 0
	for n, l := range t {
		switch l.kind {
		case "call":
			open++
		case "=":
			open--
		}
		last := n == len(t)-1
		asks := l.kind == "user" || l.kind == "="
		if asks && open <= 0 && (last || t[n+1].kind != "user" && t[n+1].kind != "=") {
			ends = append(ends, n+1)
		}
	}
	return ends
}

// body is a request with the first lines of a talk. Its tools are those of the whole.
func (t talk) body(api string, lines int) object {
	var tools []object
	seen := map[string]bool{}
	for _, l := range t {
		if l.kind != "call" || seen[l.name] {
			continue
		}
		seen[l.name] = true
		schema := object{"type": "object"}
		switch api {
		case "chat":
			function := object{"name": l.name, "parameters": schema}
			tools = append(tools, object{"type": "function", "function": function})
		case "messages":
			tools = append(tools, object{"name": l.name, "input_schema": schema})
		default:
			tools = append(tools, object{"type": "function", "name": l.name, "parameters": schema})
		}
	}
	body := object{"model": "m"}
	if len(tools) > 0 {
		body["tools"] = tools
	}
	switch t = t[:lines]; api {
	case "chat":
		body["messages"] = t.chat()
	case "messages":
		body["max_tokens"] = 1000
		body["messages"] = t.messages()
		if len(t) > 0 && t[0].kind == "system" {
			body["system"] = t[0].text
		}
	default:
		body["input"] = t.input()
		body["store"] = false
		if len(t) > 0 && t[0].kind == "system" {
			body["instructions"] = t[0].text
		}
	}
	return body
}

// ids gives each call an ID, and each result that of its call.
func (t talk) ids() []string {
	all := make([]string, len(t))
	var open []string
	for n, l := range t {
		switch {
		case l.kind == "call":
			all[n] = fmt.Sprintf("call_%d", n)
			open = append(open, all[n])
		case l.kind == "=" && len(open) > 0:
			all[n], open = open[0], open[1:]
		case l.kind == "=":
			all[n] = fmt.Sprintf("call_none_%d", n)
		}
	}
	return all
}

func (t talk) chat() (all []object) {
	ids := t.ids()
	reasoning := ""
	for n, l := range t {
		agent := object{"role": "assistant", "content": nil}
		if last := len(all) - 1; last >= 0 && all[last]["role"] == "assistant" && l.kind == "call" {
			agent = all[last]
			all = all[:last]
		}
		if reasoning != "" && (l.kind == "agent" || l.kind == "call") {
			agent["reasoning_content"] = reasoning
			reasoning = ""
		}
		switch l.kind {
		case "system", "user":
			said := object{"role": l.kind, "content": l.text}
			if l.name != "" {
				said["name"] = l.name
			}
			all = append(all, said)
		case "thinks":
			reasoning = l.text
		case "agent":
			agent["content"] = l.text
			all = append(all, agent)
		case "call":
			calls, _ := agent["tool_calls"].([]object)
			function := object{"name": l.name, "arguments": l.text}
			agent["tool_calls"] = append(calls, object{"id": ids[n], "type": "function", "function": function})
			all = append(all, agent)
		case "=":
			all = append(all, object{"role": "tool", "tool_call_id": ids[n], "content": l.text})
		case "raw":
			all = append(all, rawItem(l.text))
		}
	}
	return all
}

func (t talk) messages() (all []object) {
	ids := t.ids()
	add := func(role string, block object) {
		if last := len(all) - 1; last >= 0 && all[last]["role"] == role {
			if blocks, ok := all[last]["content"].([]object); ok {
				all[last]["content"] = append(blocks, block)
				return
			}
		}
		all = append(all, object{"role": role, "content": []object{block}})
	}
	for n, l := range t {
		switch l.kind {
		case "user":
			add("user", object{"type": "text", "text": l.text})
		case "thinks":
			add("assistant", object{"type": "thinking", "thinking": l.text, "signature": fmt.Sprintf("signed%d", n)})
		case "agent":
			add("assistant", object{"type": "text", "text": l.text})
		case "call":
			input := json.RawMessage(l.text)
			add("assistant", object{"type": "tool_use", "id": ids[n], "name": l.name, "input": input})
		case "=":
			add("user", object{"type": "tool_result", "tool_use_id": ids[n], "content": l.text})
		case "raw":
			all = append(all, rawItem(l.text))
		}
	}
	return all
}

func (t talk) input() (all []object) {
	ids := t.ids()
	for n, l := range t {
		switch l.kind {
		case "user":
			all = append(all, object{"role": "user", "content": l.text})
		case "agent":
			all = append(all, object{"role": "assistant", "content": l.text})
		case "thinks":
			all = append(all, object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", n), "encrypted_content": "sealed",
				"summary": []object{{"type": "summary_text", "text": l.text}}})
		case "call":
			all = append(all, object{"type": "function_call", "call_id": ids[n], "name": l.name, "arguments": l.text})
		case "=":
			all = append(all, object{"type": "function_call_output", "call_id": ids[n], "output": l.text})
		case "raw":
			all = append(all, rawItem(l.text))
		}
	}
	return all
}

func rawItem(text string) (item object) {
	if err := json.Unmarshal([]byte(text), &item); err != nil {
		panic(err)
	}
	return item
}

// extends reports whether a request begins with all items of another.
func extends(body, last string) bool {
	list := gjson.Get(last, "messages")
	if !list.Exists() {
		list = gjson.Get(last, "input")
	}
	end := list.Index + len(list.Raw) - 1
	return list.Exists() && len(body) > end && body[:end] == last[:end]
}

// view writes a request as a talk, whatever its API.
func view(body string) string {
	var b strings.Builder
	write := func(start, text string) { fmt.Fprintf(&b, "%s %s\n", start, text) }
	for _, name := range []string{"system", "instructions"} {
		if text := textOf(gjson.Get(body, name)); text != "" {
			write("system:", text)
		}
	}
	items := append(gjson.Get(body, "messages").Array(), gjson.Get(body, "input").Array()...)
	for _, m := range items {
		role := m.Get("role").Str
		if role == "assistant" {
			role = "agent"
		}
		if text := m.Get("reasoning_content").Str; text != "" {
			write("thinks:", text)
		}
		switch kind := m.Get("type").Str; {
		case kind == "reasoning":
			write("thinks:", textOf(m.Get("summary")))
		case strings.HasSuffix(kind, "_call"):
			write("call "+m.Get("name").Str, m.Get("arguments").Str)
		case strings.HasSuffix(kind, "_output"):
			write("=", textOf(m.Get("output")))
		case role == "tool":
			write("=", textOf(m.Get("content")))
		case m.Get("content").Type == gjson.String:
			write(role+":", m.Get("content").Str)
		}
		if !m.Get("content").IsArray() || role == "tool" {
			viewCalls(m, write)
			continue
		}
		for _, block := range m.Get("content").Array() {
			switch block.Get("type").Str {
			case "thinking":
				write("thinks:", block.Get("thinking").Str)
			case "tool_use":
				write("call "+block.Get("name").Str, block.Get("input").Raw)
			case "tool_result":
				write("=", textOf(block.Get("content")))
			default:
				write(role+":", block.Get("text").Str)
			}
		}
		viewCalls(m, write)
	}
	return b.String()
}

func viewCalls(m gjson.Result, write func(start, text string)) {
	for _, call := range m.Get("tool_calls").Array() {
		write("call "+call.Get("function.name").Str, call.Get("function.arguments").Str)
	}
}

// textOf is the text of content, which may have parts.
func textOf(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var texts []string
	for _, part := range content.Array() {
		texts = append(texts, part.Get("text").Str)
	}
	return strings.Join(texts, "\n")
}

// overflows are the ways in which a model may tell that a request is too long.
var overflows = map[string]fakeapi.Overflow{"": fakeapi.SaysTooLong, "413": fakeapi.TooLarge,
	"unstated": fakeapi.SaysBedrock, "litellm": fakeapi.SaysLiteLLM, "gateway": fakeapi.SaysGateway,
	"llama": fakeapi.SaysLlama, "vllm": fakeapi.SaysVLLM, "stream": fakeapi.FailsInStream,
	"event": fakeapi.ErrorInStream, "output": fakeapi.CountsOutput, "nginx": fakeapi.TooLarge,
	"comment": fakeapi.FailsInStream}

// binds is how a provider refuses thinking in front of which something has changed.
const binds = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."

// model starts a strict provider. Its settings are window=TOKENS, overflow=KIND, one of overflows, says=TEXT, at the end of
// a summary, summaries=500, garbage or hang for a model that fails at them, busy=yes for one that answers nothing,
// binds=yes for one that takes no changed conversation with thinking, and files=FOLDER, which it answers each GET from.
func (s *stage) model(args []string) {
	settings := map[string]string{"window": "200000"}
	for _, setting := range args {
		name, value, _ := strings.Cut(setting, "=")
		settings[name] = value
	}
	overflow, known := overflows[settings["overflow"]]
	if !known {
		s.Fatalf("no overflow is called %s", settings["overflow"])
	}
	model := fakeapi.Model{Window: s.number(settings["window"]), MaxOutput: 64_000, Minimum: 1024, Overflow: overflow,
		Manual: true, Adaptive: true, Prefill: true, InlineSystem: true}
	summaries := settings["summaries"]
	counted := map[string]int{} // by text: each turn has those of the one before
	provider := fakeapi.NewProvider(fakeapi.Options{
		Models: map[string]fakeapi.Model{"m": model},
		Adopts: true,
		Count: func(text string) int {
			n, known := counted[text]
			if !known {
				n = tokenize.CountString(text)
				counted[text] = n
			}
			return n
		},
		Answer: func(x fakeapi.Exchange) []fakeapi.Part {
			summary := fakeapi.Summary(x.Body)
			switch {
			case summary == "":
				return []fakeapi.Part{fakeapi.Text("Done.")}
			case summaries == "garbage":
				return []fakeapi.Part{fakeapi.Text("I cannot help with that.")}
			}
			return []fakeapi.Part{fakeapi.Text(summary + settings["says"])}
		},
		Refuse: func(x fakeapi.Exchange) *fakeapi.Refusal {
			if settings["binds"] != "" && bytes.Contains(x.Body, []byte("[epitome")) {
				return &fakeapi.Refusal{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: binds}
			}
			if settings["busy"] != "" || summaries == "500" && fakeapi.Summary(x.Body) != "" {
				return fakeapi.Overloaded()
			}
			return nil
		},
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && settings["files"] != "" {
			http.ServeFile(w, r, filepath.Join(s.MkAbs(settings["files"]), r.URL.Path))
			return
		}
		body, _ := io.ReadAll(r.Body)
		if summaries == "hang" && fakeapi.Summary(body) != "" {
			<-r.Context().Done()
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		recorder := httptest.NewRecorder()
		provider.ServeHTTP(recorder, r)
		maps.Copy(w.Header(), recorder.Header())
		w.WriteHeader(recorder.Code)
		switch {
		case settings["overflow"] == "nginx" && recorder.Code == http.StatusRequestEntityTooLarge:
			_, _ = io.WriteString(w, "<html><head><title>413 Request Entity Too Large</title></head></html>\n")
			return
		case settings["overflow"] == "comment":
			_, _ = io.WriteString(w, ": OPENROUTER PROCESSING\n\n")
		}
		_, _ = w.Write(recorder.Body.Bytes())
	}))
	s.provider = provider
	s.Setenv("model", server.URL)
	s.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
}

func (s *stage) begin(args []string) {
	if args[0] == "-again" {
		args = args[1:]
	} else {
		s.last = ""
	}
	name := args[0]
	if before := s.programs[name]; before != nil { // it may still run with the folder
		_ = before.cmd.Process.Signal(syscall.SIGTERM)
		<-before.ended
	}
	flags := []string{name, "--listen", "127.0.0.1:0", "--upstream", s.Getenv("model") + "/v1", "--data", name}
	if _, err := os.Stat(s.MkAbs(name + ".toml")); err == nil {
		flags = append(flags, "--config", name+".toml")
	}
	s.serve(append(flags, args[1:]...))
	s.base = s.Getenv(name)
}

func (s *stage) turn(args []string) { s.send(args, false) }
func (s *stage) play(args []string) { s.send(args, true) }

var paths = map[string]string{"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}

// send sends a talk, whole or as it grows, and writes what came of it.
func (s *stage) send(args []string, grows bool) {
	api := s.Getenv("API")
	headers := http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}}
	set := object{}
	first, last := 1, math.MaxInt
	for len(args) > 1 {
		switch args[0] {
		case "-h":
			name, value, _ := strings.Cut(args[1], ": ")
			headers.Set(name, value)
		case "-set":
			s.Check(json.Unmarshal([]byte(args[1]), &set))
		case "-at":
			s.base = s.Getenv(args[1])
		case "-turns":
			_, err := fmt.Sscanf(args[1], "%d-%d", &first, &last)
			s.Check(err)
		}
		args = args[2:]
	}
	t := s.readTalk(args[0])
	ends := t.requests()
	if !grows {
		ends = ends[len(ends)-1:]
	}
	var turns strings.Builder
	for n, end := range ends {
		if n+1 < first || n+1 > last {
			continue
		}
		body := t.body(api, end)
		for name, value := range set {
			body[name] = value
		}
		text, err := json.Marshal(body)
		s.Check(err)
		before := len(s.provider.Exchanges())
		answer := s.request(http.MethodPost, headers, s.base+paths[api], string(text))
		exchanges := s.provider.Exchanges()[before:]
		fmt.Fprintf(&turns, "%d %s", n+1, s.record(answer, exchanges))
	}
	s.write("turns.txt", []byte(turns.String()))
}

var action = regexp.MustCompile(`(?m)^X-Epitome-Action: (.*)$`)

// record writes the files of a turn and returns its line.
func (s *stage) record(answer string, exchanges []fakeapi.Exchange) string {
	s.write("answer", []byte(answer))
	line := strings.Fields(answer)[0]
	if found := action.FindStringSubmatch(answer); found != nil {
		line += " " + found[1]
	}
	for _, x := range exchanges {
		switch {
		case x.Method != http.MethodPost || x.Counting:
		case fakeapi.Summary(x.Body) != "":
			s.write("asked.txt", []byte(view(string(x.Body))))
			line += fmt.Sprintf(", asked for a summary of %d tokens", x.Tokens)
		default:
			text := view(string(x.Body))
			s.write("sent.json", x.Body)
			s.write("sent.txt", []byte(text))
			line += fmt.Sprintf(", sent %d lines, %d tokens", len(lineStart.FindAllString(text, -1)), x.Tokens)
			if s.last != "" && !extends(string(x.Body), s.last) {
				line += ", changes the last"
			}
			s.last = string(x.Body)
			if x.Refusal != nil {
				line += ", refused: " + strconv.Quote(x.Refusal.Message)
			}
		}
	}
	return line + "\n"
}
