package commandtest

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"epitome/internal/fakeapi/scriptedtest"
)

// program is one that runs in the background.
type program struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{} // closed once it has; cmd.ProcessState can be read then
}

// passedOn are the variables that programs in the background get from a script: testscript does not tell all it has.
func passedOn() []string {
	return []string{Defaults, "PATH", "HOME", "TMPDIR", "GORACE", "GOCOVERDIR", "WORK", "OPENAI_BASE_URL", "OPENAI_API_BASE",
		"ANTHROPIC_BASE_URL"}
}

func startProgram(s *stage, args []string) {
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

func serveProgram(s *stage, args []string) {
	s.want(args, 1, "serve NAME ARG...")
	startProgram(s, append([]string{args[0], "epitome", "serve"}, args[1:]...))
	line := s.awaitLine(s.programNamed(args[0]).log, `^.*"msg":"listening".*$`)
	var said struct{ Address string }
	s.Check(json.Unmarshal([]byte(line), &said))
	address := strings.NewReplacer("[::]", "127.0.0.1", "0.0.0.0", "127.0.0.1").Replace(said.Address)
	ready := func() bool {
		resp, err := scriptedtest.Direct().Get(address + "/-/ready")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	}
	if !scriptedtest.Eventually(ready) {
		s.Fatalf("%s does not become ready", args[0])
	}
	s.Setenv(args[0], address)
	_, addr, _ := strings.Cut(address, "://")
	s.Setenv(args[0]+"_addr", addr)
}

// awaitLine waits until a file matches. What a program that has ended has not said it never will.
func (s *stage) awaitLine(file, pattern string) string {
	re, found, over := s.pattern(pattern), "", false
	scriptedtest.Eventually(func() bool {
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

func signalProgram(s *stage, args []string) {
	s.want(args, 2, "signal TERM|HUP|INT NAME")
	sig, ok := map[string]os.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "INT": os.Interrupt}[args[0]]
	if !ok {
		s.Fatalf("unknown signal %s", args[0])
	}
	s.Check(s.programNamed(args[1]).cmd.Process.Signal(sig))
}

func awaitEnd(s *stage, args []string) {
	s.want(args, 2, "ended NAME CODE")
	p := s.programNamed(args[0])
	select {
	case <-p.ended:
	case <-time.After(scriptedtest.Patience):
		s.Fatalf("%s does not end", args[0])
	}
	s.sameCode(p.cmd.ProcessState.ExitCode(), args[1])
}

func (s *stage) sameCode(got int, want string) {
	if strconv.Itoa(got) != want {
		s.Fatalf("exit code %d, want %s", got, want)
	}
}

func awaitFile(s *stage, args []string) {
	s.want(args, 2, "await FILE REGEXP")
	s.awaitLine(s.MkAbs(args[0]), args[1])
}

func runForStatus(s *stage, args []string) {
	s.want(args, 2, "status CODE CMD ARG...")
	err, code := s.execAtPort(args[1], args[2:]), 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else {
		s.Check(err)
	}
	s.sameCode(code, args[0])
}

// execAtPort runs a program with a free port in place of each {port}. The port is chosen before the program takes it,
// so another program may be quicker: then it runs once more.
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
