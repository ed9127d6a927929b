package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/daemon"
	"epitome/internal/fakeapi"
)

// The list of artifacts reads the beginnings of the newest: what it does not have to read here never ends.
func TestListReadsBeginningsOfTheNewest(t *testing.T) {
	t.Parallel()
	home, now := t.TempDir(), time.Now()
	folder := filepath.Join(home, daemon.ArtifactFolder)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	pipe := func(name string, age time.Duration) {
		t.Helper()
		path := filepath.Join(folder, name+".txt")
		if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
			t.Skipf("there are no pipes here: %v, %s", err, out)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			_, err = file.WriteString(strings.Repeat("text of "+name+" ", 100))
		}
		at := now.Add(-age)
		if err != nil || os.Chtimes(path, at, at) != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
	}
	pipe("newest", 0)
	pipe("oldest", time.Hour)
	for i := range 49 {
		path := filepath.Join(folder, fmt.Sprintf("file%02d.txt", i))
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.Add(-time.Minute - time.Duration(i)*time.Second)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	listed := make(chan string, 1)
	go func() { listed <- string(listArtifacts(home)) }()
	select {
	case list := <-listed:
		lines := strings.Split(strings.TrimSuffix(list, "\n"), "\n")
		if len(lines) != 50 || !strings.Contains(lines[0], " newest text of newest text") ||
			!strings.Contains(lines[49], " file48 x") {
			t.Errorf("the list is\n%s", list)
		}
	case <-time.After(fakeapi.Patience):
		t.Error("the list reads a whole artifact, or one that it does not show")
	}
}
