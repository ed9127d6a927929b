package cli

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"epitome/daemon"
	"epitome/internal/fakeapi"
)

// TestMain lets this test binary be the programs that scripts run: epitome itself and an agent that uses it.
func TestMain(m *testing.M) {
	runtime.MemProfileRate = 0         // which costs each of many programs time
	_ = flag.Set("test.parallel", "5") // scripts wait more than they work
	testscript.Main(withTable{m}, map[string]func(){"agent": agentProgram, "epitome": func() {
		text, err := os.ReadFile(os.Getenv("TEST_DEFAULTS")) // which main.go embeds
		if err != nil {
			panic(err)
		}
		os.Exit(Execute(string(text), os.Args[1:]))
	}})
}

// TestScripts runs the real program by the scripts in testdata/script. Each of them ends: every wait has a bound, and
// programs end with the script that has started them. Besides testscript's own commands they have
//
//	upstream [-slow] NAME [FILE [MODELS]]
//	                              answers each POST with the text of FILE or with {"from":"NAME"}, and each GET, which
//	                              asks how much models hold, with MODELS or 404; a slow one streams a first event, and
//	                              a last one once it is released; $NAME is its URL, $NAME_addr its host:port
//	release NAME                  lets a slow upstream go on
//	[!] upstream-saw NAME REGEXP  a request has reached that upstream whose head or body matches
//	fill FILE...                  replaces $VARIABLES in the files
//	start NAME CMD ARG...         runs CMD in the background, with all that it prints in NAME.log
//	serve NAME ARG...             starts "epitome serve" and waits until it is ready; $NAME and $NAME_addr as above
//	signal TERM|HUP|INT|KILL|QUIT NAME  sends a signal to a program that start or serve has started
//	ended NAME CODE               waits for its end, with this exit code
//	await FILE REGEXP             waits until FILE matches
//	status CODE CMD ARG...        runs CMD, which ends with CODE
//	get [-h HEADER]... URL        prints the answer, status line and headers first; post has a FILE behind the URL
//	conversation [-messages|-responses] FILE N
//	                              writes a request with N calls and their results, each of 15,000 tokens, which extends
//	                              that with N-1
//	result FILE K                 writes the text of the K-th result
//	sent NAME K FILE              writes the body of the K-th conversation that reached that upstream
//	[!] kept TEXT FOLDER          a file below the folder has the text, compressed or not, now or soon
//	files NAME FOLDER             serves the files of a folder; $NAME is the URL
//	capture VAR FILE REGEXP       sets $VAR to what the first group matches in FILE
//	free NAME                     $NAME is a port of 127.0.0.1 at which nobody listens
//	bucket NAME                   serves an empty bucket, to whoever has any credentials; $NAME is its address
//	break NAME, mend NAME         has a bucket answer 503 from now on, or as it should
//	issue NAME                    writes a certificate NAME.pem for that name and its key NAME.key
//	agree FILE FOLDER URL         compares the last lines of a demo with stats, status line and pages
//
// $DATA is the user's data folder, $ROOT that of the repository. Where $PROGRAM is set, serve runs that epitome; $BEFORE
// is the one that EPITOME_BEFORE names for scripts that replace a program, or else the same.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts stop and reload programs by signals, which Windows does not have")
	}
	testscript.RunT(unskipped{t}, testscript.Params{Dir: filepath.Join("testdata", "script"), Setup: setStage,
		Cmds: commands()})
}

// unskipped is a test whose scripts are skipped as fakeapi.Skip does it.
type unskipped struct{ *testing.T }

func (unskipped) Verbose() bool { return testing.Verbose() }

func (t unskipped) Skip(why ...any) { fakeapi.Skip(t.T, "%s", fmt.Sprint(why...)) }

func (t unskipped) Run(name string, script func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { script(unskipped{t}) })
}

