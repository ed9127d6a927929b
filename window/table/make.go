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

// provider is a file of the release, as far as it is needed.
type provider struct {
	ID     string
	Models []struct {
		ID            string
		ContextWindow int `json:"context_window"`
	}
}

// correction lowers what the release says of models.
type correction struct {
	providers string // pattern of path.Match
	models    string // the same, in lower case and without what stands before the last slash
	tokens    int    // at most
}

// corrections are entries known to be wrong, each with who says so.
var corrections = []correction{
	// OpenAI's models of 400,000 tokens refuse requests of more than 272,000: cline issue 5474, models.dev
	// (limit.input).
	{"*", "gpt-5*", 272_000},
	// The first Kimi K2 has 131,072; 262,144 came with 0905: models.dev, moonshotai.
	{"openrouter", "kimi-k2", 131_072},
	// No host gives Llama 4 Scout more: models.dev.
	{"openrouter", "llama-4-scout", 327_680},
}

func main() {
	folder, date, err := fetch()
	if err != nil {
		log.Fatalf("cannot fetch %s: %v", release, err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# Windows of models: provider, model, tokens. Written by make.go; change that, not this.\n")
	fmt.Fprintf(&out, "# Source: %s, %s, with the corrections in make.go.\n", release, date)
	fmt.Fprintf(&out, "# Copyright (c) 2025 Charmbracelet, Inc., MIT licence, see LICENSE beside this file.\n")
	files, err := filepath.Glob(filepath.Join(folder, "internal/providers/configs/*.json"))
	if err != nil || len(files) == 0 {
		log.Fatalf("cannot find the providers of %s in %s: %v", release, folder, err)
	}
	for _, file := range files {
		if err := add(&out, file); err != nil {
			log.Fatalf("cannot read provider %s: %v", file, err)
		}
	}
	licence, err := os.ReadFile(filepath.Join(folder, "LICENSE"))
	if err != nil {
		log.Fatalf("cannot read licence: %v", err)
	}
	write("LICENSE", licence)
	write("windows.txt", []byte(out.String()))
}

// fetch is the folder in which the Go command keeps the release, and the day of the release.
func fetch() (folder, date string, err error) {
	answer, err := exec.Command("go", "mod", "download", "-json", release).Output()
	var module struct{ Dir, Info, Error string }
	if jsonErr := json.Unmarshal(answer, &module); jsonErr != nil {
		return "", "", fmt.Errorf("%w: %s", err, answer)
	}
	if module.Error != "" {
		return "", "", fmt.Errorf("the Go command says: %s", module.Error)
	}
	text, err := os.ReadFile(module.Info)
	if err != nil {
		return "", "", err
	}
	var about struct{ Time time.Time }
	err = json.Unmarshal(text, &about)
	return module.Dir, about.Time.Format(time.DateOnly), err
}

// add appends the models of one provider, in their order. A router's models at several hosts, "MODEL:HOST", become one
// model with the largest window of them.
func add(out *strings.Builder, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var p provider
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	var order []string
	largest := map[string]int{}
	for _, m := range p.Models {
		id := m.ID
		if p.ID == "huggingface" {
			id, _, _ = strings.Cut(id, ":")
		}
		if strings.ContainsAny(id, " \t") || m.ContextWindow < 1024 {
			return fmt.Errorf("model %q with %d tokens is no entry", id, m.ContextWindow)
		}
		if largest[id] == 0 {
			order = append(order, id)
		}
		largest[id] = max(largest[id], corrected(p.ID, id, m.ContextWindow))
	}
	for _, id := range order {
		fmt.Fprintf(out, "%s %s %d\n", p.ID, id, largest[id])
	}
	return nil
}

func corrected(provider, model string, tokens int) int {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, c := range corrections {
		atProvider, _ := path.Match(c.providers, provider)
		ofModel, _ := path.Match(c.models, model)
		if atProvider && ofModel {
			tokens = min(tokens, c.tokens)
		}
	}
	return tokens
}

func write(name string, text []byte) {
	if err := os.WriteFile(name, text, 0o644); err != nil {
		log.Fatalf("cannot write %s: %v", name, err)
	}
}
