package main

import (
	"fmt"
	"log"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// windowsProvider is a file of catwalk, as far as it is needed.
type windowsProvider struct {
	ID     string
	Models []struct {
		ID            string
		ContextWindow int `json:"context_window"`
	}
}

// correction lowers what the release says of models.
type correction struct {
	providers string // pattern of path.Match
	models    string // pattern of path.Match, in lower case and without what stands before the last slash
	tokens    int    // at most
}

// corrections are for entries known to be wrong, each with its source.
var corrections = []correction{
	// OpenAI's models of 400,000 tokens refuse requests of more than 272,000: cline issue 5474, models.dev
	// (limit.input).
	{"*", "gpt-5*", 272_000},
	// The first Kimi K2 has 131,072; 262,144 came with 0905: models.dev, moonshotai.
	{"openrouter", "kimi-k2", 131_072},
	// No host gives Llama 4 Scout more: models.dev.
	{"openrouter", "llama-4-scout", 327_680},
}

func writeWindows(folder string) {
	module := parse[struct{ Dir, Info string }](run("", "go", "mod", "download", "-json", windowsRelease))
	info := parse[struct{ Time time.Time }](read(module.Info))
	var out strings.Builder
	fmt.Fprintf(&out, "# Windows of models: provider, model, tokens. Written by internal/tables; change that, not this.\n")
	fmt.Fprintf(&out, "# Source: %s, %s, with the corrections in internal/tables.\n",
		windowsRelease, info.Time.Format(time.DateOnly))
	fmt.Fprintf(&out, "# Copyright (c) 2025 Charmbracelet, Inc., MIT licence, see LICENSE beside this file.\n")
	files, err := filepath.Glob(filepath.Join(module.Dir, "internal/providers/configs/*.json"))
	if err != nil || len(files) == 0 {
		log.Fatalf("cannot find providers in %s: %v", module.Dir, err)
	}
	for _, file := range files {
		addWindows(&out, parse[windowsProvider](read(file)))
	}
	writeTable(folder, "windows.txt", out.String(), filepath.Join(module.Dir, "LICENSE"))
}

// addWindows appends the models of a provider, in their order. A router's models at several hosts, "MODEL:HOST",
// become one model with the largest window of them.
func addWindows(out *strings.Builder, p windowsProvider) {
	var order []string
	largest := map[string]int{}
	for _, m := range p.Models {
		id := m.ID
		if p.ID == "huggingface" {
			id, _, _ = strings.Cut(id, ":")
		}
		if strings.ContainsAny(id, " \t") || m.ContextWindow < 1024 {
			log.Fatalf("cannot write model %q of %s with %d tokens", id, p.ID, m.ContextWindow)
		}
		if largest[id] == 0 {
			order = append(order, id)
		}
		largest[id] = max(largest[id], correct(p.ID, id, m.ContextWindow))
	}
	for _, id := range order {
		fmt.Fprintf(out, "%s %s %d\n", p.ID, id, largest[id])
	}
}

// correct returns the window of a model, lowered by the corrections that fit.
func correct(provider, model string, tokens int) int {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, c := range corrections {
		provided, _ := path.Match(c.providers, provider)
		named, _ := path.Match(c.models, model)
		if provided && named {
			tokens = min(tokens, c.tokens)
		}
	}
	return tokens
}
