package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"epitome/scripted"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestMain lets this test binary be the programs that scripts run: epitome itself and an agent that uses it.
func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=10") // with -race each of many programs would linger for a second
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // scripts wait more than they work; a flag of the caller's wins
		panic(err)
	}
	testscript.Main(m, map[string]func(){"epitome": main, "agent": agent})
}

// patience bounds each wait for another process. It is long because machines can be busy, not because anything takes it.
const patience = 2 * time.Minute

// TestScripts runs the real program by the scripts in testdata/script. Besides testscript's own commands they have
//
//	upstream NAME [FILE]          answers each request with {"from":"NAME"}, or plays FILE, a script for package scripted
//	                              in which each line begins with ">"; without GET /v1/models it does not say how much its
//	                              models hold; $NAME is its URL, $NAME_addr its host:port
//	[!] upstream-saw NAME REGEXP  a request has reached that upstream whose head or body matches
//	release NAME WORD             lets the upstream go on from "await WORD"
//	fill FILE...                  replaces $VARIABLES in the files
//	start NAME CMD ARG...         runs CMD in the background, with all it prints in NAME.log
//	serve NAME ARG...             starts "epitome serve" and waits until it is ready; $NAME is its URL
//	signal TERM|HUP|INT NAME      sends a signal to what start or serve has started
//	ended NAME CODE               waits for its end, with this exit code
//	await FILE REGEXP             waits until FILE matches
//	vanished GLOB                 waits until there is no such file
//	status CODE CMD ARG...        runs CMD, which ends with CODE; {port} in an ARG is a port that nobody listens on, and $port
//	                              is it afterwards: should somebody take it first, CMD runs again with another
//	get [-h HEADER]... URL        prints the answer, status line and headers first; post has a FILE behind the URL
//	strays FOLDER BUT             prints the files in FOLDER that are not in the folder BUT
//	conversation FILE N           writes a request with N calls and their results, which extends that with N-1; a result is 15 000 tokens
//	result FILE K                 writes the text of the K-th result
//	sent NAME K FILE              writes the body of the K-th conversation that reached that upstream
//	capture VAR FILE REGEXP       sets $VAR to what the first group matches in FILE
//
// $DATA is the user's data folder.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts stop and reload programs by signals, which Windows does not have")
	}
	end := time.Now().Add(3 * patience)
	if d, ok := t.Deadline(); ok && d.Before(end) {
		end = d
	}
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "script"), Setup: setStage, Deadline: end,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"upstream": on((*stage).playUpstream), "upstream-saw": on((*stage).upstreamSaw), "release": on((*stage).release),
			"start": on((*stage).start), "serve": on((*stage).serve), "signal": on((*stage).signal), "ended": on((*stage).ended),
			"get": on((*stage).get), "post": on((*stage).post), "status": on((*stage).status), "fill": on((*stage).fill),
			"await": on((*stage).await), "vanished": on((*stage).vanished), "strays": on((*stage).strays),
			"conversation": on((*stage).conversation), "result": on((*stage).result), "sent": on((*stage).sent), "capture": on((*stage).capture),
		}})
}

// stage is what one script has set up.
type stage struct {
	*testscript.TestScript // of the command that runs
	tb                     testing.TB
	upstreams              map[string]*scripted.Upstream
	programs               map[string]*program
}

// program is one that runs in the background.
type program struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{} // closed once it has; cmd.ProcessState can be read then
}

// onStage is where testscript keeps the stage.
const onStage = "stage"

// setStage gives a script a home of its own.
func setStage(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	folder := filepath.Join(home, ".local", "share", "epitome")
	if runtime.GOOS == "darwin" {
		folder = filepath.Join(home, "Library", "Application Support", "epitome")
	}
	env.Setenv("HOME", home)
	env.Setenv("DATA", folder)
	s := &stage{tb: env.T().(testing.TB), upstreams: map[string]*scripted.Upstream{}, programs: map[string]*program{}}
	env.Values[onStage] = s
	env.Defer(func() { s.outlived(folder) })
	return os.MkdirAll(home, 0o700)
}

// outlived fails a script that leaves behind a proxy which "run" has started, or one that saw a data race.
func (s *stage) outlived(folder string) {
	badges := filepath.Join(folder, "run", "*", badgeFile)
	if !eventually(func() bool { return len(glob(badges)) == 0 }) {
		s.tb.Errorf("a proxy that was started by run lives on after its last user: %v", glob(badges))
	}
	for _, name := range glob(filepath.Join(folder, "run", "*", "epitome.log")) {
		text, err := os.ReadFile(name)
		if err != nil || bytes.Contains(text, []byte("DATA RACE")) || bytes.Contains(text, []byte("panic")) {
			s.tb.Errorf("the log of a proxy that was started by run: %v\n%s", err, text)
		}
	}
}

