// Package rewritetest is what the tests of several rooms of rewrite share. The program does not use it.
package rewritetest

import (
	"os"
	"path/filepath"
	"testing"

	"epitome/internal/needtest"
)

// Conversations returns the files of real conversations, each a request of Chat Completions.
func Conversations(tb testing.TB) []string {
	tb.Helper()
	folder := os.Getenv("EPITOME_CORPUS")
	if folder == "" {
		folder = filepath.Join(root(tb), "../shared/corpus")
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	if len(files) == 0 {
		needtest.Skip(tb, "no real conversations here: set EPITOME_CORPUS to a folder of chat-completions requests")
	}
	return files
}

// root returns the module's folder, above the one of the package that is tested.
func root(tb testing.TB) string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	tb.Fatalf("cannot find the module's folder: %v", err)
	return ""
}
