package window

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// rows is the built-in table, a line "provider model tokens" for each entry; "make windows" writes it.
//
//go:embed table/windows.txt
var rows string

// table finds entries by the name of a model, and those of one provider by its name too.
type table struct {
	providers     map[string]index
	makers, hosts index
}

// index has the tokens of models by their full, plain and bare names. The second and third hold only what is not in the
// one before under the same name.
type index [3]map[string]int

// makers are the providers that made the models they sell, or sell them under a contract with who made them.
var makers = [...]string{"anthropic", "azure", "bedrock", "deepseek", "gemini", "openai", "vertexai", "xai", "zai"}

// builtIn is the built-in table, read once: nothing changes it.
var builtIn = sync.OnceValue(readTable)

// readTable indexes the built-in table.
//
// Providers list one model with different windows, and too large a belief ends in a refusal, too small a one in
// compaction that was not needed. A maker's own entry is a promise: of several, the smallest holds. A host only ever
// cuts what the model has: of several, the largest holds, because whoever cuts says so in a refusal, which can be
// answered and learned from, whereas a compaction that was not needed tells nobody.
func readTable() table {
	t := table{map[string]index{}, newIndex(), newIndex()}
	for line := range strings.Lines(rows) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] == "#" {
			continue
		}
		tokens, err := strconv.Atoi(fields[2])
		if err != nil {
			panic("BUG: the table of windows has a line that is none: " + line)
		}
		provider, n := fields[0], readName(strings.ToLower(fields[1]))
		if t.providers[provider][0] == nil {
			t.providers[provider] = newIndex()
		}
		t.providers[provider].add(n, tokens, smaller)
		if slices.Contains(makers[:], provider) {
			t.makers.add(n, tokens, smaller)
		} else {
			t.hosts.add(n, tokens, larger)
		}
	}
	return t
}

func newIndex() index { return index{{}, {}, {}} }

func smaller(a, b int) int { return min(a, b) }

func larger(a, b int) int { return max(a, b) }

// add puts an entry under each of its names; where one stands already, pick chooses.
func (x index) add(n name, tokens int, pick func(a, b int) int) {
	last := ""
	for degree, s := range []string{n.full, n.plain, n.bare} {
		if s == last {
			continue
		}
		last = s
		if old, ok := x[degree][s]; ok {
			x[degree][s] = pick(old, tokens)
		} else {
			x[degree][s] = tokens
		}
	}
}

// find takes the name as exactly as it can: a model's own entry goes before one with another variant or date.
func (x index) find(n name) (tokens int, ok bool) {
	for degree, s := range []string{n.full, n.plain, n.bare} {
		for _, names := range x[:degree+1] {
			if tokens, ok = names[s]; ok {
				return tokens, true
			}
		}
	}
	return 0, false
}

// find asks the provider that the upstream is called by, then those who made the model, then all others.
func (t table) find(upstream string, n name) (tokens int, ok bool) {
	for _, x := range []index{t.providers[upstream], t.makers, t.hosts} {
		if tokens, ok = x.find(n); ok {
			return tokens, true
		}
	}
	return 0, false
}
