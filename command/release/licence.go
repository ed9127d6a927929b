package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is something that a program is made of and that is not this project's.
type part struct {
	path, version, sum string
	table              bool     // data, no module
	licences           []string // by the names of SPDX; empty if none is known
	texts              []notice
}

// notice is a file with a licence, or with what one wants told.
type notice struct{ name, text string }

// parts are the modules of a build, the standard library, and the tables that come from elsewhere.
func (c *checkout) parts(b build) ([]part, error) {
	root, err := output(c.source(), "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	folders, err := c.folders(b)
	if err != nil {
		return nil, err
	}
	all := []part{
		{path: "std", version: b.module.GoVersion},
		{path: "event/money/table", version: b.version(), table: true},
		{path: "window/table", version: b.version(), table: true},
	}
	where := []string{root, filepath.Join(c.source(), "event", "money", "table"), filepath.Join(c.source(), "window", "table")}
	for _, m := range b.module.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("cannot release a program with the module %s replaced: take that out of go.mod", m.Path)
		}
		all = append(all, part{path: m.Path, version: m.Version, sum: m.Sum})
		where = append(where, folders[m.Path])
	}
	for i := range all {
		if err := all[i].read(where[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// folders are where the modules of a build lie in the module cache.
func (c *checkout) folders(b build) (map[string]string, error) {
	args := []string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, m := range b.module.Deps {
		args = append(args, m.Path)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = c.environ(b.target)
	text, err := printed(cmd, c.source())
	if err != nil {
		return nil, err
	}
	folders := map[string]string{}
	for line := range strings.Lines(text) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		folders[path] = folder
	}
	return folders, nil
}

// noticeFile is how files are called that have to come with a program.
var noticeFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([._-].*)?$`)

// read finds licences in the part's folder. One without any cannot be handed on.
func (p *part) read(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("cannot find the licence of %s: %w", p.path, err)
	}
	for _, e := range entries {
		if e.IsDir() || !noticeFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		p.texts = append(p.texts, notice{e.Name(), string(text)})
		p.licences = append(p.licences, licencesIn(string(text))...)
	}
	if len(p.texts) == 0 {
		return fmt.Errorf("cannot release a program with %s: no licence lies in %s", p.path, folder)
	}
	slices.Sort(p.licences)
	p.licences = slices.Compact(p.licences)
	return nil
}

// licencesIn are the licences whose words stand in a text.
func licencesIn(text string) (ids []string) {
	words := strings.Join(strings.Fields(text), " ")
	has := func(s string) bool { return strings.Contains(words, s) }
	if has("Apache License") && has("Version 2.0") {
		ids = append(ids, "Apache-2.0")
	}
	if has("Mozilla Public License") && has("2.0") {
		ids = append(ids, "MPL-2.0")
	}
	if has("Permission is hereby granted, free of charge, to any person obtaining a copy") {
		ids = append(ids, "MIT")
	}
	if has("Redistribution and use in source and binary forms") {
		if has("Neither the name") || has("names of its contributors may") {
			ids = append(ids, "BSD-3-Clause")
		} else {
			ids = append(ids, "BSD-2-Clause")
		}
	}
	return ids
}

// notices is the file with all licences but the project's own.
func notices(parts []part) []byte {
	var b bytes.Buffer
	b.WriteString("epitome is made of these parts besides its own code. Their licences follow.\n\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "  %s %s: %s\n", p.path, p.version, strings.Join(p.licences, ", "))
	}
	for _, p := range parts {
		for _, n := range p.texts {
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n%s\n\n%s\n", strings.Repeat("=", 80), p.path, p.version, n.name,
				strings.Repeat("=", 80), strings.TrimRight(n.text, "\n"))
		}
	}
	return b.Bytes()
}
