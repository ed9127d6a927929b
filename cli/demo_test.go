package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"epitome/bench/demo"
	"epitome/cli/daemon"
	"epitome/config/configtest"
	"epitome/console/story"
	"epitome/internal/fakeapi/scriptedtest"
)

// turnsToldBy is how many turns the epitome with the folder tells of the longest conversation.
func turnsToldBy(t *testing.T, folder string) (turns int) {
	t.Helper()
	card, err := daemon.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := card.Get("/-/api/conversations", nil)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Items []story.Conversation }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Items {
		turns = max(turns, c.Turns)
	}
	return turns
}

// TestDemoShowsWhatHappens plays a session through the daemon, twice in the same place.
func TestDemoShowsWhatHappens(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	play := func() (*demo.Report, string) {
		t.Helper()
		var told bytes.Buffer
		folder, err := newDemoFolder(1)
		if err != nil {
			t.Fatal(err)
		}
		s := stage{app: &app{defaults: configtest.Text()}, folder: folder, window: 16_000}
		o := demo.Options{Window: s.window, Turns: 45, Seed: 1, Open: s.open, Live: &told}
		o.End = func(r *demo.Report) error {
			// A turn is told behind its answer: the last one may come to the pages after the agent has read it.
			var got int
			if !scriptedtest.Eventually(func() bool { got = turnsToldBy(t, folder); return got == len(r.Turns)+1 }) {
				t.Errorf("the pages tell %d turns, the demo %d, and it says that they are one ahead", got, len(r.Turns))
			}
			return nil
		}
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
	for _, part := range []string{"Its pages count that request, too", "The table counts all messages"} {
		if !strings.Contains(strings.Join(strings.Fields(told), " "), part) {
			t.Errorf("it does not say %q", part)
		}
	}
	if t.Failed() {
		t.Log(told)
	}
}
