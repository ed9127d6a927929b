//go:build ignore

// This program writes the built-in table of prices from a release of genai-prices, and puts the licence of the release
// beside it:
//
//	go generate ./event
//
// The release is fetched as an npm package, so npm, node and tar are needed; epitome itself needs none of them. For a
// newer release, change its version here and in e2e/testdata/prices.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	release = "@pydantic/genai-prices"
	version = "0.1.8"
	folder  = "prices/"
)

// hosts are those of each provider in the table; one with a dot in front stands for all below it.
var hosts = []struct{ provider, names string }{
	{"anthropic", "api.anthropic.com"},
	{"openai", "api.openai.com"},
	{"google", ".googleapis.com"},
	{"deepseek", "api.deepseek.com"},
	{"x-ai", "api.x.ai"},
	{"mistral", "api.mistral.ai"},
	{"moonshotai", "api.moonshot.ai api.moonshot.cn"},
	{"zhipuai", "open.bigmodel.cn"},
	{"zai", "api.z.ai"},
	{"minimax", "api.minimax.io api.minimaxi.com api.minimax.com"},
	{"cohere", "api.cohere.com api.cohere.ai"},
	{"azure", ".openai.azure.com .azure-api.net .cognitiveservices.azure.com .services.ai.azure.com"},
	{"groq", "api.groq.com"},
	{"cerebras", "api.cerebras.ai"},
	{"fireworks", "api.fireworks.ai"},
	{"openrouter", "openrouter.ai api.openrouter.ai"},
}

// routed are the makers whose models the table has of OpenRouter, which sells seven hundred.
var routed = []string{
	"anthropic", "openai", "google", "deepseek", "x-ai", "mistralai", "moonshotai", "z-ai", "minimax", "qwen",
}

// provider is a provider of the release, as far as it is needed. Package event describes the same JSON.
type provider struct {
	ID       string          `json:"id"`
	Hosts    []string        `json:"hosts"`
	Match    json.RawMessage `json:"model_match,omitempty"`
	Fallback []string        `json:"fallback_model_providers,omitempty"`
	Models   []model         `json:"models"`
}

type model struct {
	ID     string          `json:"id"`
	Match  json.RawMessage `json:"match"`
	Prices json.RawMessage `json:"prices"`
}

func main() {
	dir, err := os.MkdirTemp("", "prices")
	check(err)
	defer func() { _ = os.RemoveAll(dir) }()
	pack := strings.Fields(run(dir, "npm", "pack", "--silent", release+"@"+version))
	run(dir, "tar", "-xzf", pack[len(pack)-1])
	var days map[string]string
	check(json.Unmarshal([]byte(run(dir, "npm", "view", "--silent", "--json", release, "time")), &days))

	day, _, _ := strings.Cut(days[version], "T")
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(struct {
		About     string     `json:"about"`
		Source    string     `json:"source"`
		Date      string     `json:"date"`
		Providers []provider `json:"providers"`
	}{"Written by event/gen.go: change that, not this. Dollars for a million tokens. MIT licence, see LICENSE.",
		"genai-prices " + version, day + "T00:00:00Z", providers(dir)}))
	lines := bytes.ReplaceAll(out.Bytes(), []byte(`{"id":`), []byte("\n{\"id\":")) // so that a diff shows models
	check(os.WriteFile(folder+"prices.json", lines, 0o644))                        //nolint:gosec // a source file
	licence, err := os.ReadFile(filepath.Join(dir, "package/LICENSE"))
	check(err)
	check(os.WriteFile(folder+"LICENSE", licence, 0o644)) //nolint:gosec // a source file
}

// providers reads the providers of the release in dir.
func providers(dir string) (all []provider) {
	for _, h := range hosts {
		text := run(dir, "node", "--input-type=module", "-e", `import {findProvider} from "./package/dist/index.js"
			console.log(JSON.stringify(findProvider({providerId: "`+h.provider+`"})))`)
		var p provider
		check(json.Unmarshal([]byte(goExpressions.Replace(text)), &p))
		p.Hosts = strings.Fields(h.names)
		if p.ID == "openrouter" {
			p.Models = slices.DeleteFunc(p.Models, func(m model) bool {
				maker, _, _ := strings.Cut(m.ID, "/")
				return !slices.Contains(routed, maker)
			})
		}
		for i := range p.Models {
			if prices := &p.Models[i].Prices; (*prices)[0] == '{' { // one that holds at all times
				*prices = slices.Concat([]byte(`[{"prices":`), *prices, []byte("}]"))
			}
		}
		all = append(all, p)
	}
	return all
}

// goExpressions replaces the expressions of the release that Go cannot compile: not a model for speech, and a name
// without a maker, which has no slash anyway.
var goExpressions = strings.NewReplacer(
	`{"regex":"^(?!.*-[tT][tT][sS](?:$|-))"}`, `{"not":{"regex":"(?i)-tts(?:$|-)"}}`,
	`{"regex":"^(?![^/]+/)`, `{"regex":"^`)

// run runs a command in a folder and returns its output.
func run(folder, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	out, err := cmd.Output()
	check(err)
	return string(out)
}

// check ends the program if err is not nil.
func check(err error) {
	if err != nil {
		log.Fatalf("cannot write the table of prices: %v", err)
	}
}
