package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"epitome/command/commandtest"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets this test binary be the programs that scripts run: epitome itself and an agent that uses it.
func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=10") // with -race each of many programs would linger for a second
	}
	if !slices.ContainsFunc(os.Args, func(a string) bool { return strings.Contains(a, "test.memprofile") }) {
		runtime.MemProfileRate = 0 // neither the program nor who runs these tests has asked for one
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // scripts wait more than they work; a flag of the caller's wins
		panic(err)
	}
	testscript.Main(m, map[string]func(){"epitome": main, "agent": commandtest.Agent})
}

// TestScripts runs the real program by the scripts in command/testdata/script; package commandtest says what they are
// written in.
func TestScripts(t *testing.T) {
	commandtest.Run(t, filepath.Join("command", "testdata", "script"))
}

// TestNothingIsComputedAtStart holds that each package's variables lie ready in the program's file. What is computed at
// start is computed by every command, whether it needs it or not, and an idle process keeps what that took.
func TestNothingIsComputedAtStart(t *testing.T) {
	const most = 64 // bytes of one small value, as an error about another is; a table takes more
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(program)
	run.Args = []string{"epitome", "version"} // by this name TestMain knows it
	run.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "init runtime ") {
		t.Fatalf("cannot hear of Go's runtime what is computed: %v\n%s", err, out)
	}
	computed := regexp.MustCompile(`(?m)^init (epitome\S*) .*? (\d+) bytes, \d+ allocs`)
	for _, said := range computed.FindAllStringSubmatch(string(out), -1) {
		if bytes, err := strconv.Atoi(said[2]); err != nil || bytes > most {
			t.Errorf("%s makes %s bytes at start, at most %d: write maps as switches or arrays, regular expressions with "+
				"pattern.Of, and what must be computed with lazy.Of", said[1], said[2], most)
		}
	}
}
