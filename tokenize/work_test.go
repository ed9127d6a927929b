package tokenize_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"epitome/internal/need"
	"epitome/tokenize"
)

// pathological returns texts that make careless counters take quadratic time.
func pathological() map[string]string {
	return map[string]string{
		"letters": "a", "blanks": " ", "line ends": "\n", "equals": "=", "random letters": "qzjxkvbpygfwmucldrhsnioate",
		"CJK": "日本語一番", "emoji": "😀", "white space": " \t\n\r ", "digits": "0123456789", "marks": "\u0301",
		"capitals":            "A",
		"blanks and a letter": "                                x", "marks and capitals": "\u0301AB", "quotes": "'",
	}
}

// workText tells this test binary, run as a child, of which text to count the tokens; workSize is its length in bytes.
const (
	workText = "EPITOME_WORK_TEXT"
	workSize = "EPITOME_WORK_SIZE"
)

// Work grows with the text and not with its square: ten times the text takes at most twelve times the work, where a
// quadratic counter takes a hundred times. Work is statements executed, which a build for test coverage counts; no
// clock is read, so nothing depends on the machine.
func TestWorkIsLinear(t *testing.T) {
	if text := os.Getenv(workText); text != "" {
		countOnce(t, text)
		return
	}
	if testing.Short() || raced {
		t.Skip("builds the package once more, and counts in many processes")
	}
	binary := coverageBuild(t)
	idle := statements(t, binary, "letters", 0)
	for name := range pathological() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			small := statements(t, binary, name, 30_000) - idle
			large := statements(t, binary, name, 300_000) - idle
			if small < 1_000 || large > 12*small {
				t.Errorf("30 KB take %d statements, 300 KB take %d: want at most 12 times as many", small, large)
			}
		})
	}
}

// countOnce is what a child does.
func countOnce(t *testing.T, name string) {
	size, err := strconv.Atoi(os.Getenv(workSize))
	unit := pathological()[name]
	if err != nil || unit == "" {
		t.Fatalf("cannot count %q of size %q", name, os.Getenv(workSize))
	}
	counter(t, tokenize.O200k).CountString(strings.Repeat(unit, size/len(unit)))
}

// coverageBuild builds this test with counters in each block of the package.
func coverageBuild(t *testing.T) string {
	binary := filepath.Join(t.TempDir(), "counting.test")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-covermode=count", "-o", binary, ".")
	if _, err := exec.LookPath("go"); err != nil {
		need.Skip(t, "there is no go command to build a counting test with: %v", err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the test for coverage: %v\n%s", err, out)
	}
	return binary
}

// profiles numbers the profiles of all children.
var profiles atomic.Int64

// statements returns how many statements of the package run while a child counts the tokens of one text.
func statements(t *testing.T, binary, name string, size int) (total int) {
	t.Helper()
	profile := filepath.Join(t.TempDir(), fmt.Sprintf("%d.out", profiles.Add(1)))
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^TestWorkIsLinear$", "-test.coverprofile="+profile)
	cmd.Env = append(os.Environ(), workText+"="+name, workSize+"="+strconv.Itoa(size))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot count %q: %v\n%s", name, err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var block string // file:from,to
		var length, times int
		if n, _ := fmt.Sscan(string(line), &block, &length, &times); n == 3 {
			total += length * times
		}
	}
	return total
}
