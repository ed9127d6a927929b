package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// printSizes writes what each module has in the program for linux/amd64: bytes of its code and variables, and of the
// files that it embeds. The tables that Go makes for all of them stand apart.
func (c *checkout) printSizes(to io.Writer) error {
	of := target{"linux", "amd64"}
	lean, err := c.build(of, stripped)
	if err != nil {
		return err
	}
	info, err := os.Stat(lean.file)
	if err != nil {
		return err
	}
	full, err := c.build(of, "")
	if err != nil {
		return err
	}
	var modules []string
	for _, m := range full.module.Deps {
		modules = append(modules, m.Path)
	}
	symbols, err := symbolsIn(full.file)
	if err != nil {
		return err
	}
	embedded, err := c.embedded(of)
	if err != nil {
		return err
	}
	sizes := sizesOf(append(symbols, embedded...), modules)
	rest := info.Size()
	fmt.Fprintf(to, "%s, stripped: %d bytes\n\n| KB | what |\n|---|---|\n", of, info.Size())
	for _, name := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	}) {
		rest -= sizes[name]
		fmt.Fprintf(to, "| %d | %s |\n", sizes[name]/1000, name)
	}
	_, err = fmt.Fprintf(to, "| %d | tables of functions and types, texts in the code, what belongs to no package |\n", rest/1000)
	return err
}

// symbol is something in a program that has a name and a size.
type symbol struct {
	name string // it begins with the package's path
	size int64
}

// symbolsIn are those that take room in the file.
func symbolsIn(program string) (all []symbol, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	listed, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	for _, s := range listed {
		if at := int(s.Section); at < len(f.Sections) && f.Sections[at].Type != elf.SHT_NOBITS {
			all = append(all, symbol{s.Name, int64(s.Size)})
		}
	}
	return all, nil
}

// embedded are the files that packages hold, which have no symbol.
func (c *checkout) embedded(of target) (all []symbol, err error) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{range .EmbedFiles}}{{$.ImportPath}}\t{{$.Dir}}\t{{.}}\n{{end}}", ".")
	cmd.Env = c.environ(of)
	text, err := printed(cmd, c.source())
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 3 {
			continue
		}
		info, err := os.Stat(filepath.Join(f[1], f[2]))
		if err != nil {
			return nil, err
		}
		all = append(all, symbol{f[0] + "." + f[2], info.Size()})
	}
	return all, nil
}

// ownModule and standard are what symbols of this project and of the standard library are counted under.
const (
	ownModule = "epitome itself, with the tables and pages that it embeds"
	standard  = "Go's standard library and runtime"
)

// sizesOf adds up symbols by module.
func sizesOf(symbols []symbol, modules []string) map[string]int64 {
	sizes := map[string]int64{}
	for _, s := range symbols {
		if module := moduleOf(s.name, modules); module != "" {
			sizes[module] += s.size
		}
	}
	return sizes
}

// moduleOf is whose symbol a name is; empty if that does not show.
func moduleOf(symbol string, modules []string) string {
	name := strings.TrimLeft(strings.TrimPrefix(symbol, "type:"), ".*[]")
	name = strings.ReplaceAll(name, "%2e", ".")
	longest := ""
	for _, m := range modules {
		if (strings.HasPrefix(name, m+"/") || strings.HasPrefix(name, m+".")) && len(m) > len(longest) {
			longest = m
		}
	}
	first, _, within := strings.Cut(name, "/")
	switch {
	case longest != "":
		return longest
	case strings.HasPrefix(name, "epitome/"), strings.HasPrefix(name, "epitome."), strings.HasPrefix(name, "main."):
		return ownModule
	case strings.HasPrefix(symbol, "go:"), strings.HasPrefix(symbol, "type:"), strings.HasPrefix(name, "runtime.pclntab"):
		return ""
	case !within, !strings.Contains(first, "."):
		return standard
	}
	return ""
}