// commands are those that scripts have besides testscript's own.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){}
	for name, do := range map[string]func(*stage, []string){
		"upstream": (*stage).upstream, "release": (*stage).release, "fill": (*stage).fill, "start": (*stage).start,
		"serve": (*stage).serve, "signal": (*stage).signal, "ended": (*stage).awaitEnd, "await": (*stage).await,
		"status": (*stage).status, "get": (*stage).get, "post": (*stage).post, "conversation": (*stage).conversation,
		"result": (*stage).result, "sent": (*stage).sent, "capture": (*stage).capture, "upstream-saw": (*stage).saw,
		"files": (*stage).files, "agree": (*stage).agree, "kept": (*stage).kept,
		"row": (*stage).row, "shows": (*stage).shows, "model": (*stage).model, "begin": (*stage).begin,
		"turn": (*stage).turn, "play": (*stage).play, "free": (*stage).free, "bucket": (*stage).bucket,
		"break": (*stage).breakBucket, "mend": (*stage).mendBucket, "issue": (*stage).issue,
	} {
		all[name] = func(ts *testscript.TestScript, negated bool, args []string) {
			s := ts.Value("stage").(*stage)
			s.TestScript, s.negated = ts, negated
			if negated && !slices.Contains([]string{"upstream-saw", "kept", "shows"}, name) {
				ts.Fatalf("%s has no negation", name)
			}
			do(s, args)
		}
	}
	return all
}

// stage is what one script has set up.
type stage struct {
	*testscript.TestScript // of the command that runs
	negated                bool
	tb                     testing.TB
	upstreams              map[string]*fakeUpstream
	broken                 map[string]*atomic.Bool // buckets
	programs               map[string]*background
	provider               *fakeapi.Provider // that model has started
	base                   string            // the URL of the program that was begun last
	last                   string            // the body that reached the provider last
	open                   row               // that the script is at
	openFor                string            // the letters of its APIs
}

// setStage gives a script a home of its own.
func setStage(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	folder := filepath.Join(home, ".local", "share", "epitome")
	if runtime.GOOS == "darwin" {
		folder = filepath.Join(home, "Library", "Application Support", "epitome")
	}
	env.Setenv("HOME", home)
	env.Setenv("DATA", folder)
	env.Defer(func() {
		if open, _ := fakeapi.OpenToOthers(folder, daemon.StoreFolder); len(open) > 0 {
			env.T().Fatal("others may look into ", open)
		}
	})
	root, err := filepath.Abs("..")
	env.Setenv("ROOT", root)
	env.Setenv("TEST_DEFAULTS", filepath.Join(root, "config.toml"))
	cache, _ := os.UserCacheDir()
	env.Setenv("GOCACHE", cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")))
	env.Setenv("GOPATH", build.Default.GOPATH)
	env.Setenv("BEFORE", cmp.Or(os.Getenv("EPITOME_BEFORE"), "epitome"))
	s := &stage{tb: env.T().(testing.TB), upstreams: map[string]*fakeUpstream{}, broken: map[string]*atomic.Bool{},
		programs: map[string]*background{}}
	env.Values["stage"] = s
	env.Defer(s.endRow)
	if err == nil {
		err = os.MkdirAll(home, 0o700)
	}
	return err
}

func (s *stage) pattern(text string) *regexp.Regexp {
	re, err := regexp.Compile("(?m)" + text)
	s.Check(err)
	return re
}

func (s *stage) write(file string, text []byte) { s.Check(os.WriteFile(s.MkAbs(file), text, 0o600)) }

func (s *stage) number(text string) int {
	n, err := strconv.Atoi(text)
	s.Check(err)
	return n
}

func (s *stage) fill(args []string) {
	for _, name := range args {
		s.write(name, []byte(os.Expand(s.ReadFile(name), s.Getenv)))
	}
}

func (s *stage) capture(args []string) {
	m := s.pattern(args[2]).FindStringSubmatch(s.ReadFile(args[1]))
	if len(m) < 2 {
		s.Fatalf("%s has no %#q with a group", args[1], args[2])
	}
	s.Setenv(args[0], m[1])
}

func (s *stage) conversation(args []string) {
	write := fakeapi.Conversation
	switch args[0] {
	case "-messages":
		args, write = args[1:], fakeapi.MessagesConversation
	case "-responses":
		args, write = args[1:], fakeapi.ResponsesConversation
	}
	s.write(args[0], write(s.number(args[1])))
}

func (s *stage) result(args []string) {
	s.write(args[0], []byte(fakeapi.ResultText(s.number(args[1]))))
}

func (s *stage) kept(args []string) {
	var found []string
	look := func() bool {
		err := filepath.WalkDir(s.MkAbs(args[1]), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if unpack, failed := gzip.NewReader(bytes.NewReader(content)); failed == nil {
				content, err = io.ReadAll(unpack)
			}
			if bytes.Contains(content, []byte(args[0])) {
				found = append(found, path)
			}
			return err
		})
		if s.negated {
			s.Check(err)
		}
		return len(found) > 0
	}
	if s.negated {
		look()
	} else {
		fakeapi.Eventually(look) // events are written within a second or two
	}
	if len(found) > 0 == s.negated {
		s.Fatalf("%s is kept in %q", args[0], found)
	}
}

