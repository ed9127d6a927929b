package summarize

import "strings"

// MaxDistillate is how many tokens a distillate has at most: a model's account of one result, for its stub.
const MaxDistillate = 300

// distillate returns what stands under the heading of an answer, in at most MaxDistillate tokens, or why it cannot be
// used. isCut says that the model has not ended.
func (j *job) distillate(said string, isCut bool) (text, why string) {
	const heading = "Result" // as in prompts/distillate.md
	text = strings.TrimSpace(sections(said, []string{heading})[heading])
	if text == "" {
		return "", "it had nothing under the heading " + heading
	}
	for short := text; isCut || j.deps.Count(text) > MaxDistillate; isCut = false {
		short = short[:len(short)*9/10]
		text = strings.TrimSpace(strings.ToValidUTF8(short, "")) + " …"
	}
	return text, ""
}
