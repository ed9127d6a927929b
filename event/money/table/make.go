//go:build ignore

// Make writes prices.txt, the built-in table of prices, from a release of genai-prices, and puts the licence of that
// beside it:
//
//	cd event/money/table && go run make.go
//
// The release is fetched as an npm package, so npm, node and tar are needed; the program itself needs none of them. For
// a newer one, change its version here and in sdk/testdata/prices. Nothing is corrected by hand: the
// test of that folder holds the table to the release.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	name    = "@pydantic/genai-prices"
	version = "0.1.8"
)

// provider is who sells models, with what the release says of it.
type provider struct {
	ID       string
	Match    json.RawMessage `json:"model_match"`
	Fallback []string        `json:"fallback_model_providers"`
	Models   []struct {
		ID     string
		Match  json.RawMessage
		Prices json.RawMessage
	}
}

// seller is a provider that the table has, and where it is reached: hosts, of which one with a dot in front stands for
// all below it.
type seller struct{ id, hosts string }

var sellers = []seller{
	{"anthropic", "api.anthropic.com"},
	{"openai", "api.openai.com"},
	{"google", ".googleapis.com"},
	{"deepseek", "api.deepseek.com"},
	{"x-ai", "api.x.ai"},
	{"mistral", "api.mistral.ai"},
	{"moonshotai", "api.moonshot.ai,api.moonshot.cn"},
	{"zhipuai", "open.bigmodel.cn"},
	{"zai", "api.z.ai"},
	{"minimax", "api.minimax.io,api.minimaxi.com,api.minimax.com"},
	{"cohere", "api.cohere.com,api.cohere.ai"},
	{"azure", ".openai.azure.com,.azure-api.net,.cognitiveservices.azure.com,.services.ai.azure.com"},
	{"groq", "api.groq.com"},
	{"cerebras", "api.cerebras.ai"},
	{"fireworks", "api.fireworks.ai"},
	{"openrouter", "openrouter.ai,api.openrouter.ai"},
}

// routed are the makers whose models the table has of a router; it sells seven hundred.
var routed = []string{
	"anthropic", "openai", "google", "deepseek", "x-ai", "mistralai", "moonshotai", "z-ai", "minimax", "qwen",
}

