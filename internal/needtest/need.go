// Package need ends a test that lacks something outside the repository: a program, a registry, conversations of
// somebody's own.
//
// Such a test is skipped, so that the tests pass on any machine. Where EPITOME_NO_SKIP is set it fails instead; .ci/run
// sets it for the tests whose needs it provides, so that none of them can go unrun unnoticed.
package needtest

import (
	"fmt"
	"os"
	"testing"
)

// noSkip is the environment variable that makes failures of skips; any value but the empty one counts.
const noSkip = "EPITOME_NO_SKIP"

// Skip ends the test with what is missing, and why: as a skip, or as a failure if EPITOME_NO_SKIP is set.
func Skip(tb testing.TB, format string, args ...any) {
	tb.Helper()
	what := fmt.Sprintf(format, args...)
	if os.Getenv(noSkip) != "" {
		tb.Fatalf("%s; the test may not be skipped, because %s is set", what, noSkip)
	}
	fmt.Fprintf(os.Stderr, "SKIPPED %s: %s\n", tb.Name(), what)
	tb.SkipNow()
}
