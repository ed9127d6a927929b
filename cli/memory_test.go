package cli

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/cli/daemon"
	"epitome/config"
	"epitome/config/configtest"
	"epitome/inject"
	"epitome/store"
)

// kept is a data folder in which something is known of two projects, in one of them by two scopes.
func kept(t *testing.T) *app {
	t.Helper()
	folder := t.TempDir()
	s, err := store.OpenBadger(filepath.Join(folder, daemon.StoreFolder), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	local := inject.NewMemory(s, inject.MemoryConfig{Enabled: true}, time.Hour, time.Now)
	learn := func(scope, project string, texts ...string) {
		var said inject.Learned
		for _, text := range texts {
			said.Add = append(said.Add, inject.Entry{Kind: "fact", Text: text})
		}
		if err := local.Learn(inject.Owner{Scope: scope, Project: project}, said); err != nil {
			t.Fatal(err)
		}
	}
	learn("", "/home/me/shop", "The port is 8080.", "The tests need Redis.")
	learn("abcdefghijkl", "/home/me/shop", "The port is 8080.")
	learn("", "other", "It is green.")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "config.toml")
	if err := os.WriteFile(file, []byte("listen = \"127.0.0.1:0\"\n[window]\nprobe = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &app{defaults: configtest.Text(), file: file, flags: config.Overrides{Data: folder}}
}

// printed is what a command prints.
func printed(t *testing.T, run func() error) (text string, err error) {
	t.Helper()
	r, w, failed := os.Pipe()
	if failed != nil {
		t.Fatal(failed)
	}
	was := os.Stdout
	os.Stdout = w
	defer func() { os.Stdout = was }()
	err = run()
	_ = w.Close()
	all, failed := io.ReadAll(r)
	if failed != nil {
		t.Fatal(failed)
	}
	return string(all), err
}

// idOf is the id of the entry with this text, as list prints it.
func idOf(t *testing.T, c *app, text string) string {
	t.Helper()
	all, err := printed(t, func() error { return c.listMemory("") })
	for line := range strings.Lines(all) {
		if strings.Contains(line, text) {
			return strings.Fields(line)[0]
		}
	}
	t.Fatalf("%q is not in %s, %v", text, all, err)
	return ""
}

// holds lists, forgets and clears.
func holds(t *testing.T, c *app) {
	t.Helper()
	f := func(run func() error, wants ...string) {
		t.Helper()
		text, err := printed(t, run)
		if err != nil {
			text = err.Error()
		}
		for _, want := range wants {
			if not, absent := strings.CutPrefix(want, "!"); absent == strings.Contains(text, not) {
				t.Errorf("it prints %s, want %q", text, want)
			}
		}
	}
	list := func(project string) func() error {
		return func() error { return c.listMemory(project) }
	}
	forget := func(project string, ids ...string) func() error {
		return func() error { return c.forgetMemory(project, ids) }
	}
	clear := func(project string) func() error {
		return func() error { return c.forgetMemory(project, nil) }
	}
	today := time.Now().Format(time.DateOnly)
	f(list(""), "/home/me/shop\n  ", today+"  fact  The tests need Redis.\n",
		"other\n", "It is green.")
	f(list("other"), "It is green.", "!Redis")
	f(list("nobody's"), "No session has learned anything.")
	green, port := idOf(t, c, "It is green."), idOf(t, c, "The port is 8080.")
	f(forget("/home/me/shop", green), "no entry has this id")
	f(forget("", "nobody's"), "no entry has this id")
	f(forget("", port), "Forgotten: ")
	f(list(""), "!8080", "Redis", "It is green.")
	f(clear("/home/me/shop"), "Forgotten: 1.")
	f(list(""), "!/home/me/shop", "It is green.")
	f(forget("other", green), "Forgotten: 1.")
	f(list(""), "No session has learned anything.")
	f(clear(""), "Forgotten: 0.")
}

func TestMemoriesOfAnEpitomeThatRuns(t *testing.T) {
	c := kept(t)
	signals, over := make(chan os.Signal, 1), make(chan error, 1)
	d := daemon.New(slog.New(slog.DiscardHandler), signals, c.load)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { over <- d.Serve() }()
	holds(t, c)
	signals <- os.Interrupt
	if err := <-over; err != nil {
		t.Error(err)
	}
}
