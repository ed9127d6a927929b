package fakeapi

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience bounds each wait for another goroutine or process. It is long because machines can be busy.
const Patience = 2 * time.Minute

// Eventually waits for a condition that somebody else brings about, and reports whether it came.
func Eventually(ok func() bool) bool {
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return ok()
}

// Direct is a client that uses no forward proxy, and each connection once.
func Direct() *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
}

// A Log can be read while it is written.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds text.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String returns what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Skip skips a test that needs something outside the repository, or fails it where EPITOME_NO_SKIP is set, as .ci/run
// does for tests whose needs it provides.
func Skip(tb testing.TB, format string, args ...any) {
	tb.Helper()
	what := fmt.Sprintf(format, args...)
	if os.Getenv("EPITOME_NO_SKIP") != "" {
		tb.Fatalf("%s; the test may not be skipped, because EPITOME_NO_SKIP is set", what)
	}
	fmt.Fprintf(os.Stderr, "SKIPPED %s: %s\n", tb.Name(), what)
	tb.SkipNow()
}

// CollectLess has a test binary collect garbage as rarely as the program does, without a memory profile that nobody
// asked for. TestMain calls it, behind flags of its own.
func CollectLess() {
	flag.Parse()
	debug.SetGCPercent(400)
	if flag.Lookup("test.memprofile").Value.String() == "" {
		runtime.MemProfileRate = 0
	}
}

// WriteCertificate writes a certificate for 127.0.0.1 that is its own authority, and its key.
func WriteCertificate(tb testing.TB, certFile, keyFile string) {
	tb.Helper()
	server := httptest.NewTLSServer(nil)
	pair := server.TLS.Certificates[0]
	server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	for file, block := range map[string]pem.Block{certFile: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err == nil {
			err = os.WriteFile(file, pem.EncodeToMemory(&block), 0o600)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// ResultText is the result of the k-th call of a conversation: some 15,000 tokens in 1,500 lines, unlike all others.
func ResultText(k int) string {
	var b strings.Builder
	for line := 1; line <= 1500; line++ {
		fmt.Fprintf(&b, "row %d of table_%d: value %d\n", line, k, line*line+k)
	}
	return b.String()
}

// Conversation is a request of Chat Completions with so many calls and their results.
func Conversation(calls int) []byte {
	messages := []object{
		{"role": "system", "content": "You look things up."},
		{"role": "user", "content": "Look at the tables.\nKeep: table 7 is closed."},
	}
	for k := 1; k <= calls; k++ {
		id := fmt.Sprintf("call_%d", k)
		messages = append(messages,
			object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function",
				"function": object{"name": "query", "arguments": fmt.Sprintf(`{"table":"table_%d"}`, k)}}}},
			object{"role": "tool", "tool_call_id": id, "content": ResultText(k)})
	}
	return encode(object{"model": "m", "messages": messages})
}

// MessagesConversation is the same request of Messages, with a cache marker at its end.
func MessagesConversation(calls int) []byte {
	marker := object{"type": "ephemeral"}
	messages := []object{{"role": "user", "content": []object{{"type": "text", "text": "Look at the tables."}}}}
	var result object
	for k := 1; k <= calls; k++ {
		id := fmt.Sprintf("toolu_%d", k)
		result = object{"type": "tool_result", "tool_use_id": id, "content": ResultText(k)}
		messages = append(messages,
			object{"role": "assistant", "content": []object{{"type": "tool_use", "id": id, "name": "query",
				"input": object{"table": fmt.Sprintf("table_%d", k)}}}},
			object{"role": "user", "content": []object{result}})
	}
	if result != nil {
		result["cache_control"] = marker
	}
	return encode(object{"model": "m", "max_tokens": 1000, "messages": messages,
		"system": []object{{"type": "text", "text": "You look things up.", "cache_control": marker}},
		"tools":  []object{{"name": "query", "input_schema": object{"type": "object"}}}})
}

// ResponsesConversation is the same request of Responses.
func ResponsesConversation(calls int) []byte {
	input := []object{{"role": "user", "content": "Look at the tables."}}
	for k := 1; k <= calls; k++ {
		id := fmt.Sprintf("call_%d", k)
		input = append(input,
			object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", k), "summary": []object{},
				"encrypted_content": "gAAAAsealed"},
			object{"type": "function_call", "id": fmt.Sprintf("fc_%d", k), "call_id": id, "name": "query",
				"arguments": fmt.Sprintf(`{"table":"table_%d"}`, k)},
			object{"type": "function_call_output", "call_id": id, "output": ResultText(k)})
	}
	return encode(object{"model": "m", "instructions": "You look things up.", "input": input, "store": false})
}
