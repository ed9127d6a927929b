package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"epitome/config/configtest"
)

// A command that finds nothing says where it looked, and who told it to look there.
func TestWhenceSaysWhereTheDataFolderIsFrom(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "settings"))
	t.Setenv("XDG_DATA_HOME", "relative")
	f := func(path string, over Overrides, want string) {
		t.Helper()
		c, err := Load(configtest.Text(), path, over)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(Whence(c), home, "~"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if runtime.GOOS == "linux" {
		f("", Overrides{}, "The data folder is ~/.local/share/epitome (the default); this command read no configuration file.")
		t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
		f("", Overrides{}, "The data folder is ~/data/epitome (by XDG_DATA_HOME); this command read no configuration file.")
	}
	flag := Overrides{Data: filepath.Join(home, "mine")}
	f("", flag, "The data folder is ~/mine (by --data); this command read no configuration file.")
	file := filepath.Join(home, "c.toml")
	if err := os.WriteFile(file, []byte("mode = \"on\"\ndata = '"+filepath.Join(home, "its")+"'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f(file, Overrides{}, "The data folder is ~/its (by ~/c.toml:2); this command read the configuration file ~/c.toml.")
	f(file, flag, "The data folder is ~/mine (by --data); this command read the configuration file ~/c.toml.")
}
