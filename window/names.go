package window

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The built-in tables: the models of providers, which internal/tables writes, and families of models by their names.
//
//go:embed table/windows.txt
var windowsText string

//go:embed table/families.txt
var familiesText string

// builtIn finds the models of a provider by its name and theirs, and those of all makers and hosts.
var builtIn = sync.OnceValue(readTable)

// table has models by provider and name, with a blank between.
type table map[string]entry

type entry struct {
	tokens int
	degree int // of the name, by which the model is found here
}

// The makers of models, with those who sell them under a contract with the maker, and all others.
const maker, host = "*maker", "*host"

var makers = [...]string{"anthropic", "azure", "bedrock", "deepseek", "gemini", "openai", "vertexai", "xai", "zai"}

// readTable reads the table of windows.
//
// Providers list one model with different windows, and too large a belief ends in a refusal, too small a one in
// compaction that was not needed. A maker's own entry is a promise: of several, the smallest holds. A host only ever
// cuts what the model has: of several, the largest holds, because whoever cuts says so in a refusal, which can be
// answered and learned from, whereas a compaction that was not needed tells nobody.
func readTable() table {
	t := table{}
	for line := range strings.Lines(windowsText) {
		var provider, model string
		var tokens int
		if n, _ := fmt.Sscan(line, &provider, &model, &tokens); n < 3 {
			continue // a comment
		}
		names := namesOf(model)
		t.add(provider, names, tokens, true)
		if slices.Contains(makers[:], provider) {
			t.add(maker, names, tokens, true)
		} else {
			t.add(host, names, tokens, false)
		}
	}
	return t
}

// add puts a model under each of its names, unless another has it as a more exact one. Of several that have it alike,
// the smaller or the larger window holds.
func (t table) add(provider string, names [3]string, tokens int, smaller bool) {
	for degree, name := range names {
		if degree > 0 && name == names[degree-1] {
			continue
		}
		old, ok := t[provider+" "+name]
		if !ok || degree < old.degree || degree == old.degree && (tokens < old.tokens) == smaller {
			t[provider+" "+name] = entry{tokens, degree}
		}
	}
}

// find asks the provider that the upstream is called by, then those who made the model, then all others. A model's own
// entry goes before one with another variant or date.
func (t table) find(upstream string, names [3]string) (tokens int, ok bool) {
	for _, provider := range []string{upstream, maker, host} {
		for _, name := range names {
			if e, ok := t[provider+" "+name]; ok {
				return e.tokens, true
			}
		}
	}
	return 0, false
}

// families are patterns of names without variant and date, the first that fits holds.
var families = sync.OnceValue(func() (all rules) {
	for line := range strings.Lines(familiesText) {
		number, patterns, _ := strings.Cut(line, " ")
		tokens, err := strconv.Atoi(number)
		if err != nil {
			continue // a comment
		}
		for pattern := range strings.FieldsSeq(patterns) {
			all = append(all, rule{pattern, tokens})
		}
	}
	return all
})

var (
	joint   = regexp.MustCompile(`([0-9])[._p]([0-9])`)
	variant = regexp.MustCompile(`(-v[0-9]+:[0-9]+(:.*)?|[:@].*)$`)
	date    = regexp.MustCompile(`-(20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2}|latest)$`)
	prefix  = regexp.MustCompile(`^(?:.*/)?(?:(?:openai|anthropic|google):|databricks-)?(?:[^.0-9:@]*\.)*`)
)

// namesOf is how a model is called, from the most exact name on: with variant and date; without the variant (":free",
// "@default", Bedrock's "-v1:0"); without the date either, or the "latest" in its place. Neither case, nor provider, nor
// how the numbers of a version are joined (4.1, 4-1, 4p1) is in any of them. Nor is a region and a maker, each with a dot
// behind, as Bedrock spells them.
func namesOf(model string) [3]string {
	model = strings.ToLower(model)
	if tuned, ok := strings.CutPrefix(model, "ft:"); ok {
		model, _, _ = strings.Cut(tuned, ":")
	}
	before := prefix.FindString(model)
	if model = model[len(before):]; strings.HasSuffix(before, "deepseek.") { // whose models are called v3 and r1 behind it
		model = "deepseek-" + model
	}
	full := joint.ReplaceAllString(model, "$1-$2")
	plain := variant.ReplaceAllString(full, "")
	return [3]string{full, plain, date.ReplaceAllString(plain, "")}
}
