// Command tables writes the built-in table of prices from a release of genai-prices, and puts the licence of the release
// beside it. It is run in the root of the project:
//
//	go generate .
//
// The release is fetched as an npm package, so npm, node and tar are needed; epitome itself needs none of them. For a
// newer release, change its version here and in e2e/testdata/prices.
package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
)

const (
	release = "@pydantic/genai-prices"
	version = "0.1.8"
)

func main() {
	const folder = "event/money/table/"
	table, licence := readPrices()
	for name, text := range map[string][]byte{"prices.txt": table, "LICENSE": licence} {
		if err := os.WriteFile(folder+name, text, 0o644); err != nil { //nolint:gosec // source files are readable
			log.Fatalf("cannot write table: %v", err)
		}
	}
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