func (s *stage) files(args []string) {
	server := httptest.NewServer(http.FileServer(http.Dir(s.MkAbs(args[1]))))
	s.Defer(server.Close)
	s.Setenv(args[0], server.URL)
}

func (s *stage) free(args []string) {
	_, port, _ := strings.Cut(fakeapi.FreeAddress(s.tb), ":")
	s.Setenv(args[0], port)
}

func (s *stage) bucket(args []string) {
	isBroken := new(atomic.Bool)
	s.broken[args[0]] = isBroken
	s.Setenv(args[0], fakeapi.ServeS3(s.tb, func(w http.ResponseWriter, _ *http.Request) bool {
		if isBroken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return isBroken.Load()
	}))
}

func (s *stage) breakBucket(args []string) { s.broken[args[0]].Store(true) }
func (s *stage) mendBucket(args []string)  { s.broken[args[0]].Store(false) }

func (s *stage) issue(args []string) {
	fakeapi.Issue(s.tb, args[0], s.MkAbs(args[0]+".pem"), s.MkAbs(args[0]+".key"))
}

// background is a program that runs in the background.
type background struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{} // closed once it has; cmd.ProcessState can be read then
}

func (s *stage) start(args []string) {
	name := args[0]
	p := &background{cmd: exec.Command(args[1], args[2:]...), log: s.MkAbs(name + ".log"), ended: make(chan struct{})}
	for _, v := range []string{"TEST_DEFAULTS", "PATH", "HOME", "TMPDIR", "GOCOVERDIR", "WORK", "ROOT",
		"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "GOCACHE", "GOPATH",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if value := s.Getenv(v); value != "" {
			p.cmd.Env = append(p.cmd.Env, v+"="+value)
		}
	}
	out, err := os.Create(p.log)
	s.Check(err)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = s.MkAbs("."), out, out
	err = p.cmd.Start()
	_ = out.Close()
	s.Check(err)
	go func() {
		_ = p.cmd.Wait() // its outcome is in ProcessState
		close(p.ended)
	}()
	s.programs[name] = p
	s.Defer(func() {
		_ = p.cmd.Process.Kill() // a script that has failed may leave it running
		<-p.ended
		text, _ := os.ReadFile(p.log)
		s.Logf("[%s.log]\n%s", name, text)
	})
}

