package inject

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/internal/fakeapi"
)

// An agent's provider is sent a .gitignore, and nothing that one links to.
func TestRuntimeReadsNoLinkedIgnore(t *testing.T) {
	folder, data := t.TempDir(), t.TempDir()
	t.Chdir(folder)
	told := func() string {
		return Describe(folder)
	}
	outside := filepath.Join(data, "credentials")
	err := errors.Join(os.Mkdir(".git", 0o700), os.WriteFile(outside, []byte("key = abc"), 0o600))
	if err = errors.Join(err, os.Symlink(outside, ".gitignore")); err != nil {
		fakeapi.Skip(t, "there are no links here: %v", err)
	}
	if got := told(); strings.Contains(got, "abc") || !strings.Contains(got, folder) {
		t.Errorf("told is %s", got)
	}
	err = errors.Join(os.Remove(".gitignore"), os.WriteFile(".gitignore", []byte("\n*.log\n"), 0o600))
	if got := told(); err != nil || !strings.HasSuffix(got, " first lines:\n\n*.log") {
		t.Errorf("told is %s, %v", got, err)
	}
}
