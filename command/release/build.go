package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// target is a system to build for, in the words of GOOS and GOARCH.
type target struct{ system, machine string }

func (t target) String() string { return t.system + "_" + t.machine }

// exe is the program's file name.
func (t target) exe() string {
	if t.system == "windows" {
		return "epitome.exe"
	}
	return "epitome"
}

// host is the system that this runs on.
func host() target { return target{runtime.GOOS, runtime.GOARCH} }

func readTargets(list string) (all []target, err error) {
	for text := range strings.SplitSeq(list, ",") {
		system, machine, ok := strings.Cut(text, "/")
		if !ok || !strings.Contains(","+allTargets+",", ","+text+",") {
			return nil, fmt.Errorf("cannot build for %q: write some of %s", text, allTargets)
		}
		all = append(all, target{system, machine})
	}
	return all, nil
}

// build is a program that was built.
type build struct {
	target
	file   string
	module *debug.BuildInfo // what it is made of
}

// version is the tag of the commit, or the version by which Go calls a commit without one.
func (b build) version() string { return b.module.Main.Version }

// name is what files of the build are called.
func (b build) name() string { return "epitome_" + b.version() + "_" + b.String() }

// stripped are the flags of a release: no tables for debuggers.
const stripped = "-s -w"

// build builds the program.
func (c *checkout) build(t target, ldflags string) (build, error) {
	file := filepath.Join(c.folder, "bin", t.String(), t.exe())
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags="+ldflags, "-o", file, ".")
	cmd.Env = c.environ(t)
	if _, err := printed(cmd, c.source()); err != nil {
		return build{}, fmt.Errorf("cannot build for %s: %w", t, err)
	}
	module, err := buildinfo.ReadFile(file)
	if err != nil {
		return build{}, fmt.Errorf("cannot read what %s is made of: %w", file, err)
	}
	return build{target: t, file: file, module: module}, nil
}

// writeRelease writes all that belongs to a release into the folder, which must be new or hold a release.
func (c *checkout) writeRelease(out string, targets []target) error {
	if err := clear(out); err != nil {
		return err
	}
	own, err := c.build(host(), stripped)
	if err != nil {
		return err
	}
	beside := map[string][]byte{}
	if beside["LICENSE"], err = os.ReadFile(filepath.Join(c.source(), "LICENSE")); err != nil {
		return err
	}
	for _, t := range targets {
		b := own
		if t != host() {
			if b, err = c.build(t, stripped); err != nil {
				return err
			}
		}
		if err := c.pack(out, b, beside); err != nil {
			return err
		}
	}
	return writeSums(out)
}

// clear makes the folder, and takes files of an earlier release out of it.
func clear(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(out, "epitome_*"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// pack writes archive and bill of one build.
func (c *checkout) pack(out string, b build, beside map[string][]byte) error {
	parts, err := c.parts(b)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(b.file)
	if err != nil {
		return err
	}
	files := []file{{name: b.exe(), text: program, runs: true}, {name: "LICENSES.txt", text: notices(parts)}}
	for name, text := range beside {
		files = append(files, file{name: name, text: text})
	}
	bill, err := writeBill(b, program, parts, c.date)
	if err != nil {
		return err
	}
	archive, err := archived(b, files, c.date)
	if err != nil {
		return err
	}
	end := ".tar.gz"
	if b.system == "windows" {
		end = ".zip"
	}
	fmt.Printf("%-14s %5.1f MB, archive %4.1f MB, %d modules\n", b, float64(len(program))/1e6, float64(len(archive))/1e6, len(parts))
	if err := os.WriteFile(filepath.Join(out, b.name()+".cdx.json"), bill, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, b.name()+end), archive, 0o644)
}