// on makes a script command of a method. Where ! is allowed the method has a second argument.
func on[F func(*stage, []string) | func(*stage, bool, []string)](do F) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		s := ts.Value(onStage).(*stage)
		s.TestScript = ts
		switch do := any(do).(type) {
		case func(*stage, bool, []string):
			do(s, neg, args)
		case func(*stage, []string):
			if neg {
				ts.Fatalf("this command has no negation")
			}
			do(s, args)
		}
	}
}

// eventually waits for a condition that another process brings about.
func eventually(ok func() bool) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return ok()
}

func glob(pattern string) []string {
	found, err := filepath.Glob(pattern)
	if err != nil {
		panic(err)
	}
	return found
}

func (s *stage) want(args []string, atLeast int, usage string) {
	if len(args) < atLeast {
		s.Fatalf("usage: %s", usage)
	}
}

func (s *stage) pattern(text string) *regexp.Regexp {
	re, err := regexp.Compile("(?m)" + text)
	s.Check(err)
	return re
}

// unsaid is what an upstream answers that does not say how much its models hold.
const unsaid = "-- GET /v1/models --\nrepeat\nstatus 404 No\n-- GET /props* --\nrepeat\nstatus 404 No\n-- GET /api/* --\nrepeat\nstatus 404 No\n"

func (s *stage) playUpstream(args []string) {
	s.want(args, 1, "upstream NAME [FILE]")
	text := fmt.Sprintf("-- * * --\nrepeat\nstatus 200 OK\nheader Content-Type: application/json\nbody {\"from\":%q}\n", args[0])
	if len(args) > 1 {
		plain, err := txtar.Unquote([]byte(s.ReadFile(args[1])))
		s.Check(err)
		if text = string(plain); !strings.Contains(text, "-- GET /v1/models --") {
			text += unsaid
		}
	}
	script, err := scripted.Parse([]byte(text))
	s.Check(err)
	u, err := scripted.Start(script)
	s.Check(err)
	s.upstreams[args[0]] = u
	s.Setenv(args[0], u.URL())
	s.Setenv(args[0]+"_addr", u.Addr())
	s.Defer(func() {
		u.Close()
		for _, p := range u.Problems() {
			s.tb.Errorf("upstream %s: %s", args[0], p)
		}
	})
}

func (s *stage) upstreamNamed(name string) *scripted.Upstream {
	u := s.upstreams[name]
	if u == nil {
		s.Fatalf("there is no upstream %s", name)
	}
	return u
}

func (s *stage) upstreamSaw(neg bool, args []string) {
	s.want(args, 2, "upstream-saw NAME REGEXP")
	var all strings.Builder
	for _, r := range s.upstreamNamed(args[0]).Requests() {
		fmt.Fprintf(&all, "%s%s\n", bytes.ReplaceAll(r.RawHead, []byte("\r"), nil), r.Body)
	}
	if s.pattern(args[1]).MatchString(all.String()) == neg {
		s.Fatalf("upstream %s saw:\n%s", args[0], all.String())
	}
}

func (s *stage) release(args []string) {
	s.want(args, 2, "release NAME WORD")
	s.upstreamNamed(args[0]).Release(args[1])
}

func (s *stage) fill(args []string) {
	for _, name := range args {
		text := os.Expand(s.ReadFile(name), s.Getenv)
		s.Check(os.WriteFile(s.MkAbs(name), []byte(text), 0o600))
	}
}

