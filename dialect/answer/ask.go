package answer

import (
	"strconv"

	"epitome/internal/jsonspan"
)

// Names of the cap on the output, in tokens of the model.
const (
	UsualCap     = "max_tokens"            // in Messages, and for most providers in Chat Completions
	OtherCap     = "max_completion_tokens" // for newer models of OpenAI in Chat Completions
	ResponsesCap = "max_output_tokens"
)

// Form is how an answer is asked for.
type Form struct {
	MaxOutput int  // tokens
	OtherCap  bool // the provider wants the cap under another name than usual
	Stream    bool // the provider answers in streams alone
}

// CapOutput lowers the caps on the output of a request, thinking and answer together, to tokens (of the model). A
// thinking budget that must be below the cap, and no longer is, is lowered so that the answer has as much room as
// before. It returns body and false if there is no higher cap, or if the model could not think any more.
func CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	const minBudget = 1024 // tokens: Messages takes no smaller thinking budget
	o, err := jsonspan.WholeObject(body)
	if err != nil || tokens <= 0 {
		return body, false
	}
	capped = body
	for _, key := range []string{UsualCap, OtherCap, ResponsesCap} {
		oldCap := Number(o.Raw(key))
		if oldCap <= tokens {
			continue
		}
		budget := ThinkingBudget(o)
		mustThinkLess := budget >= tokens && budget < oldCap // a larger budget, for thinking between calls, stays
		if mustThinkLess && tokens <= minBudget {
			return body, false
		}
		capped = jsonspan.Set(capped, key, strconv.Itoa(tokens))
		if mustThinkLess {
			answerRoom := oldCap - budget
			capped = jsonspan.Set(capped, "thinking.budget_tokens", strconv.Itoa(max(tokens-answerRoom, minBudget)))
		}
		ok = true
	}
	return capped, ok
}

// ThinkingBudget returns the thinking budget of a request body, in tokens of the model; 0 if it has none.
func ThinkingBudget(body *jsonspan.Object) int {
	thinking := body.In("thinking")
	if thinking.Text("type") != "enabled" {
		return 0
	}
	return Number(thinking.Raw("budget_tokens"))
}

// Number returns the number that a JSON value is; 0 if it is none, or negative.
func Number(value string) int {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0
	}
	return max(n, 0)
}