func (s *stage) serve(args []string) {
	program := cmp.Or(s.Getenv("PROGRAM"), "epitome")
	s.start(append([]string{args[0], program, "serve"}, args[1:]...))
	line := s.awaitLine(s.programs[args[0]].log, `^.*"msg":"listening".*$`)
	var said struct{ Address string }
	s.Check(json.Unmarshal([]byte(line), &said))
	address := strings.NewReplacer("[::]", "127.0.0.1", "0.0.0.0", "127.0.0.1").Replace(said.Address)
	if strings.HasSuffix(address, ":7070") {
		s.Fatalf("%s takes the port of the user's own epitome: give it another with --listen", args[0])
	}
	ready := func() bool {
		resp, err := fakeapi.Direct().Get(address + "/-/ready")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	}
	if !fakeapi.Eventually(ready) {
		s.Fatalf("%s does not become ready", args[0])
	}
	s.Setenv(args[0], address)
	_, addr, _ := strings.Cut(address, "://")
	s.Setenv(args[0]+"_addr", addr)
}

func (s *stage) await(args []string) { s.awaitLine(s.MkAbs(args[0]), args[1]) }

// awaitLine waits until a file matches. What a program that has ended has not said it never will.
func (s *stage) awaitLine(file, pattern string) string {
	re, found, over := s.pattern(pattern), "", false
	fakeapi.Eventually(func() bool {
		for _, p := range s.programs {
			select {
			case <-p.ended:
				over = over || p.log == file
			default:
			}
		}
		text, _ := os.ReadFile(file)
		found = re.FindString(string(text))
		return found != "" || over
	})
	if found == "" {
		s.Fatalf("%s never says %#q; its program has ended: %v", filepath.Base(file), pattern, over)
	}
	return found
}

func (s *stage) signal(args []string) {
	sig := map[string]os.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "INT": os.Interrupt, "KILL": os.Kill,
		"QUIT": syscall.SIGQUIT}[args[0]]
	s.Check(s.programs[args[1]].cmd.Process.Signal(sig))
}

func (s *stage) awaitEnd(args []string) {
	p := s.programs[args[0]]
	select {
	case <-p.ended:
	case <-time.After(fakeapi.Patience):
		s.Fatalf("%s does not end", args[0])
	}
	s.wantCode(p.cmd.ProcessState.ExitCode(), args[1])
}

func (s *stage) wantCode(got int, want string) {
	if strconv.Itoa(got) != want {
		s.Fatalf("exit code %d, want %s", got, want)
	}
}

func (s *stage) status(args []string) {
	err, code := s.Exec(args[1], args[2:]...), 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else {
		s.Check(err)
	}
	s.wantCode(code, args[0])
}

func (s *stage) get(args []string)  { s.ask(http.MethodGet, args) }
func (s *stage) post(args []string) { s.ask(http.MethodPost, args) }

// ask prints whatever answer there is; only a request without one fails the script.
func (s *stage) ask(method string, args []string) {
	headers := http.Header{}
	for ; args[0] == "-h"; args = args[2:] {
		name, value, _ := strings.Cut(args[1], ": ")
		headers.Set(name, value)
	}
	body := ""
	if len(args) > 1 {
		body = s.ReadFile(args[1])
	}
	_, err := io.WriteString(s.Stdout(), s.request(method, headers, args[0], body))
	s.Check(err)
}

// request sends a request and returns the answer: a line with the status, the headers, and the body behind a blank line.
func (s *stage) request(method string, headers http.Header, url, body string) string {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	s.Check(err)
	req.Header, req.Host = headers, headers.Get("Host")
	client := fakeapi.Direct()
	client.Timeout = fakeapi.Patience
	resp, err := client.Do(req)
	s.Check(err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	s.Check(err)
	var head bytes.Buffer
	s.Check(resp.Header.Write(&head))
	if resp.TLS != nil {
		fmt.Fprintf(&head, "Certificate: %s\n", resp.TLS.PeerCertificates[0].Subject.CommonName)
	}
	return fmt.Sprintf("%s\n%s\n%s\n", resp.Status, strings.ReplaceAll(head.String(), "\r", ""), text)
}