// passedOn are the variables that programs in the background get from a script: testscript does not tell all it has.
func passedOn() []string {
	return []string{"PATH", "HOME", "TMPDIR", "GORACE", "GOCOVERDIR", "WORK", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL"}
}

func (s *stage) start(args []string) {
	s.want(args, 2, "start NAME CMD ARG...")
	name := args[0]
	p := &program{cmd: exec.Command(args[1], args[2:]...), log: s.MkAbs(name + ".log"), ended: make(chan struct{})}
	for _, v := range passedOn() {
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

func (s *stage) programNamed(name string) *program {
	p := s.programs[name]
	if p == nil {
		s.Fatalf("there is no program %s", name)
	}
	return p
}

func (s *stage) serve(args []string) {
	s.want(args, 1, "serve NAME ARG...")
	s.start(append([]string{args[0], "epitome", "serve"}, args[1:]...))
	line := s.awaitLine(s.programNamed(args[0]).log, `^.*"msg":"listening".*$`)
	var said struct{ Address string }
	s.Check(json.Unmarshal([]byte(line), &said))
	address := strings.NewReplacer("[::]", "127.0.0.1", "0.0.0.0", "127.0.0.1").Replace(said.Address)
	ready := func() bool {
		resp, err := direct().Get(address + "/-/ready")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	}
	if !eventually(ready) {
		s.Fatalf("%s does not become ready", args[0])
	}
	s.Setenv(args[0], address)
}

// awaitLine waits until a file matches. What a program that has ended has not said it never will.
func (s *stage) awaitLine(file, pattern string) string {
	re, found, over := s.pattern(pattern), "", false
	eventually(func() bool {
		over = s.over(file)
		text, _ := os.ReadFile(file)
		found = re.FindString(string(text))
		return found != "" || over
	})
	if found == "" {
		s.Fatalf("%s never says %#q; its program has ended: %v", filepath.Base(file), pattern, over)
	}
	return found
}

// over reports whether the file is the log of a program that has ended.
func (s *stage) over(file string) bool {
	for _, p := range s.programs {
		if p.log == file {
			return p.over()
		}
	}
	return false
}

func (p *program) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (s *stage) signal(args []string) {
	s.want(args, 2, "signal TERM|HUP|INT NAME")
	sig, ok := map[string]os.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "INT": os.Interrupt}[args[0]]
	if !ok {
		s.Fatalf("unknown signal %s", args[0])
	}
	s.Check(s.programNamed(args[1]).cmd.Process.Signal(sig))
}

func (s *stage) ended(args []string) {
	s.want(args, 2, "ended NAME CODE")
	p := s.programNamed(args[0])
	select {
	case <-p.ended:
	case <-time.After(patience):
		s.Fatalf("%s does not end", args[0])
	}
	s.sameCode(p.cmd.ProcessState.ExitCode(), args[1])
}

func (s *stage) sameCode(got int, want string) {
	if strconv.Itoa(got) != want {
		s.Fatalf("exit code %d, want %s", got, want)
	}
}

func (s *stage) await(args []string) {
	s.want(args, 2, "await FILE REGEXP")
	s.awaitLine(s.MkAbs(args[0]), args[1])
}

func (s *stage) vanished(args []string) {
	s.want(args, 1, "vanished GLOB")
	if !eventually(func() bool { return len(glob(s.MkAbs(args[0]))) == 0 }) {
		s.Fatalf("still there: %v", glob(s.MkAbs(args[0])))
	}
}

func (s *stage) status(args []string) {
	s.want(args, 2, "status CODE CMD ARG...")
	err, code := s.execAtPort(args[1], args[2:]), 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else {
		s.Check(err)
	}
	s.sameCode(code, args[0])
}

// execAtPort runs a program with a free port in place of each {port}. The port is chosen before the program takes it, so
// another program may be quicker: then it runs once more.
func (s *stage) execAtPort(name string, args []string) error {
	if !strings.Contains(strings.Join(args, " "), "{port}") {
		return s.Exec(name, args...)
	}
	var err error
	for range 50 {
		ln, failed := net.Listen("tcp", "127.0.0.1:0")
		s.Check(failed)
		port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
		s.Check(ln.Close())
		s.Setenv("port", port)
		filled := make([]string, len(args))
		for i, arg := range args {
			filled[i] = strings.ReplaceAll(arg, "{port}", port)
		}
		err = s.Exec(name, filled...)
		if !strings.Contains(s.ReadFile("stderr"), "address already in use") {
			break
		}
	}
	return err
}

func (s *stage) get(args []string)  { s.ask(http.MethodGet, args) }
func (s *stage) post(args []string) { s.ask(http.MethodPost, args) }

// ask prints whatever answer there is; only a request without one fails the script.
func (s *stage) ask(method string, args []string) {
	headers := http.Header{}
	for ; len(args) > 1 && args[0] == "-h"; args = args[2:] {
		name, value, _ := strings.Cut(args[1], ": ")
		headers.Set(name, value)
	}
	s.want(args, 1, "get|post [-h HEADER]... URL [FILE]")
	var body io.Reader
	if len(args) > 1 {
		body = strings.NewReader(s.ReadFile(args[1]))
	}
	req, err := http.NewRequest(method, args[0], body)
	s.Check(err)
	req.Header, req.Host = headers, headers.Get("Host")
	client := direct()
	client.Timeout = patience
	resp, err := client.Do(req)
	s.Check(err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	s.Check(err)
	var head bytes.Buffer
	s.Check(resp.Header.Write(&head))
	_, err = fmt.Fprintf(s.Stdout(), "%s\n%s\n%s\n", resp.Status, strings.ReplaceAll(head.String(), "\r", ""), text)
	s.Check(err)
}

func (s *stage) strays(args []string) {
	s.want(args, 2, "strays FOLDER BUT")
	root, but := s.MkAbs(args[0]), s.MkAbs(args[1])
	var found []string
	s.Check(filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == but:
			return filepath.SkipDir
		case !entry.IsDir():
			found = append(found, name)
		}
		return nil
	}))
	slices.Sort(found)
	_, err := fmt.Fprintln(s.Stdout(), strings.Join(found, "\n"))
	s.Check(err)
}

// direct asks this machine, never through a forward proxy.
func direct() *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
}
