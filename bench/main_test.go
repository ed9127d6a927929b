package bench

import (
	"context"
	"fmt"
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
		err = Upstream(ctx, args[2])
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
