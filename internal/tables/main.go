// Command tables writes the built-in tables of windows and prices from releases of catwalk and genai-prices, and puts
// the licence of each release beside its table. It is run in the root of the project:
//
//	go generate .
//
// The releases are fetched as a Go module and as an npm package, so npm, node and tar are needed; epitome itself needs
// none of them. For newer releases, change their versions here, the one of prices in sdk/testdata/prices as well.
package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	windowsRelease = "github.com/charmbracelet/catwalk@v0.6.4"
	pricesRelease  = "@pydantic/genai-prices"
	pricesVersion  = "0.1.8"
)

func main() {
	writeWindows("window/table")
	writePrices("event/money/table")
}

// writeTable writes a table and copies the licence of its release.
func writeTable(folder, name, table, licence string) {
	write(filepath.Join(folder, name), []byte(table))
	write(filepath.Join(folder, "LICENSE"), read(licence))
}

func write(file string, text []byte) {
	if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // source files are readable
		log.Fatalf("cannot write table: %v", err)
	}
}

func read(file string) []byte {
	text, err := os.ReadFile(file) //nolint:gosec // of a release
	if err != nil {
		log.Fatalf("cannot read release: %v", err)
	}
	return text
}

// run runs a command in a folder and returns its output.
func run(folder, name string, args ...string) []byte {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		log.Fatalf("cannot run %s: %v: %s", name, err, out)
	}
	return out
}

func parse[T any](raw []byte) (v T) {
	if err := json.Unmarshal(raw, &v); err != nil {
		log.Fatalf("cannot read %.300s: %v", raw, err)
	}
	return v
}
