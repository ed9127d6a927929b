package load

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestMain lets this test binary play the roles that a run starts as processes of their own: as "TEST bench upstream
// --listen ADDR" and "TEST bench baseline --listen ADDR --upstream URL".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "bench" {
		os.Exit(playRole(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func playRole(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case args[0] == "upstream" && len(args) == 3:
		err = Serve(ctx, args[2])
	case args[0] == "baseline" && len(args) == 5:
		err = Baseline(ctx, args[2], args[4])
	default:
		err = fmt.Errorf("cannot play role %q", args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// bareAsSubject returns a lineup in which this test binary's baseline plays the measured proxy.
func bareAsSubject(t *testing.T) Lineup {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("GORACE", "atexit_sleep_ms=0") // under -race each child would otherwise take a second to end
	return Lineup{
		Proxies: []Contender{{Name: "subject",
			Command: []string{exe, "bench", "baseline", "--listen", "{listen}", "--upstream", "{upstream}"}}},
		Nginx:    "none",
		Progress: io.Discard,
	}
}

// wantEmptyTemp fails the test unless the run has removed the folders of its processes.
func wantEmptyTemp(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) != 0 {
		t.Errorf("the run left %v in its folder (%v)", left, err)
	}
}
