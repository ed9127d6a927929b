package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

func date() time.Time { return time.Date(2026, 11, 21, 22, 0, 1, 0, time.UTC) }

func made(system string) build {
	return build{target: target{system, "amd64"}, module: &debug.BuildInfo{GoVersion: "go1.26.8",
		Main: debug.Module{Path: "epitome", Version: "v1.2.3"}, Settings: []debug.BuildSetting{{Key: "-trimpath", Value: "true"}}}}
}

// Neither the order of the files nor the zone of the machine shows in an archive.
func TestArchivesAreEqual(t *testing.T) {
	files := []file{{name: "epitome", text: []byte("\x7fELF"), runs: true}, {name: "completions/_epitome", text: []byte("#")},
		{name: "LICENSE", text: []byte("free\n")}}
	for _, system := range []string{"linux", "windows"} {
		one, err := archived(made(system), slices.Clone(files), date())
		if err != nil {
			t.Fatal(err)
		}
		turned := []file{files[2], files[0], files[1]}
		other, err := archived(made(system), turned, date().In(time.FixedZone("away", 3600)).UTC())
		if err != nil || !bytes.Equal(one, other) {
			t.Errorf("%s: the archives differ, %v", system, err)
		}
	}
}

func TestArchiveHasItsFilesBelowOneFolder(t *testing.T) {
	files := []file{{name: "epitome", text: []byte("\x7fELF"), runs: true}, {name: "LICENSE", text: []byte("free\n")}}
	packed, err := archived(made("linux"), slices.Clone(files), date())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for in := tar.NewReader(plain); ; {
		head, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !head.ModTime.Equal(date()) || head.Uid != 0 || head.Uname != "" {
			t.Errorf("%s is of %v, user %d %s", head.Name, head.ModTime, head.Uid, head.Uname)
		}
		got = append(got, head.Name+" "+head.FileInfo().Mode().String())
	}
	const folder = "epitome_v1.2.3_linux_amd64/"
	if want := []string{folder + "LICENSE -rw-r--r--", folder + "epitome -rwxr-xr-x"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	packed, err = archived(made("windows"), slices.Clone(files), date())
	if err != nil {
		t.Fatal(err)
	}
	in, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil || len(in.File) != 2 || in.File[1].Name != "epitome_v1.2.3_windows_amd64/epitome" || !in.File[1].Modified.Equal(date()) {
		t.Errorf("%v, %+v", err, in.File)
	}
}

func TestLicencesAreNamedByTheirWords(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		if got := licencesIn(text); !slices.Equal(got, want) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	f("Apache License\n   Version 2.0, January 2004", "Apache-2.0")
	f("Permission is hereby granted, free of\ncharge, to any person obtaining a copy", "MIT")
	f("Redistribution and use in source and\nbinary forms, with\nNeither the name of", "BSD-3-Clause")
	f("Redistribution and use in source and binary forms, with", "BSD-2-Clause")
	f("Mozilla Public License, version 2.0", "MPL-2.0")
	f("All rights reserved.")
	own, err := os.ReadFile(filepath.Join("..", "..", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	f(string(own), "Apache-2.0")
}

func TestWhatHasNoLicenceIsNotReleased(t *testing.T) {
	p := part{path: "example.com/a"}
	folder := t.TempDir()
	if err := p.read(folder); err == nil || !strings.Contains(err.Error(), "cannot release a program with example.com/a") {
		t.Error(err)
	}
	for name, text := range map[string]string{"LICENSE.txt": "Apache License Version 2.0", "NOTICE": "told\r\n", "licence.go": "package a"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.read(folder); err != nil || len(p.texts) != 2 || !slices.Equal(p.licences, []string{"Apache-2.0"}) {
		t.Errorf("%v, %+v", err, p)
	}
	if all := string(notices([]part{p})); !strings.Contains(all, "example.com/a : Apache-2.0\n") || !strings.Contains(all, "\ntold\n") {
		t.Errorf("%s", all)
	}
}

func TestBillNamesWhatAProgramIsMadeOf(t *testing.T) {
	parts := []part{{path: "example.com/a", version: "v1.0.0+incompatible", sum: "h1:x=", licences: []string{"BSD-3-Clause", "MIT"}},
		{path: "event/money/table", version: "v1.2.3", table: true, licences: []string{"MIT"}}}
	text, err := writeBill(made("linux"), []byte("\x7fELF"), parts, date())
	if err != nil {
		t.Fatal(err)
	}
	again, err := writeBill(made("linux"), []byte("\x7fELF"), parts, date())
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("%v: two bills of one program differ", err)
	}
	var read bill
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(read.Serial) {
		t.Error(read.Serial)
	}
	if read.Metadata.Timestamp != "2026-11-21T22:00:01Z" || read.Metadata.Component.Version != "v1.2.3" {
		t.Errorf("%+v", read.Metadata)
	}
	a, table := read.Components[0], read.Components[1]
	if a.Package != "pkg:golang/example.com/a@v1.0.0%2Bincompatible" || len(a.Licences) != 2 || a.Properties[0].Value != "h1:x=" {
		t.Errorf("%+v", a)
	}
	if table.Type != "data" || table.Package != "" || !slices.Equal(read.Depends[0].On, []string{a.Ref, table.Ref}) {
		t.Errorf("%+v, %+v", table, read.Depends)
	}
}

func TestReleasesAreComparedByteForByte(t *testing.T) {
	f := func(want string, second map[string]string) {
		t.Helper()
		one, other := t.TempDir(), t.TempDir()
		for folder, files := range map[string]map[string]string{one: {"a": "1", "b": "2"}, other: second} {
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		err := compare(one, other)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	f("", map[string]string{"a": "1", "b": "2"})
	f("b differs", map[string]string{"a": "1", "b": "3"})
	f("other files", map[string]string{"a": "1"})
}

func TestSymbolsBelongToModules(t *testing.T) {
	got := sizesOf([]symbol{{"github.com/a/b.Run", 50}, {"github.com/a/b/c..dict", 7}, {"type:*github.com/a/b.T", 5},
		{"epitome/proxy.(*Proxy).Serve", 9}, {"main.main", 3}, {"net/http.Get", 11}, {"runtime.main", 13},
		{"runtime.pclntab", 90}, {"go:string.*", 90}, {"github.com/other/x.Y", 1}}, []string{"github.com/a", "github.com/a/b"})
	want := map[string]int64{"github.com/a/b": 50 + 7 + 5, ownModule: 12, standard: 24}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTargetsAreKnown(t *testing.T) {
	all, err := readTargets(allTargets)
	if err != nil || len(all) != 6 {
		t.Errorf("%v, %v", all, err)
	}
	for _, bad := range []string{"linux", "plan9/amd64", "", "amd64,darwin"} {
		if _, err := readTargets(bad); err == nil || !strings.Contains(err.Error(), "write some of linux/amd64") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
