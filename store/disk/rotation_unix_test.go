//go:build unix

package disk

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// writeWithLimit writes more than a memtable holds while no file may grow, and goes on when it may.
func writeWithLimit() {
	d, err := Open(Options{Folder: os.Getenv(folderEnv), Free: plenty})
	if err != nil {
		fmt.Println("cannot open", err)
		return
	}
	var unlimited syscall.Rlimit
	err = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &unlimited)
	put := func(n int) (stored int) {
		for i := range n {
			key := fmt.Sprint("key ", n, " ", i)
			if _, err := d.Put(key, bytes.Repeat([]byte(key), 4<<10), time.Hour); err == nil {
				stored++
			}
		}
		return stored
	}
	const many = memTableSize >> 14 // puts of some 44 KB, so that they are more than twice what a memtable holds
	before := put(10)
	limit := unlimited
	limit.Cur = 512
	limited := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	within := put(many)
	freed := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &unlimited)
	after := put(many + 1)
	fmt.Println("errors:", err, limited, freed, d.Close())
	fmt.Println("before:", before == 10, "within:", within > 0 && within < many, "after:", after == many+1)
}

// A limit of the process, or a quota, is no lack of free space: Badger would end the process over it.
func TestNoLimitOfFilesEndsTheProcess(t *testing.T) {
	if os.Getenv(folderEnv) != "" {
		writeWithLimit()
		return
	}
	limited := exec.Command(os.Args[0], "-test.run=^TestNoLimitOfFilesEndsTheProcess$")
	limited.Env = append(os.Environ(), folderEnv+"="+t.TempDir())
	out, err := limited.CombinedOutput()
	want := "errors: <nil> <nil> <nil> <nil>\nbefore: true within: true after: true\n"
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v: got %s", err, out)
	}
}
