package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"epitome/internal/fakeapi"
)

// An agent outgrows its window while the disk of the data folder fills: first the store takes no facts, then nothing
// can be written. It meets no error.
func TestOutageOfAFullDiskEndsNoConversation(t *testing.T) {
	if !*every {
		t.Skip("it takes 700 MB of memory; -every plays it")
	}
	for api := range modelIn {
		t.Run(api, func(t *testing.T) {
			disk := t.TempDir()
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=700m"); err != nil {
				fakeapi.Skip(t, "cannot mount a small disk: %v", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
			a := new(agent)
			provider := narrow(t, a, api)
			p := run(t, filepath.Join(disk, "data"), provider.URL, byCode)
			*a = *working(p, api, modelIn[api])
			a.work(5)
			fill(t, disk, 400<<20)
			a.work(40)
			if got := p.parts()["artifacts"]; got != "full" {
				t.Errorf("the artifacts are %q", got)
			}
			fill(t, disk, 1<<30)
			a.work(80)
			if got := p.parts()["artifacts"]; got != "cannot be written" {
				t.Errorf("the artifacts are %q", got)
			}
			t.Logf("%s: epitome did %v; %d requests were refused", api, a.acted, len(provider.Refusals()))
			p.signals <- os.Interrupt // its store cannot be closed on such a disk, which the log may say
			if err := <-p.ended; err != nil && !strings.Contains(err.Error(), "free space") {
				t.Error(err)
			}
			p.over = true
		})
	}
}

// fill writes so many bytes to a disk, or as many as it takes.
func fill(t *testing.T, disk string, size int) {
	t.Helper()
	file, err := os.CreateTemp(disk, "fill")
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	block := make([]byte, 1<<20)
	for range size >> 20 {
		if _, err := file.Write(block); err != nil {
			return
		}
	}
}
