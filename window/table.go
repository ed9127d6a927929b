package window

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed models.txt
var modelsText string

// table has patterns for names as familyName returns them; the first that fits holds.
var table = sync.OnceValue(func() (all rules) {
	for line := range strings.Lines(modelsText) {
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
	maker   = regexp.MustCompile(`^(?:.*/)?(?:(?:openai|anthropic|google):|databricks-)?(?:[^.0-9:@]*\.)*`)
	joint   = regexp.MustCompile(`([0-9])[._p]([0-9])`)
	variant = regexp.MustCompile(`(-v[0-9]+:[0-9]+(:.*)?|[:@].*)$`)
	date    = regexp.MustCompile(`-(20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2}|latest)$`)
)

// familyName returns the name of a model, in lower case, without provider, region, variant (":free", "@default",
// Bedrock's "-v1:0") and date, and with the numbers of its version joined alike: 4.1 and 4p1 are 4-1.
func familyName(model string) string {
	if len(model) > maxName {
		return ""
	}
	if tuned, ok := strings.CutPrefix(model, "ft:"); ok {
		model, _, _ = strings.Cut(tuned, ":")
	}
	model = joint.ReplaceAllString(maker.ReplaceAllString(model, ""), "$1-$2")
	return date.ReplaceAllString(variant.ReplaceAllString(model, ""), "")
}
