package window

import (
	"regexp"
	"strings"
)

// name is how a model is called, in three degrees of exactness. Neither case, nor provider, nor how the numbers of a
// version are joined (4.1, 4-1, 4p1) is in any of them.
type name struct {
	full  string // with variant and date
	plain string // without the variant: ":free", "@default", Bedrock's "-v1:0"
	bare  string // without the date either, or the "latest" in its place
}

var (
	joint   = regexp.MustCompile(`([0-9])[._p]([0-9])`)
	variant = regexp.MustCompile(`(-v[0-9]+:[0-9]+(:.*)?|[:@].*)$`)
	date    = regexp.MustCompile(`-(20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2}|latest)$`)
)

// readName takes a name apart that is written in lower case.
func readName(s string) name {
	if tuned, ok := strings.CutPrefix(s, "ft:"); ok {
		s, _, _ = strings.Cut(tuned, ":")
	}
	s = withoutMaker(s[strings.LastIndexByte(s, '/')+1:])
	full := joint.ReplaceAllString(s, "$1-$2")
	plain := variant.ReplaceAllString(full, "")
	return name{full, plain, date.ReplaceAllString(plain, "")}
}

// withoutMaker takes off what may stand before a model without a slash: a region and a maker, each with a dot behind,
// as Bedrock spells them, and a few others. A part with a digit in it belongs to the model.
func withoutMaker(s string) string {
	for _, maker := range []string{"openai:", "anthropic:", "google:", "databricks-"} {
		s = strings.TrimPrefix(s, maker)
	}
	for {
		label, rest, ok := strings.Cut(s, ".")
		switch {
		case !ok || strings.ContainsAny(label, "0123456789:@"):
			return s
		case label == "deepseek": // whose models are called v3 and r1 behind it
			return "deepseek-" + rest
		}
		s = rest
	}
}
