package tokenize

import "strings"

// Model is what counting needs to know about a model.
type Model struct {
	Family     string     // for reports
	Vocabulary Vocabulary // to count in
	Ratio      float64    // tokens of the model for one of the vocabulary, as far as is known before any answer
	Exact      bool       // the vocabulary is the model's own, and the ratio 1
	image      imageRule
}

// family is a row of the table of models.
type family struct {
	prefixes string // of the model's name, without what stands before the last slash; separated by spaces
	Model
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

// families returns the table. It is read from the top: the first prefix that fits holds.
func families() []family {
	exact := func(name string, image imageRule) Model {
		return Model{Family: name, Vocabulary: O200k, Ratio: 1, Exact: true, image: image}
	}
	about := func(name string, ratio float64, image imageRule) Model {
		return Model{Family: name, Vocabulary: O200k, Ratio: ratio, image: image}
	}
	return []family{
		{"gpt-5-mini", exact("gpt-5", patches(1.62))},
		{"gpt-5-nano", exact("gpt-5", patches(2.46))},
		{"gpt-5", exact("gpt-5", tiles(70, 140))},
		{"gpt-4.1-mini", exact("gpt-4.1", patches(1.62))},
		{"gpt-4.1-nano", exact("gpt-4.1", patches(2.46))},
		{"gpt-4.1", exact("gpt-4.1", tiles(85, 170))},
		{"gpt-4.5", exact("gpt-4.5", tiles(85, 170))},
		{"gpt-4o-mini", exact("gpt-4o", tiles(2833, 5667))},
		{"gpt-4o chatgpt-4o", exact("gpt-4o", tiles(85, 170))},
		{"gpt-oss", exact("gpt-oss", tiles(85, 170))},
		{"o4-mini", exact("o-series", patches(1.72))},
		{"o1 o3 o4", exact("o-series", tiles(75, 150))},
		{"codex", exact("codex", patches(1.72))},
		{"computer-use", exact("computer-use", tiles(65, 129))},
		{"claude-2 claude-instant claude-v claude-3 claude-4- claude-opus-4-0 claude-opus-4@ claude-opus-4-1 claude-opus-4-5 " +
			"claude-opus-4-6 claude-opus-4-2 claude-opus-4.1 claude-opus-4.5 claude-opus-4.6 claude-sonnet-4 claude-haiku-4",
			about("claude", ratioClaude, pixels(1568, 1600))}, // claude-opus-4-2 is 4 with its date
		{"claude", about("claude", ratioNewClaude, pixels(2576, 4784))}, // they look more closely,
		{"gemini", about("gemini", ratioGemini, fixed(258))},
		{"deepseek-r1-distill", about("other", ratioOther, fixed(765))}, // other makers' vocabularies
		{"deepseek", about("deepseek", ratioDeepSeek, fixed(765))},
		{"", about("other", ratioOther, fixed(765))},
	}
}

// Models finds models by name. Make one with NewModels; it does not change.
type Models struct{ rows []family }

// NewModels returns the built-in table.
func NewModels() Models { return Models{families()} }

// Of returns the model of a name as requests spell it: with a provider in front ("openai/gpt-4o",
// "us.anthropic.claude-…"), a variant behind (":free"), or fine-tuned ("ft:gpt-4o:…"). A name that nothing fits is
// counted in o200k_base with a ratio.
func (m Models) Of(name string) Model {
	name = strings.ToLower(name)
	if tuned, ok := strings.CutPrefix(name, "ft:"); ok {
		name, _, _ = strings.Cut(tuned, ":")
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	// A region may stand before the maker.
	for _, maker := range []string{"anthropic.", "openai.", "openai:", "databricks-"} {
		if _, after, ok := strings.Cut(name, maker); ok {
			name = after
		}
	}
	for _, maker := range []string{"deepseek.", "meta.", "mistral."} {
		if i := strings.Index(name, maker); i > 0 {
			name = name[i:]
		}
	}
	for _, row := range m.rows {
		if row.fits(name) {
			return row.Model
		}
	}
	panic("BUG: the table of models has no last row")
}

// fits reports whether the name begins with one of the row's prefixes. A family whose counts are exact must end there,
// or at a sign: other makers' names begin alike. Without a prefix, every name fits.
func (f family) fits(name string) bool {
	for prefix := range strings.FieldsSeq(f.prefixes) {
		rest, ok := strings.CutPrefix(name, prefix)
		if ok && (!f.Exact || rest == "" || strings.IndexByte("-.:@", rest[0]) >= 0) {
			return true
		}
	}
	return f.prefixes == ""
}
