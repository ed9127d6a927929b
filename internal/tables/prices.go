package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// seller is a provider in the table and its hosts; a host with a dot in front stands for all below it.
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

// routed are the makers whose models the table has of OpenRouter, which sells seven hundred.
var routed = []string{
	"anthropic", "openai", "google", "deepseek", "x-ai", "mistralai", "moonshotai", "z-ai", "minimax", "qwen",
}

// pricesProvider is a provider of genai-prices, as far as it is needed.
type pricesProvider struct {
	ID       string
	Match    json.RawMessage `json:"model_match"`
	Fallback []string        `json:"fallback_model_providers"`
	Models   []struct {
		ID     string
		Match  json.RawMessage
		Prices json.RawMessage
	}
}

// condition is a price that holds from a day on, or at some hours of each day.
type condition struct {
	Constraint *struct {
		Type  string
		Date  string `json:"start_date"`
		Start string `json:"start_time"`
		End   string `json:"end_time"`
	}
	Prices map[string]json.RawMessage
}

// tiered is a price that is another one for requests from a size on.
type tiered struct {
	Base  json.Number
	Tiers []struct {
		Start int
		Price json.Number
	}
}

// readPrices returns the table and the licence of the release.
func readPrices() (table, licence []byte) {
	dir, err := os.MkdirTemp("", "prices")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	providers, date := fetchPrices(dir)
	var out strings.Builder
	fmt.Fprintf(&out, "# Prices: genai-prices %s of %s, https://github.com/pydantic/genai-prices, MIT licence, see LICENSE.\n",
		version, date)
	fmt.Fprintf(&out, "# Written by internal/tables; change that, not this. Dollars for a million tokens, of a router"+
		" a part of its models.\n")
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
		addPrices(&out, providers[s.id])
	}
	licence, err = os.ReadFile(filepath.Join(dir, "package/LICENSE"))
	if err != nil {
		log.Fatalf("cannot read licence: %v", err)
	}
	return []byte(out.String()), licence
}

// fetchPrices unpacks the release in dir, and returns its providers and its day.
func fetchPrices(dir string) (providers map[string]pricesProvider, date string) {
	pack := strings.Fields(string(run(dir, "npm", "pack", "--silent", release+"@"+version)))
	run(dir, "tar", "-xzf", pack[len(pack)-1])
	times := parse[map[string]string](run(dir, "npm", "view", "--silent", "--json", release, "time"))
	var ids []string
	for _, s := range sellers {
		ids = append(ids, s.id)
	}
	list, _ := json.Marshal(ids)
	return parse[map[string]pricesProvider](run(dir, "node", "--input-type=module", "-e", `
		import {findProvider} from "./package/dist/index.js"
		const all = `+string(list)+`.map(id => [id, findProvider({providerId: id})])
		console.log(JSON.stringify(Object.fromEntries(all)))`)), times[version][:len("2006-01-02")]
}

// addPrices appends the models of a provider, in their order: of several that fit a name, the first counts.
func addPrices(out *strings.Builder, p pricesProvider) {
	for _, m := range p.Models {
		maker, _, _ := strings.Cut(m.ID, "/")
		if p.ID == "openrouter" && !slices.Contains(routed, maker) {
			continue
		}
		var conditions []condition
		if m.Prices[0] == '[' {
			conditions = parse[[]condition](m.Prices)
		} else {
			conditions = []condition{{Prices: parse[map[string]json.RawMessage](m.Prices)}}
		}
		names := match(m.Match)
		for _, c := range conditions {
			fmt.Fprintf(out, "%s %s %s %s%s\n", p.ID, m.ID, names, prices(c.Prices), when(c))
			names = "+" // another price of the model above
		}
	}
}

// when writes the time at which a price holds.
func when(c condition) string {
	at := c.Constraint
	switch {
	case at == nil:
		return ""
	case at.Type == "start_date" && len(at.Date) == len("2006-01-02"):
		return " from=" + at.Date
	case at.Type == "time_of_date" && strings.HasSuffix(at.Start, ":00Z") && strings.HasSuffix(at.End, ":00Z"):
		return " at=" + strings.TrimSuffix(at.Start, ":00Z") + "-" + strings.TrimSuffix(at.End, ":00Z")
	}
	log.Fatalf("cannot write the time of a price: %+v", *at)
	return ""
}

// columns are the prices in the table, in its order.
var columns = []string{"input_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok", "output_mtok"}

// prices writes the columns, and again for each size from which on another price holds. A model that has no price for
// text, or several, is written without one.
func prices(of map[string]json.RawMessage) string {
	if of[columns[0]] == nil || of[columns[4]] == nil || of["output_reasoning_mtok"] != nil {
		return "- - - - -"
	}
	starts := []int{-1}
	for _, c := range columns {
		if raw := of[c]; raw != nil && raw[0] == '{' {
			for _, t := range parse[tiered](raw).Tiers {
				starts = append(starts, t.Start)
			}
		}
	}
	slices.Sort(starts)
	var fields []string
	for _, start := range slices.Compact(starts) {
		if start >= 0 {
			fields = append(fields, fmt.Sprintf(">%d", start))
		}
		for _, c := range columns {
			fields = append(fields, priceAt(of[c], start))
		}
	}
	return strings.Join(fields, " ")
}

// priceAt writes the price of requests of a size; "-" is none.
func priceAt(raw json.RawMessage, size int) string {
	switch {
	case raw == nil:
		return "-"
	case raw[0] != '{':
		return string(raw)
	}
	t := parse[tiered](raw)
	price, from := t.Base, -1
	for _, tier := range t.Tiers {
		if size >= tier.Start && tier.Start > from {
			price, from = tier.Price, tier.Start
		}
	}
	return price.String()
}

// match writes what names fit: clauses with commas between, of which one must hold, or with & between all of them.
func match(raw json.RawMessage) string {
	if raw == nil {
		return "-"
	}
	for kind, value := range parse[map[string]json.RawMessage](raw) {
		separator := map[string]string{"or": ",", "and": "&"}[kind]
		if separator == "" {
			return clause(kind, parse[string](value))
		}
		var parts []string
		for _, c := range parse[[]json.RawMessage](value) {
			parts = append(parts, match(c))
		}
		return strings.Join(parts, separator)
	}
	log.Fatalf("cannot write clause %s", raw)
	return ""
}

// signs stand before the text of a clause: what a name has to do with it.
var signs = map[string]string{"equals": "=", "starts_with": "^", "ends_with": "$", "contains": "*", "regex": "~"}

// The clauses of the release that Go's expressions cannot say: not a model for speech, and a name without a maker.
const (
	notSpeech = `^(?!.*-[tT][tT][sS](?:$|-))`
	notMaker  = `^(?![^/]+/)`
)

func clause(kind, text string) string {
	if text == notSpeech {
		return `!(?i)-tts(?:$|-)`
	}
	if kind == "regex" {
		text = strings.Replace(text, notMaker, "^", 1) // what follows begins with a name, and has no slash
		if _, err := regexp.Compile(text); err != nil {
			log.Fatalf("cannot write clause %q: %v", text, err)
		}
	} else {
		text = strings.ToLower(text)
	}
	if strings.ContainsAny(text, ", &\t") || signs[kind] == "" {
		log.Fatalf("cannot write clause %s %q", kind, text)
	}
	return signs[kind] + text
}
