// Release makes what users install: for each system an archive with the program, a bill of materials, and the checksums
// of all. It is no part of the program.
//
//	go run ./command/release                   all of it, in dist
//	go run ./command/release -targets linux/amd64,windows/arm64
//	go run ./command/release root              what a container has, unpacked in dist/root
//	go run ./command/release twice             the same commit built twice without a cache, and compared
//	go run ./command/release sizes             what each module adds to the program
//
// It promises that equal commits make equal bytes, with the same release of Go: it builds a clone of the commit that is
// checked out, and neither the folder, the day nor the machine stands in what comes of it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// allTargets are the systems that epitome is built for.
const allTargets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	flags := flag.NewFlagSet("release", flag.ExitOnError)
	out := flags.String("out", "dist", "folder to write to")
	list := flags.String("targets", allTargets, "systems to build for, as OS/ARCH, separated by commas")
	task := "archives"
	args := os.Args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		task, args = args[0], args[1:]
	}
	_ = flags.Parse(args) // it ends the program itself
	targets, err := readTargets(*list)
	if err == nil {
		err = perform(task, *out, targets)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release: "+err.Error())
		os.Exit(1)
	}
}

// perform does what was asked for.
func perform(task, out string, targets []target) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	commit, err := head()
	if err != nil {
		return err
	}
	if task == "twice" {
		return buildTwice(commit, targets)
	}
	c, err := newCheckout("epitome-release-", commit)
	if err != nil {
		return err
	}
	defer c.remove()
	switch task {
	case "archives":
		return c.writeRelease(out, targets)
	case "root":
		return c.writeRoot(filepath.Join(out, "root"))
	case "sizes":
		return c.printSizes(os.Stdout)
	}
	return errors.New("cannot do " + task + ": write root, twice, sizes, or nothing for the archives")
}
