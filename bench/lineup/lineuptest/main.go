package lineuptest

import (
	"os"
	"testing"
)

// Main lets this test binary play the roles that a run starts as processes of their own: as "TEST bench upstream
// --listen ADDR" and "TEST bench baseline --listen ADDR --upstream URL".
func Main(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "bench" {
		os.Exit(playRole(os.Args[2:]))
	}
	os.Exit(m.Run())
}
