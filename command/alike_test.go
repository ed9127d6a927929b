package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCopiesOfProgramsAreAlike(t *testing.T) {
	program := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(program, []byte(strings.Repeat("#!/bin/sh\n", 10_000)), 0o500); err != nil {
		t.Fatal(err)
	}
	a, err := newAlike()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for n := range 2 { // one that is named twice has two
		path, err := a.of(program, n)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if info, _ := os.Stat(path); err != nil || len(text) != 100_000 || info.Mode()&0o100 == 0 {
			t.Errorf("%s has %d bytes, %v", path, len(text), err)
		}
		paths = append(paths, path)
	}
	if paths[0] == paths[1] {
		t.Errorf("both are %s", paths[0])
	}
	if _, err := a.of(program+"er", 3); err == nil || !strings.Contains(err.Error(), "cannot copy the program "+program+"er: ") {
		t.Errorf("of a program that is not there: %v", err)
	}
	if a.remove(); len(paths) > 0 {
		if _, err := os.Stat(a.folder); !os.IsNotExist(err) {
			t.Errorf("the folder is still there: %v", err)
		}
	}
}
