package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder that takes no other, whatever its mode says, is refused before it is to be made.
func TestAFolderThatTakesNoneIsSeen(t *testing.T) {
	for _, folder := range []string{"/proc/epitome", "/proc/epitome/data"} {
		if err := checkFolder(folder); err == nil || !strings.Contains(err.Error(), "cannot make the data folder "+folder+": ") {
			t.Errorf("%s is refused with %v", folder, err)
		}
	}
	above := t.TempDir()
	if err := checkFolder(filepath.Join(above, "new", "data")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(above); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
}

// A data folder that this user may not make is refused, by check as by serve.
func TestAFolderOfOthersIsNoDataFolder(t *testing.T) {
	folder := t.TempDir()
	for at := folder; at != filepath.Clean(os.TempDir()) && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil { //nolint:gosec // for the other user
			t.Fatal(err)
		}
	}
	refused := make(chan error)
	go func() {
		if os.Geteuid() == 0 { // one thread alone is somebody else, and ends with its goroutine
			runtime.LockOSThread()
			if _, _, no := unix.RawSyscall(unix.SYS_SETRESUID, 65532, 65532, 65532); no != 0 {
				refused <- no
				return
			}
		} else if err := os.Chmod(folder, 0o555); err != nil { //nolint:gosec // as above
			refused <- err
			return
		}
		refused <- checkFolder(filepath.Join(folder, "new", "data"))
	}()
	if err := <-refused; err == nil || !strings.Contains(err.Error(), "permission denied; give one that can be written") {
		t.Errorf("the folder is refused with %v", err)
	}
	if err := checkFolder(filepath.Join(t.TempDir(), "new")); err != nil {
		t.Errorf("a folder that can be made is refused: %v", err)
	}
}
