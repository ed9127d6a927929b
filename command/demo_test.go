package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"epitome/config/configtest"
	"epitome/demo"
)

// TestDemoShowsWhatHappens plays a session through the daemon, twice in the same place.
func TestDemoShowsWhatHappens(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "demo")
	play := func() (*demo.Report, string) {
		t.Helper()
		var told bytes.Buffer
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := seal(folder, 1); err != nil {
			t.Fatal(err)
		}
		s := stagedDemo{defaults: configtest.Text(), folder: folder, window: 16_000}
		o := demo.Options{Window: s.window, Turns: 45, Seed: 1, Open: s.open, Live: &told}
		r, err := demo.Run(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Print(&told); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		return r, told.String()
	}
	r, told := play()
	for _, m := range r.Missed() {
		t.Errorf("missed: %s", m)
	}
	steps := map[string]int{}
	for _, turn := range r.Turns {
		for _, s := range turn.Steps {
			steps[s.Kind]++
		}
	}
	if steps[demo.Offload] == 0 || steps[demo.Clear] == 0 || steps[demo.Compact] == 0 || r.ReadBack == 0 {
		t.Errorf("not all is shown: %v, and %d times something was read back", steps, r.ReadBack)
	}
	if r.Died == 0 || r.Died > len(r.Turns)/2 || r.Kept.Aside == 0 || r.Restart.Bytes == 0 {
		t.Errorf("died in turn %d of %d; kept %+v; restart %+v", r.Died, len(r.Turns), r.Kept, r.Restart)
	}
	if _, again := play(); again != told {
		t.Errorf("the same session again is another one:\n%s\nand then\n%s", told, again)
	}
	if t.Failed() {
		t.Log(told)
	}
}
