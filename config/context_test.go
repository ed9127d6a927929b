package config

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"epitome/config/configtest"
	"epitome/inject"
	"epitome/internal/unit"
	"epitome/proxy"
)

func TestOnlyWhatIsKeptMayBeAskedFor(t *testing.T) {
	home := t.TempDir()
	file := inject.NewFile{Name: "api.md", Text: []byte("# API\n")}
	if err := inject.FilesIn(home).Add("docs", []inject.NewFile{file}); err != nil {
		t.Fatal(err)
	}
	f := func(folder string, want []string, all []string, upstream ...string) {
		t.Helper()
		c := Defaults(configtest.Text())
		c.Context.Names = all
		c.Upstreams["mine"] = proxy.UpstreamConfig{URL: "http://127.0.0.1:1/v1", Context: upstream}
		err := admitContexts(c, folder)
		var at []string
		if wrong := (*unit.KeyError)(nil); errors.As(err, &wrong) {
			at = wrong.Keys[0]
		}
		if !slices.Equal(at, want) || want == nil && err != nil {
			t.Errorf("%q, %q: got %v, want %q", all, upstream, err, want)
		}
	}
	f(home, nil, nil)
	f(home, nil, []string{"docs"}, "docs")
	f(home, []string{"context", "names", "1"}, []string{"docs", "none"})
	f(home, []string{"context", "names", "0"}, []string{"../docs"})
	f(home, []string{"upstreams", "mine", "context", "0"}, []string{"docs"}, "none")
	// what "epitome run" starts has a folder of its own, and the user's files
	f(filepath.Join(home, "run", "0123456789abcdef"), nil, []string{"docs"})
	f(filepath.Join(home, "run", "mine"), []string{"context", "names", "0"}, []string{"docs"})
}
