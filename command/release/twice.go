package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// buildTwice makes the same release from two folders, each without a cache, and fails if a byte differs.
func buildTwice(commit string, targets []target) error {
	var outs []string
	for _, name := range []string{"a-", "a-folder-with-a-longer-name-"} {
		c, err := newCheckout(name, commit)
		if err != nil {
			return err
		}
		defer c.remove()
		c.cache = filepath.Join(c.folder, "cache")
		fmt.Println("from " + c.folder)
		out := filepath.Join(c.folder, "dist")
		if err := c.writeRelease(out, targets); err != nil {
			return err
		}
		outs = append(outs, out)
	}
	return compare(outs[0], outs[1])
}

// compare fails if the files of two releases differ, and says how many do not.
func compare(one, other string) error {
	first, err := filesIn(one)
	if err != nil {
		return err
	}
	second, err := filesIn(other)
	if err != nil {
		return err
	}
	if !slices.Equal(first, second) {
		return fmt.Errorf("the releases have other files: %q and %q", first, second)
	}
	var differ []error
	for _, name := range first {
		a, errA := os.ReadFile(filepath.Join(one, name))
		b, errB := os.ReadFile(filepath.Join(other, name))
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			differ = append(differ, fmt.Errorf("%s differs", name))
		}
	}
	if len(differ) == 0 {
		fmt.Printf("%d files are equal byte for byte.\n", len(first))
	}
	return errors.Join(differ...)
}

func filesIn(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
