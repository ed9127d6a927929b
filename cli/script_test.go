package cli

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"epitome/cli/commandtest"

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
	testscript.Main(m, map[string]func(){"epitome": program, "agent": commandtest.Agent})
}

// program is the real program, with the defaults that main.go embeds.
func program() {
	text, err := os.ReadFile(os.Getenv(commandtest.Defaults))
	if err != nil {
		panic(err)
	}
	os.Exit(Execute(string(text), os.Args[1:]))
}

// TestScripts runs the real program by the scripts in testdata/script; package commandtest says what they are
// written in.
func TestScripts(t *testing.T) {
	commandtest.Run(t, filepath.Join("testdata", "script"))
}
