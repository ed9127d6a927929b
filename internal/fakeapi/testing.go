package fakeapi

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
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

// Direct is a client that uses no forward proxy, and each connection once. It trusts every certificate.
func Direct() *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
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

// OpenToOthers returns the files and folders of a data folder that others than its owner may look into, and how many
// there are in all. Those in a folder whose name begins with store are Badger's, with modes of its own.
func OpenToOthers(folder, store string) (open []string, all int) {
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // there is no data, or it was deleted just now
		}
		all++
		if file, err := e.Info(); err == nil && file.Mode().Perm()&0o077 != 0 {
			open = append(open, path)
		}
		if e.IsDir() && strings.HasPrefix(e.Name(), store) {
			return fs.SkipDir
		}
		return nil
	})
	return open, all
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

// InMemory runs tests with their temporary files in memory, where that has 2 GB left and TMPDIR names no other place: on
// a disk each store and each artifact waits until it is written.
func InMemory(run func() int) (code int) {
	room, _ := exec.Command("df", "-Pk", "/dev/shm").Output()
	columns := append(strings.Fields(string(room)), make([]string, 11)...) // seven of the head before those of the row
	free, _ := strconv.Atoi(columns[10])
	if free < 2<<20 || os.Getenv("TMPDIR") != "" {
		return run()
	}
	folder, err := os.MkdirTemp("/dev/shm", "epitome")
	if err != nil {
		return run()
	}
	defer os.RemoveAll(folder)
	_ = os.Setenv("TMPDIR", folder)
	return run()
}

// Issue writes a certificate for a name and for 127.0.0.1 that is its own authority, and its key. It returns the pair,
// and those who trust it.
func Issue(tb testing.TB, name, certFile, keyFile string) (tls.Certificate, *x509.CertPool) {
	tb.Helper()
	check := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	check(err)
	check(os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	check(os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	check(err)
	trust := x509.NewCertPool()
	trust.AddCert(pair.Leaf)
	return pair, trust
}

// StartForwardProxy starts a forward proxy that leads every tunnel to one address, and returns its own. It tells asked
// of each tunnel.
func StartForwardProxy(tb testing.TB, to string, asked func(*http.Request)) (address string) {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked(r)
		out, err := net.Dial("tcp", to)
		if err != nil || r.Method != http.MethodConnect {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusOK)
		in, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(in, out)
			_ = in.Close()
		}()
		_, _ = io.Copy(out, buffered)
		_ = out.Close()
	}))
	tb.Cleanup(server.Close)
	return server.Listener.Addr().String()
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
