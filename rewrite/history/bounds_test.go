package history

import (
	"fmt"
	"testing"

	"epitome/rewrite/history/action"
)

// Tens of thousands of files may be deleted, and tens of thousands read.
func TestWhetherAFileIsGoneIsLookedUp(t *testing.T) {
	h := New()
	h.Results = append(h.Results, Result{Item: 0})
	gone := func(files ...string) {
		n := len(h.Results)
		h.Results = append(h.Results, Result{Item: n, Source: action.Source{Action: action.Action{Deletes: files}}})
		h.learnDeleted(n)
	}
	gone("/a/b/c.go", "build")
	gone("d/../e.go", "/x/y/")
	for k := range 300 {
		gone(fmt.Sprintf("/z%d/many.go", k))
	}
	for file, want := range map[string]bool{"/a/b/c.go": true, "b/c.go": true, "/a/build/x/y.o": true, "builds/x": false,
		"/x/y/z": true, "/x/yz": false, "e.go": true, "c.go": true, "/a/b": false, "/z299/many.go": true, "/other/many.go": false} {
		if got := h.MayBeGone(file, &h.Results[0]); got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
	if h.MayBeGone("/a/b/c.go", &h.Results[1]) {
		t.Error("what was deleted before is taken for gone")
	}
}
