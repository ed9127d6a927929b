package answer

import (
	"strconv"

	"github.com/tidwall/gjson"

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
	if tokens <= 0 || !jsonspan.Valid(body) {
		return body, false
	}
	capped = body
	budget := ThinkingBudget(body)
	for _, key := range []string{UsualCap, OtherCap, ResponsesCap} {
		oldCap := int(gjson.GetBytes(body, key).Int())
		if oldCap <= tokens {
			continue
		}
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
func ThinkingBudget(body []byte) int {
	thinking := gjson.GetBytes(body, "thinking")
	if thinking.Get("type").Str != "enabled" {
		return 0
	}
	return max(int(thinking.Get("budget_tokens").Int()), 0)
}
