package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"epitome/inject"
	"epitome/internal/lazyregexp"
	"epitome/internal/unit"
)

// admitContexts refuses names under which nothing is kept in the data folder.
func admitContexts(c Config, folder string) error {
	kept := inject.FilesIn(HomeOf(folder))
	check := func(name string, key ...string) error {
		if kept.Has(name) {
			return nil
		}
		err := inject.CheckContext(name)
		if err == nil {
			err = fmt.Errorf("nothing is kept under the name %q; write 'epitome context add %s FILE', or take it out", name, name)
		}
		return unit.Wrong(key, "cannot use %s: %w", strings.Join(key[:len(key)-1], "."), err)
	}
	for i, name := range c.Context.Names {
		if err := check(name, "context", "names", strconv.Itoa(i)); err != nil {
			return err
		}
	}
	for _, up := range slices.Sorted(maps.Keys(c.Upstreams)) {
		for i, name := range c.Upstreams[up].Context {
			if err := check(name, "upstreams", up, "context", strconv.Itoa(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ContextsFor are the names of the files that conversations are given which go to an upstream.
func (c Config) ContextsFor(upstream string) []string {
	return append(slices.Clone(c.Upstreams[upstream].Context), c.Context.Names...)
}

// Contexts are the files that an epitome with this data folder gives to conversations, to be read. One that "epitome
// run" has started has a folder of its own, and gives those of the user's.
func Contexts(folder string) inject.Files { return inject.FilesIn(HomeOf(folder)) }

// runKey is what "epitome run" calls the folders that it makes.
var runKey = lazyregexp.New(`^[0-9a-f]{16}$`)

// HomeOf is the user's data folder, of which folder may be one within that "epitome run" has made.
func HomeOf(folder string) string {
	if run := filepath.Dir(folder); filepath.Base(run) == "run" && runKey().MatchString(filepath.Base(folder)) {
		return filepath.Dir(run)
	}
	return folder
}
