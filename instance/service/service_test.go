package service

import (
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// scene is a place whose manager only notes what it is asked.
type scene struct {
	Place
	asked []string
	fails map[string]string // what a command prints that fails, by its beginning
}

func newScene(t *testing.T, system string) *scene {
	home := t.TempDir()
	s := &scene{fails: map[string]string{}}
	s.Place = Place{System: system, User: 501, Program: "/opt/epitome", Args: []string{"--listen", "127.0.0.1:1"},
		Getenv: func(name string) string { return map[string]string{"HOME": home}[name] },
		Run: func(name string, args ...string) (string, error) {
			command := strings.Join(append([]string{name}, args...), " ")
			s.asked = append(s.asked, command)
			for beginning, says := range s.fails {
				if strings.HasPrefix(command, beginning) {
					return says, errors.New("exit status 1")
				}
			}
			return "", nil
		}}
	return s
}

// taken is what was asked since the last time.
func (s *scene) taken() string {
	all := strings.ReplaceAll(strings.Join(s.asked, "\n"), s.Getenv("HOME"), "~")
	s.asked = nil
	return all
}

func TestLaunchdOfTheUser(t *testing.T) {
	s := newScene(t, "darwin")
	s.Args = append(s.Args, "--data", "/Users/a & b/<c>")
	said, err := Install(s.Place)
	plist := filepath.Join(s.Getenv("HOME"), "Library", "LaunchAgents", "local.epitome.plist")
	if err != nil || !strings.Contains(said, plist) {
		t.Fatalf("%q, %v", said, err)
	}
	want := "launchctl print gui/501\nlaunchctl bootout gui/501/local.epitome\n" +
		"launchctl bootstrap gui/501 ~/Library/LaunchAgents/local.epitome.plist"
	if got := s.taken(); got != want {
		t.Errorf("asked\n%s\nwant\n%s", got, want)
	}
	text, err := os.ReadFile(plist)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Dict struct {
			Keys []string `xml:"key"`
			List struct {
				Strings []string `xml:"string"`
			} `xml:"array"`
		} `xml:"dict"`
	}
	if err := xml.Unmarshal(text, &read); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	args := []string{"/opt/epitome", "serve", "--listen", "127.0.0.1:1", "--data", "/Users/a & b/<c>"}
	if !slices.Equal(read.Dict.List.Strings, args) || !slices.Contains(read.Dict.Keys, "RunAtLoad") {
		t.Errorf("it starts %q, want %q; keys %q", read.Dict.List.Strings, args, read.Dict.Keys)
	}
	if _, err := Remove(s.Place); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(plist); !os.IsNotExist(err) {
		t.Errorf("the file is left: %v", err)
	}
}

func TestLaunchdTellsItsState(t *testing.T) {
	s := newScene(t, "darwin")
	if _, err := Install(s.Place); err != nil {
		t.Fatal(err)
	}
	run := s.Run
	f := func(says, want string, wantRuns bool) {
		t.Helper()
		s.Run = func(name string, args ...string) (string, error) {
			if _, err := run(name, args...); err != nil || args[1] == "gui/501" {
				return "", err
			}
			return says, nil
		}
		said, runs, err := Status(s.Place)
		if err != nil || !strings.HasSuffix(said, ".plist: "+want) || runs != wantRuns {
			t.Errorf("%q, %v, %v; want %q, %v", said, runs, err, want, wantRuns)
		}
	}
	f("local.epitome = {\n\tstate = running\n}", "running", true)
	f("local.epitome = {\n\tstate = waiting\n}", "waiting", false)
	s.fails["launchctl print gui/501/local.epitome"] = "Could not find service"
	f("", "not loaded", false)
}

func TestWhereThereIsNoManagerNothingIsWritten(t *testing.T) {
	f := func(system, command, says string, want ...string) {
		t.Helper()
		s := newScene(t, system)
		s.fails[command] = says
		_, err := Install(s.Place)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %q", system, err, w)
			}
		}
		if left, _ := os.ReadDir(s.Getenv("HOME")); len(left) != 0 {
			t.Errorf("%s: %v was written", system, left)
		}
	}
	const serve = "/opt/epitome serve --listen 127.0.0.1:1"
	f("linux", "systemctl", "Failed to connect to bus: No medium found\n", "no systemd of the user (Failed to connect to bus: No medium found)", serve)
	f("linux", "systemctl", "", "exit status 1", serve)
	f("darwin", "launchctl print", "", "nobody is logged in", serve)
	f("windows", "none", "", "Task Scheduler", `/TR "`+serve+`"`)
	f("openbsd", "none", "", "Linux and macOS only", serve)
}

func TestHomeThatIsNotSetIsSaid(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		s := newScene(t, system)
		s.Getenv = func(string) string { return "" }
		for verb, do := range map[string]func(Place) (string, error){"install": Install, "remove": Remove} {
			if _, err := do(s.Place); err == nil || !strings.Contains(err.Error(), "cannot "+verb+" the service: HOME is not set") {
				t.Errorf("%s %s: %v", system, verb, err)
			}
		}
	}
}

func TestServiceThatDoesNotStartIsSaid(t *testing.T) {
	s := newScene(t, "linux")
	s.fails["systemctl --user restart"] = "Job for epitome.service failed.\nSee the journal.\n"
	if _, err := Install(s.Place); err == nil || !strings.HasSuffix(err.Error(), "describes: Job for epitome.service failed") {
		t.Error(err)
	}
}

func TestNothingInstalledIsSaid(t *testing.T) {
	s := newScene(t, "linux")
	if _, err := Remove(s.Place); err == nil || !strings.Contains(err.Error(), "epitome service install") {
		t.Error(err)
	}
	if _, _, err := Status(s.Place); err == nil || !strings.Contains(err.Error(), "epitome service install") {
		t.Error(err)
	}
}

func TestWordsOfUnitsAreQuoted(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := systemdWord(in); got != want {
			t.Errorf("%q became %s, want %s", in, got, want)
		}
	}
	f("/usr/bin/epitome", "/usr/bin/epitome")
	f("/home/a b/epitome", `"/home/a b/epitome"`)
	f(`50% of "$HOME"`, `"50%% of \"$$HOME\""`)
	f("a\nb", `"a\nb"`)
	f("", `""`)
}

func TestDescriptionsAreTheUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	s := newScene(t, "linux")
	if _, err := Install(s.Place); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Getenv("HOME"), ".config", "systemd", "user", "epitome.service")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
