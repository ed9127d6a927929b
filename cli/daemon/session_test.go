package daemon

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/rewrite/rewritetest"
)

var showSession = flag.Bool("session", false, "print the last request of the scripted session, to be read")

// sessionTurns are the requests of the scripted session.
const sessionTurns = 100

// scriptedSession is an agent that plays a session of so many turns through a daemon with its own configuration, before
// an upstream that answers each request alike: what the agent goes on with stands in the script.
type scriptedSession struct {
	t        *testing.T
	url      string
	up       *fakeapi.Upstream
	messages []string
	turn     int
	ending   string // that the shell adds to the next output
	fails    []firstSight
}

// firstSight is a result that tells of a failure somewhere in its middle.
type firstSight struct {
	turn  int
	lines []string // that tell
}

const sessionAnswer = "-- POST /v1/chat/completions --\nrepeat\nstatus 200 OK\nheader Content-Type: application/json\n" +
	`body {"id":"a","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},` +
	`"finish_reason":"stop"}]}` + "\n"

// startSession starts a daemon as it comes, before a model with a window of so many tokens.
func startSession(t *testing.T, window int) *scriptedSession {
	t.Helper()
	up := scriptedtest.Start(t, sessionAnswer)
	conf := config.Defaults(configtest.Text())
	conf.Listen, conf.Data, conf.Upstream, conf.Summarize.Mode = "127.0.0.1:0", t.TempDir(), "up", "intent"
	conf.Upstreams["up"] = proxy.UpstreamConfig{URL: up.URL() + "/v1"}
	conf.Window.Models, conf.Window.Probe = map[string]unit.Tokens{theModel: unit.Tokens(window)}, false
	signals, over := make(chan os.Signal, 1), make(chan error, 1)
	d := New(slog.New(slog.DiscardHandler), signals, func() (config.Config, error) { return conf, nil })
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { over <- d.Serve() }()
	t.Cleanup(func() {
		signals <- os.Interrupt
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return &scriptedSession{t: t, url: "http://" + d.ln.Addr().String() + "/v1/chat/completions", up: up, messages: []string{
		message("system", "You are an agent that works on a shop's programs. You have a shell and read files."),
		message("user", "Refunds of the shop are off by a cent now and then. Find out why, mend it, and show that it is mended."),
	}}
}

// ask sends all that was said so far.
func (s *scriptedSession) ask() {
	s.t.Helper()
	s.turn++
	body := `{"model":"` + theModel + `","messages":[` + strings.Join(s.messages, ",") + `]}`
	resp, err := scriptedtest.Direct().Post(s.url, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("turn %d: %d %.300s %v", s.turn, resp.StatusCode, text, err)
	}
}

// says is the assistant's word, and what the user answers.
func (s *scriptedSession) says(text, user string) {
	s.messages = append(s.messages, message("assistant", text), message("user", user))
	s.ask()
}

// runs is a command of the agent, and what it printed.
func (s *scriptedSession) runs(command, output string) {
	id := fmt.Sprintf("call_%d", len(s.messages))
	call, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		s.t.Fatal(err)
	}
	arguments, _ := json.Marshal(string(call))
	content, _ := json.Marshal(output)
	s.messages = append(s.messages,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"`+id+`","type":"function","function":{"name":"bash","arguments":`+
			string(arguments)+`}}]}`,
		`{"role":"tool","tool_call_id":"`+id+`","content":`+string(content)+`}`)
	s.ask()
}

// runsAndFails is a command whose real output tells of a failure in its middle, by these lines.
func (s *scriptedSession) runsAndFails(command, name string, lines ...string) {
	s.t.Helper()
	text := rewritetest.OutputText(s.t, name)
	for _, l := range lines {
		if at := strings.Index(text, l); at < len(text)/4 || at > len(text)*3/4 {
			s.t.Fatalf("%s has %q at byte %d of %d", name, l, at, len(text))
		}
	}
	s.runs(command, text+s.ending)
	s.ending = ""
	s.fails = append(s.fails, firstSight{s.turn, lines})
}

// sourceFile is a file of some 2 000 tokens that the agent reads.
func sourceFile(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package part%d\n\n", n)
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&b, "// Share%d_%d is what of an order's cents belongs to its line %d.\nfunc Share%d_%d(cents, lines int64) int64 {\n"+
			"\treturn cents*%d/lines + part%d.Rest(cents, lines)\n}\n\n", n, i, i, n, i, i*n%17+1, n)
	}
	return b.String()
}

// What the user and the agent say that must not get lost.
const (
	standingRule = "A rule for all of this work: amounts are integers of cents, never floats, and you never edit files under vendor/."
	openRequest  = "When the refunds are right, please also add a section on the 3 % cap to docs/fees.md."
	conclusion   = "The cent gets lost in refund/split.go: it divides before it multiplies."
)

// play is the session.
func (s *scriptedSession) play() {
	for s.turn < sessionTurns {
		switch s.turn + 1 {
		case 4:
			s.says("I have read the task and begin with the tests.", standingRule)
		case 12:
			s.runsAndFails("go test -v ./...", "go-test", "    refund_test.go:78: half of 700 cents is 350, want 351")
		case 18:
			s.says("Let me think.\n"+conclusion, openRequest)
		case 25:
			s.runs("go test -v ./...", "=== RUN   TestRefundOfOrder_7\n--- PASS: TestRefundOfOrder_7 (0.00s)\nPASS\nok  \tshop/refund_14\t0.004s\n")
		case 31:
			s.runsAndFails("python3 -m pytest -v --durations=0", "pytest", "E       assert 12 == 13", "E       KeyError: 'b'")
		case 40:
			s.runsAndFails("make -k", "make-gcc", "src/batch_28.c:4:14: error: 'batch_size' undeclared (first use in this function)")
		case 47:
			s.runs("make -k", "gcc -std=c11 -Wall -c -o obj/batch_28.o src/batch_28.c\nar rcs libbatch.a obj/batch_28.o\n\nexit code: 0")
		case 55:
			s.ending = "\nexit code: 101\n"
			s.runsAndFails("cargo test --no-fail-fast", "cargo-test", "assertion `left == right` failed: tax of 10.00 at 17 percent")
		case 63:
			s.runsAndFails("npx tsc --build --verbose", "tsc", "packages/form_41/src/index.ts(3,10): error TS18048: 'e.field' is possibly 'undefined'.")
		case 72:
			s.runsAndFails("journalctl --no-pager -o short-iso", "journald", "Out of memory: Killed process 406 (ledger)")
		case 97:
			s.runsAndFails("curl -s localhost:8080/v1/payouts", "json-list", `"state": "stuck"`, `"error": "account_closed"`)
		case sessionTurns:
			s.runsAndFails("mvn -B test", "maven", "java.lang.AssertionError: six times seven expected:<42> but was:<13>")
		default:
			n := s.turn + 1
			s.runs(fmt.Sprintf("cat part%d/share.go", n), sourceFile(n))
		}
	}
}

// sent returns the messages of the n-th request as the model got it, each as its role and its text.
func (s *scriptedSession) sent(n int) string {
	s.t.Helper()
	var doc struct {
		Messages []struct {
			Role    string
			Content any
			Calls   json.RawMessage `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(s.up.Requests()[n-1].Body, &doc); err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range doc.Messages {
		fmt.Fprintf(&b, "──── %s %s\n%v\n", m.Role, m.Calls, m.Content)
	}
	return b.String()
}