func main() {
	dir, err := os.MkdirTemp("", "prices")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	providers, date := fetch(dir)
	var out strings.Builder
	fmt.Fprintf(&out, "# Prices: genai-prices %s of %s, https://github.com/pydantic/genai-prices, MIT licence, see LICENSE.\n",
		version, date)
	fmt.Fprintf(&out, "# Written by make.go; change that, not this. Dollars for a million tokens, of a router a part of its models.\n")
	fmt.Fprintf(&out, "# @ provider hosts models others; provider model match input read write5m write1h output,"+
		" and at sizes and times.\n")
	for _, s := range sellers {
		p := providers[s.id]
		others := "-"
		if len(p.Fallback) > 0 {
			others = strings.Join(p.Fallback, ",")
		}
		fmt.Fprintf(&out, "@ %s %s %s %s\n", p.ID, s.hosts, match(p.Match), others)
	}
	for _, s := range sellers {
		add(&out, providers[s.id])
	}
	if err := os.WriteFile("prices.txt", []byte(out.String()), 0o644); err != nil {
		log.Fatal(err)
	}
	licence, err := os.ReadFile(filepath.Join(dir, "package/LICENSE"))
	if err == nil {
		err = os.WriteFile("LICENSE", licence, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// fetch unpacks the release in dir, and returns what it says of the sellers, and its day.
func fetch(dir string) (providers map[string]provider, date string) {
	run := func(name string, args ...string) []byte {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			log.Fatalf("cannot run %s: %v", name, err)
		}
		return out
	}
	pack := strings.Fields(string(run("npm", "pack", "--silent", name+"@"+version)))
	run("tar", "-xzf", pack[len(pack)-1])
	var times map[string]string
	if err := json.Unmarshal(run("npm", "view", "--silent", "--json", name, "time"), &times); err != nil {
		log.Fatalf("cannot read the days of the releases: %v", err)
	}
	var ids []string
	for _, s := range sellers {
		ids = append(ids, s.id)
	}
	list, _ := json.Marshal(ids)
	said := run("node", "--input-type=module", "-e", `
		import {findProvider} from "./package/dist/index.js"
		console.log(JSON.stringify(Object.fromEntries(`+string(list)+`.map(id => [id, findProvider({providerId: id})]))))`)
	if err := json.Unmarshal(said, &providers); err != nil {
		log.Fatalf("cannot read the release: %v", err)
	}
	return providers, times[version][:10]
}

// add appends the models of a provider, in their order: of several that fit a name, the first counts.
func add(out *strings.Builder, p provider) {
	for _, m := range p.Models {
		maker, _, _ := strings.Cut(m.ID, "/")
		if p.ID == "openrouter" && !slices.Contains(routed, maker) {
			continue
		}
		var list []condition
		if m.Prices[0] == '[' {
			list = parse[[]condition](m.Prices)
		} else {
			list = []condition{{Prices: parse[map[string]json.RawMessage](m.Prices)}}
		}
		for i, c := range list {
			fmt.Fprintf(out, "%s %s ", p.ID, m.ID)
			if i == 0 {
				fmt.Fprint(out, match(m.Match))
			} else {
				fmt.Fprint(out, "+") // another price of the model above
			}
			fmt.Fprintf(out, " %s%s\n", prices(c.Prices), c.when())
		}
	}
}

// condition is a price that holds from a day on, or at some hours of each.
type condition struct {
	Constraint *struct {
		Type  string
		Date  string `json:"start_date"`
		Start string `json:"start_time"`
		End   string `json:"end_time"`
	}
	Prices map[string]json.RawMessage
}

func (c condition) when() string {
	switch {
	case c.Constraint == nil:
		return ""
	case c.Constraint.Type == "start_date" && len(c.Constraint.Date) == len("2006-01-02"):
		return " from=" + c.Constraint.Date
	case c.Constraint.Type == "time_of_date":
		start, isWhole := strings.CutSuffix(c.Constraint.Start, ":00Z")
		end, isWholeToo := strings.CutSuffix(c.Constraint.End, ":00Z")
		if isWhole && isWholeToo {
			return " at=" + start + "-" + end
		}
	}
	log.Fatalf("a price holds at a time that is not known: %+v", *c.Constraint)
	return ""
}

// tiered is a price that is another one for large requests.
type tiered struct {
	Base  json.Number
	Tiers []tier
}

type tier struct {
	Start int
	Price json.Number
}

// at returns the price of a request above a size.
func (t tiered) at(size int) json.Number {
	price := t.Base
	slices.SortFunc(t.Tiers, func(a, b tier) int { return a.Start - b.Start })
	for _, above := range t.Tiers {
		if size >= above.Start {
			price = above.Price
		}
	}
	return price
}

// columns are the prices that the table has, in its order.
var columns = []string{"input_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok", "output_mtok"}

// prices writes the columns, and once more for each size from which on another price holds. A model whose words have no
// price, or have several, is one without.
func prices(of map[string]json.RawMessage) string {
	if of[columns[0]] == nil || of[columns[4]] == nil || of["output_reasoning_mtok"] != nil {
		return "- - - - -"
	}
	var starts []int
	for _, c := range columns {
		if raw := of[c]; raw != nil && raw[0] == '{' {
			for _, t := range parse[tiered](raw).Tiers {
				starts = append(starts, t.Start)
			}
		}
	}
	slices.Sort(starts)
	text := row(of, -1)
	for _, start := range slices.Compact(starts) {
		text += fmt.Sprintf(" >%d %s", start, row(of, start))
	}
	return text
}

// row writes the prices of requests above a size.
func row(of map[string]json.RawMessage, size int) string {
	var fields []string
	for _, c := range columns {
		field := "-"
		if raw := of[c]; raw != nil && raw[0] == '{' {
			field = parse[tiered](raw).at(size).String()
		} else if raw != nil {
			field = string(raw)
		}
		fields = append(fields, field)
	}
	return strings.Join(fields, " ")
}

// signs stand before the text of a clause: what a name has to do with it.
var signs = map[string]string{"equals": "=", "starts_with": "^", "ends_with": "$", "contains": "*", "regex": "~"}

// notSpeech is a clause of the release that Go's expressions cannot say as it stands.
const notSpeech = `^(?!.*-[tT][tT][sS](?:$|-))`

// notOfAnother is another, of what is a model's own name: what stands behind it.
const notOfAnother = `^(?![^/]+/)`

// match writes what names fit: clauses with commas between, of which one must hold, and with & between all of them.
func match(raw json.RawMessage) string {
	if raw == nil {
		return "-"
	}
	for kind, value := range parse[map[string]json.RawMessage](raw) {
		if kind == "or" || kind == "and" {
			var parts []string
			for _, clause := range parse[[]json.RawMessage](value) {
				parts = append(parts, match(clause))
			}
			if kind == "and" {
				return strings.Join(parts, "&")
			}
			return strings.Join(parts, ",")
		}
		return clause(kind, parse[string](value))
	}
	log.Fatalf("no clause: %s", raw)
	return ""
}

func clause(kind, text string) string {
	if text == notSpeech {
		return `!(?i)-tts(?:$|-)`
	}
	if kind == "regex" {
		text = strings.Replace(text, notOfAnother, "^", 1) // what follows begins with a name, and has no slash
		if _, err := regexp.Compile(text); err != nil {
			log.Fatalf("cannot say a clause: %v", err)
		}
	} else {
		text = strings.ToLower(text)
	}
	if strings.ContainsAny(text, ", &\t") || signs[kind] == "" {
		log.Fatalf("cannot write clause %s %q", kind, text)
	}
	return signs[kind] + text
}

func parse[T any](raw json.RawMessage) (v T) {
	if err := json.Unmarshal(raw, &v); err != nil {
		log.Fatalf("cannot read %s: %v", raw, err)
	}
	return v
}
