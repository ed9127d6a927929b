package command

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"epitome/bench/demo"
	"epitome/config"
	"epitome/config/configtest"
	"epitome/console/story"
	"epitome/instance"
	"epitome/scripted/scriptedtest"
)

// turnsToldBy is how many turns the epitome with the folder tells of the longest conversation.
func turnsToldBy(t *testing.T, folder string) (turns int) {
	t.Helper()
	card, err := instance.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := card.Answer("/-/api/conversations", nil)
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
	folder := filepath.Join(t.TempDir(), "demo")
	play := func() (*demo.Report, string) {
		t.Helper()
		var told bytes.Buffer
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := sealDemo(folder, 1); err != nil {
			t.Fatal(err)
		}
		s := stage{Defaults: configtest.Text(), Folder: folder, Window: 16_000}
		o := demo.Options{Window: s.Window, Turns: 45, Seed: 1, Open: s.open, Live: &told}
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

var updateReadme = flag.Bool("update", false, "write the demo's lines into README.md, to be read before they are committed")

// toldByDemo is what the demo prints without any flag.
func toldByDemo(t *testing.T) string {
	t.Helper()
	var c cli
	if _, err := c.describe().Parse([]string{"demo"}); err != nil {
		t.Fatal(err)
	}
	window, err := config.ParseWindow(c.Demo.Window)
	if err != nil {
		t.Fatal(err)
	}
	folder := shortFolder(t)
	if err := sealDemo(folder, c.Demo.Seed); err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	s := stage{Defaults: configtest.Text(), Folder: folder, Window: window}
	o := demo.Options{Window: window, Turns: c.Demo.Turns, Seed: c.Demo.Seed, Open: s.open, Live: &told}
	r, err := demo.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Print(&told); err != nil {
		t.Fatal(err)
	}
	return told.String()
}

// shortFolder is one whose path has as many tokens as that of a demo on Linux: it stands in what the model is sent.
func shortFolder(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"/tmp/epitome-test", "/tmp/epitome-demo", "/tmp/epitome-main", "/tmp/epitome-data"} {
		if os.Mkdir(name, 0o700) == nil {
			t.Cleanup(func() { _ = os.RemoveAll(name) })
			return name
		}
	}
	t.Skip("there is no free folder in /tmp, and with another path the figures are others")
	return ""
}

// withDemo is the README with the lines of the demo that it shows: the first turns in which something is done, each in
// its way, and the last one.
func withDemo(t *testing.T, readme, told string) string {
	t.Helper()
	shown := []string{regexp.MustCompile(`(?m)^turn  .*$`).FindString(told)}
	for _, what := range []string{`offload .*, excerpt`, `clear `, `compact `} {
		shown = append(shown, regexp.MustCompile(`(?m)^ *\d+  .*  `+what+`.*$`).FindString(told))
	}
	rows := regexp.MustCompile(`(?m)^ *\d+  .*%  .*$`).FindAllString(told, -1)
	answered := regexp.MustCompile(`(?m)^turns answered +(\d+), then error 400 +(\d+ of \d+)$`).FindStringSubmatch(told)
	head, rest, begins := strings.Cut(readme, "From its output:\n\n")
	_, tail, ends := strings.Cut(rest, "\n\n")
	row := regexp.MustCompile(`(?m)^\| demo: turns answered \|.*?\|.*?\|`)
	if len(rows) == 0 || answered == nil || !begins || !ends || !row.MatchString(tail) {
		t.Fatalf("README.md has no lines of the demo, or the demo none for it:\n%s", told)
	}
	tail = row.ReplaceAllString(tail, "| demo: turns answered | "+answered[1]+" | "+answered[2]+" |")
	shown = append(shown, rows[len(rows)-1])
	return head + "From its output:\n\n    " + strings.Join(shown, "\n    ") + "\n\n" + tail
}
