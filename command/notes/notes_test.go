package notes

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/console/learned"
	"epitome/daemon"
	"epitome/instance"
	"epitome/store/disk"
	"epitome/summarize/memory"
)

// kept is a data folder in which something is known of two projects, in one of them by two scopes.
func kept(t *testing.T) Load {
	t.Helper()
	folder := t.TempDir()
	s, err := disk.Open(disk.Options{Folder: filepath.Join(folder, daemon.StoreFolder), SyncEvery: time.Second,
		Log: slog.New(slog.DiscardHandler), Fault: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	local := memory.NewLocal(s, func() time.Duration { return time.Hour }, time.Now)
	learn := func(scope, project string, texts ...string) {
		var said memory.Learned
		for _, text := range texts {
			said.Add = append(said.Add, memory.Entry{Kind: memory.Fact, Text: text})
		}
		if err := local.Learn(memory.Owner{Scope: scope, Project: project}, said); err != nil {
			t.Fatal(err)
		}
	}
	learn("", "/work/shop", "The port is 8080.", "The tests need Redis.")
	learn("abcdefghijkl", "/work/shop", "The port is 8080.")
	learn("", "other", "It is green.")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	conf := config.Defaults(configtest.Text())
	conf.Data, conf.Listen, conf.Upstream = folder, "127.0.0.1:0", "openai"
	conf.Window.Probe = false
	return func() (config.Config, error) { return conf, nil }
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
func idOf(t *testing.T, load Load, text string) string {
	t.Helper()
	all, err := printed(t, func() error { return listCmd{}.Run(load) })
	for line := range strings.Lines(all) {
		if strings.Contains(line, text) {
			return strings.Fields(line)[0]
		}
	}
	t.Fatalf("%q is not in %s, %v", text, all, err)
	return ""
}

// holds lists, forgets and clears, wherever the memories are.
func holds(t *testing.T, load Load) {
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
		return func() error { return listCmd{which: which{project}}.Run(load) }
	}
	forget := func(project string, ids ...string) func() error {
		return func() error { return forgetCmd{which{project}, ids}.Run(load) }
	}
	clear := func(project string) func() error { return func() error { return clearCmd{which{project}}.Run(load) } }
	today := time.Now().Format(time.DateOnly)
	f(list(""), "/work/shop\n  ", "/work/shop (scope abcdefgh)\n", today+"  fact  The tests need Redis.\n", "other\n", "It is green.")
	f(list("other"), "It is green.", "!Redis")
	f(list("nobody's"), "Nothing is known of nobody's", "Memories are off")
	f(func() error { return listCmd{which: which{"other"}, JSON: true}.Run(load) }, `"project": "other"`, `"text": "It is green."`)
	green, port := idOf(t, load, "It is green."), idOf(t, load, "The port is 8080.")
	f(forget("/work/shop", green), "cannot forget "+green+": no entry has this id")
	f(forget("", "nobody's"), "cannot forget nobody's: no entry has this id")
	f(forget("", port), "Forgotten.")
	f(list(""), "!8080", "Redis", "It is green.")
	f(clear("/work/shop"), "Forgotten is 1 entry.")
	f(list(""), "!/work/shop", "It is green.")
	f(forget("other", green), "Forgotten.")
	f(list(""), "Nothing is known of any project.")
	f(clear(""), "Forgotten are 0 entries.")
}

func TestWhatWasLeftIsListedAndForgotten(t *testing.T) {
	load := kept(t)
	holds(t, load)
}

func TestAnEpitomeThatRunsIsAsked(t *testing.T) {
	load := kept(t)
	signals, over := make(chan os.Signal, 1), make(chan error, 1)
	d := daemon.New(slog.New(slog.DiscardHandler), signals, load)
	if err := d.Start(false); err != nil {
		t.Fatal(err)
	}
	go func() { over <- d.Serve() }()
	holds(t, load)
	signals <- os.Interrupt
	if err := <-over; err != nil {
		t.Error(err)
	}
}

func TestWhereNothingWasKeptNothingIsListed(t *testing.T) {
	load := kept(t)
	conf, _ := load()
	conf.Data, conf.Memory.Enabled = t.TempDir(), true
	text, err := printed(t, func() error {
		return listCmd{}.Run(func() (config.Config, error) { return conf, nil })
	})
	if err != nil || text != "Nothing is known of any project. Memories are on by the configuration. "+config.Whence(conf)+"\n" {
		t.Errorf("got %q, %v", text, err)
	}
	conf.Store.URL = "redis://127.0.0.1:1"
	if err := (listCmd{}).Run(func() (config.Config, error) { return conf, nil }); err == nil ||
		!strings.Contains(err.Error(), "none of them runs with this data folder") {
		t.Errorf("of a shared store it is said %v", err)
	}
}

// What an epitome that runs has in force is told, whatever the configuration of the command says.
func TestMemoriesAreOnWhereTheEpitomeThatRunsHasThemOn(t *testing.T) {
	load := kept(t)
	conf, _ := load()
	conf.Memory.Enabled = true
	signals, over := make(chan os.Signal, 1), make(chan error, 1)
	d := daemon.New(slog.New(slog.DiscardHandler), signals, func() (config.Config, error) { return conf, nil })
	if err := d.Start(false); err != nil {
		t.Fatal(err)
	}
	go func() { over <- d.Serve() }()
	none := listCmd{which: which{"nobody's"}}
	text, err := printed(t, func() error { return none.Run(load) })
	if err != nil || !strings.Contains(text, "Memories are on in the epitome on "+d.Address()+".") ||
		strings.Contains(text, "off") {
		t.Errorf("got %q, %v", text, err)
	}
	none.JSON = true
	if text, err = printed(t, func() error { return none.Run(load) }); err != nil || !strings.Contains(text, `"enabled": true`) {
		t.Errorf("got %q, %v", text, err)
	}
	signals <- os.Interrupt
	if err := <-over; err != nil {
		t.Error(err)
	}
	none.JSON = false
	text, err = printed(t, func() error { return none.Run(load) })
	if err != nil || !strings.Contains(text, "Memories are off by the configuration: enabled = true under [memory]") {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestOfSeveralEpitomesEachIsTold(t *testing.T) {
	yes, no := true, false
	f := func(conf bool, want string, all ...place) {
		t.Helper()
		in := force{conf: conf}
		for _, p := range all {
			in.note(p)
		}
		if got := in.words(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	at := func(listen string, on *bool) place {
		return far{&instance.Card{Listen: listen}, learned.Listing{Enabled: on}}
	}
	f(false, "Memories are on in the epitome on a:1. Memories are off in the epitome on b:2 and on c:3: "+
		"enabled = true under [memory] turns them on.", at("a:1", &yes), at("b:2", &no), at("c:3", &no))
	f(true, "Memories are on by the configuration.", at("a:1", nil))
	f(true, "Memories are off in the epitome on a:1: enabled = true under [memory] turns them on.", at("a:1", &no))
}

// What somebody else wrote does nothing to a terminal.
func TestTextsAreShownAsTexts(t *testing.T) {
	f := func(text string) {
		t.Helper()
		if got := shown(text); strings.ContainsAny(got, "\x1b\r\n\x07\u202e") || len(got) > 4*mostShown {
			t.Errorf("%.40q is shown as %.80q", text, got)
		}
	}
	f("\x1b[2J\x1b]0;title\x07")
	f("a\r\nb\u202eexe")
	f(strings.Repeat("a\x1b", 100_000))
}