// part returns what stands under the heading of the last summary that begins in these words.
func part(request, heading string) string {
	all := regexp.MustCompile(`(?m)^== [0-9a-f]+: (.*) ==$|^\[end of summary `).FindAllStringSubmatchIndex(request, -1)
	i := slices.IndexFunc(all, func(at []int) bool {
		return at[2] >= 0 && strings.HasPrefix(request[at[2]:at[3]], heading)
	})
	if i < 0 || i+1 == len(all) {
		return ""
	}
	return request[all[i][0]:all[i+1][0]]
}

// TestALongSessionKeepsWhatMatters plays a hundred turns at a window of 16k through a daemon; code alone writes the summaries. It reads what
// the model got, and no more.
func TestALongSessionKeepsWhatMatters(t *testing.T) {
	t.Parallel()
	s := startSession(t, 16_000)
	s.play()
	if n := len(s.up.Requests()); n != sessionTurns {
		t.Fatalf("%d requests reached the model", n)
	}
	last := s.sent(sessionTurns)
	if *showSession {
		fmt.Println(last)
	}
	bare := strings.NewReplacer(" ", "", "\n", "")
	for _, f := range s.fails {
		for _, line := range f.lines {
			if !strings.Contains(bare.Replace(s.sent(f.turn)), bare.Replace(line)) {
				t.Errorf("turn %d: at first sight the model does not see %q", f.turn, line)
			}
			if f.turn > 97 && !strings.Contains(bare.Replace(last), bare.Replace(line)) {
				t.Errorf("turn %d: in the end the model does not see %q", f.turn, line)
			}
		}
	}
	s.holdsSummary(last)
}

// holdsSummary holds what the summary in a request says.
func (s *scriptedSession) holdsSummary(request string) {
	s.t.Helper()
	has := func(heading, text string, want bool) {
		s.t.Helper()
		under := part(request, heading)
		if under == "" || strings.Contains(under, text) != want {
			s.t.Errorf("under %q, %q is to stand: %v\n%s", heading, text, want, under)
		}
	}
	const users, calls = "the user's messages, word for word", "calls, oldest first"
	has(users, standingRule, true)
	has(users, openRequest, true)
	has(calls, "python3 -m pytest", true)
	has(calls, "(failed", true)
	has(calls, "\n> assertion `left == right` failed: tax of 10.00 at 17 percent", true)
}
