// Package commandtest runs scripts that drive the real program, and has the agent that they let it run.
//
// It promises that a script ends: each wait has a bound, and what a script has started ends with it.
package commandtest

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/scriptedtest"

	"github.com/rogpeppe/go-internal/testscript"
)

// Run runs the scripts in a folder. Besides testscript's own commands they have
//
//	upstream NAME [FILE]          answers each request with {"from":"NAME"}, or plays FILE, a script for package
//	                              scripted in which each line begins with ">"; without GET /v1/models it does not
//	                              say how much its models hold; $NAME is its URL, $NAME_addr its host:port
//	[!] upstream-saw NAME REGEXP  a request has reached that upstream whose head or body matches
//	release NAME WORD             lets the upstream go on from "await WORD"
//	fill FILE...                  replaces $VARIABLES in the files
//	start NAME CMD ARG...         runs CMD in the background, with all it prints in NAME.log
//	serve NAME ARG...             starts "epitome serve" and waits until it is ready; $NAME and $NAME_addr as above
//	signal TERM|HUP|INT NAME      sends a signal to what start or serve has started
//	ended NAME CODE               waits for its end, with this exit code
//	await FILE REGEXP             waits until FILE matches
//	status CODE CMD ARG...        runs CMD, which ends with CODE; {port} in an ARG is a port that nobody listens on,
//	                              and $port is it afterwards: should somebody take it first, CMD runs again with
//	                              another
//	get [-h HEADER]... URL        prints the answer, status line and headers first; post has a FILE behind the URL
//	conversation [-messages] FILE N
//	                              writes a request with N calls and their results, which extends that with N-1,
//	                              in Chat Completions or Anthropic Messages; a result is 15 000 tokens
//	result FILE K                 writes the text of the K-th result
//	sent NAME K FILE              writes the body of the K-th conversation that reached that upstream
//	capture VAR FILE REGEXP       sets $VAR to what the first group matches in FILE
//
// $DATA is the user's data folder.
func Run(t *testing.T, folder string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts stop and reload programs by signals, which Windows does not have")
	}
	end := time.Now().Add(3 * scriptedtest.Patience)
	if d, ok := t.Deadline(); ok && d.Before(end) {
		end = d
	}
	testscript.Run(t, testscript.Params{Dir: folder, Setup: setStage, Deadline: end,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"upstream": on(playUpstream), "upstream-saw": on(wantRequest), "release": on(releaseUpstream),
			"start": on(startProgram), "serve": on(serveProgram), "signal": on(signalProgram),
			"ended": on(awaitEnd), "get": on(get), "post": on(post), "status": on(runForStatus),
			"fill": on(fillFiles), "await": on(awaitFile),
			"conversation": on(writeConversation), "result": on(writeResult),
			"sent": on(writeSent), "capture": on(captureGroup),
		}})
}

// Defaults is the environment variable that names the file with the program's defaults.
const Defaults = "TEST_DEFAULTS"

// stage is what one script has set up.
type stage struct {
	*testscript.TestScript // of the command that runs
	tb                     testing.TB
	upstreams              map[string]*fakeapi.Upstream
	programs               map[string]*program
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
	defaults, err := filepath.Abs(filepath.Join("..", "config.toml"))
	if err != nil {
		return err
	}
	env.Setenv(Defaults, defaults)
	s := &stage{tb: env.T().(testing.TB), upstreams: map[string]*fakeapi.Upstream{}, programs: map[string]*program{}}
	env.Values[onStage] = s
	return os.MkdirAll(home, 0o700)
}

// on makes a script command of a function. Where ! is allowed the function has one argument more.
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

func fillFiles(s *stage, args []string) {
	for _, name := range args {
		text := os.Expand(s.ReadFile(name), s.Getenv)
		s.Check(os.WriteFile(s.MkAbs(name), []byte(text), 0o600))
	}
}
