package tokenize

import "strings"

// Model is what counting needs to know about a model.
type Model struct {
	Ratio float64 // tokens of the model for one of Vocabulary, as far as is known before any answer
	Exact bool    // Vocabulary is the model's own, and the ratio 1
	image imageRule
}

// Ratios before anything has been measured. Sources: for Claude the multipliers that sammcj/ingest published (PR 65);
// for Gemini its documentation's four characters to a token, for DeepSeek its documentation's 0.3 tokens to a
// character, both against the 4.44 bytes to a token of English prose in o200k_base; the rest are byte-pair
// vocabularies of 100k to 150k tokens, for which nothing trustworthy is published.
const (
	ratioClaude    = 1.18
	ratioNewClaude = 1.53
	ratioGemini    = 1.11
	ratioDeepSeek  = 1.33
	ratioOther     = 1.1
)

// families has a model for each prefix of a name, without the provider before the last slash and with $ behind its end.
// It is read from the top: the first prefix that fits holds. Models with ratio 1 are Exact.
var families = []struct {
	prefixes string // separated by spaces
	ratio    float64
	image    imageRule
}{
	{"gpt-5-mini gpt-4.1-mini", 1, patches(1.62)},
	{"gpt-5-nano gpt-4.1-nano", 1, patches(2.46)},
	{"gpt-5", 1, tiles(70, 140)},
	{"gpt-4o-mini", 1, tiles(2833, 5667)},
	{"gpt-4.1 gpt-4.5 gpt-4o chatgpt-4o gpt-oss", 1, tiles(85, 170)},
	{"o4-mini codex", 1, patches(1.72)},
	{"o1 o3 o4", 1, tiles(75, 150)},
	{"computer-use", 1, tiles(65, 129)},
	{"claude-2 claude-instant claude-v claude-3 claude-4- claude-opus-4$ claude-opus-4: claude-opus-4-0 " +
		"claude-opus-4@ claude-opus-4-1 " +
		"claude-opus-4-5 claude-opus-4-6 claude-opus-4-2 " + // claude-opus-4-2 is 4 with its date
		"claude-opus-4.1 claude-opus-4.5 claude-opus-4.6 claude-sonnet-4 claude-haiku-4",
		ratioClaude, pixels(1568, 1600)},
	{"claude", ratioNewClaude, pixels(2576, 4784)}, // they look more closely
	{"gemini", ratioGemini, fixed(258)},
	{"deepseek-r1-distill", ratioOther, fixed(765)}, // other makers' vocabularies
	{"deepseek", ratioDeepSeek, fixed(765)},
}

// ModelOf returns the model of a name as requests spell it: with a provider in front ("openai/gpt-4o",
// "us.anthropic.claude-…"), a variant behind (":free"), or fine-tuned ("ft:gpt-4o:…"). A name that nothing fits is
// counted with a ratio.
func ModelOf(name string) Model {
	name = strings.ToLower(name)
	if tuned, ok := strings.CutPrefix(name, "ft:"); ok {
		name, _, _ = strings.Cut(tuned, ":")
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, maker := range []string{"anthropic.", "openai.", "openai:", "databricks-"} { // a region may stand before it
		if _, after, ok := strings.Cut(name, maker); ok {
			name = after
		}
	}
	if i := strings.Index(name, "deepseek."); i > 0 {
		name = name[i:]
	}
	for _, family := range families {
		for prefix := range strings.FieldsSeq(family.prefixes) {
			rest, ok := strings.CutPrefix(name+"$", prefix)
			isExact := family.ratio == 1
			// Other makers' names begin like those that are exact, which end there or at a sign.
			if ok && (!isExact || strings.IndexByte("-.:@$", rest[0]) >= 0) {
				return Model{family.ratio, isExact, family.image}
			}
		}
	}
	return Model{Ratio: ratioOther, image: fixed(765)}
}
