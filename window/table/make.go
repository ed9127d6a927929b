//go:build ignore

// Make writes windows.txt, the built-in table of windows, from the providers' files in a release of catwalk, and puts
// the licence of these files beside it:
//
//	cd window/table && go run make.go
//
// The release is fetched as a Go module; the program itself does not depend on it. For a newer one, change its version
// here, and look at what the corrections say.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const release = "github.com/charmbracelet/catwalk@v0.6.4"

// corrections lower entries known to be wrong, each with who says so. Providers and models are patterns of path.Match,
// models in lower case and without what stands before the last slash.
var corrections = []struct {
	provider, model string
	most            int // tokens
}{
	// OpenAI's models of 400,000 tokens refuse requests of more than 272,000: cline issue 5474, models.dev
	// (limit.input).
	{"*", "gpt-5*", 272_000},
	// The first Kimi K2 has 131,072; 262,144 came with 0905: models.dev, moonshotai.
	{"openrouter", "kimi-k2", 131_072},
	// No host gives Llama 4 Scout more: models.dev.
	{"openrouter", "llama-4-scout", 327_680},
}

func main() {
	var module struct{ Dir, Info string }
	download, err := exec.Command("go", "mod", "download", "-json", release).Output()
	check(err)
	check(json.Unmarshal(download, &module))
	var about struct{ Time time.Time }
	read(module.Info, &about)

	var out strings.Builder
	fmt.Fprintf(&out, "# Windows of models: provider, model, tokens. Written by make.go; change that, not this.\n")
	fmt.Fprintf(&out, "# Source: %s, %s, with the corrections in make.go.\n", release, about.Time.Format(time.DateOnly))
	fmt.Fprintf(&out, "# Copyright (c) 2025 Charmbracelet, Inc., MIT licence, see LICENSE beside this file.\n")
	files, err := filepath.Glob(filepath.Join(module.Dir, "internal/providers/configs/*.json"))
	check(err)
	for _, file := range files {
		add(&out, file)
	}
	licence, err := os.ReadFile(filepath.Join(module.Dir, "LICENSE"))
	check(err)
	check(os.WriteFile("LICENSE", licence, 0o644))
	check(os.WriteFile("windows.txt", []byte(out.String()), 0o644))
}

// add appends the models of one provider, in their order. A router's models at several hosts, "MODEL:HOST", become one
// model with the largest window of them.
func add(out *strings.Builder, file string) {
	var provider struct {
		ID     string
		Models []struct {
			ID            string
			ContextWindow int `json:"context_window"`
		}
	}
	read(file, &provider)
	var order []string
	largest := map[string]int{}
	for _, m := range provider.Models {
		id, tokens := m.ID, m.ContextWindow
		if provider.ID == "huggingface" {
			id, _, _ = strings.Cut(id, ":")
		}
		if strings.ContainsAny(id, " \t") || tokens < 1024 {
			log.Fatalf("%s: model %q with %d tokens is no entry", file, id, tokens)
		}
		for _, c := range corrections {
			atProvider, _ := path.Match(c.provider, provider.ID)
			ofModel, _ := path.Match(c.model, strings.ToLower(path.Base(id)))
			if atProvider && ofModel {
				tokens = min(tokens, c.most)
			}
		}
		if largest[id] == 0 {
			order = append(order, id)
		}
		largest[id] = max(largest[id], tokens)
	}
	for _, id := range order {
		fmt.Fprintf(out, "%s %s %d\n", provider.ID, id, largest[id])
	}
}

func read(file string, v any) {
	text, err := os.ReadFile(file)
	check(err)
	check(json.Unmarshal(text, v))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
