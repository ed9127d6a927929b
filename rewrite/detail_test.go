package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"epitome/config"
	"epitome/dialect/chat"
	"epitome/rewrite"
	"epitome/summarize"
)

// summarize.detail of a configuration says how much of the work stands in a summary by code.
func TestSummarizeDetailIsFollowed(t *testing.T) {
	var messages strings.Builder
	for i := range 1_500 {
		fmt.Fprintf(&messages, `,{"role":"assistant","tool_calls":[{"id":"c%d","type":"function","function":{"name":"bash",`+
			`"arguments":"{\"command\":\"make part_%[1]d of the whole\"}"}}]},`+
			`{"role":"tool","tool_call_id":"c%[1]d","content":"ok"}`, i)
	}
	body := `{"model":"m","messages":[{"role":"user","content":"Make all."}` + messages.String() +
		`,{"role":"assistant","content":"So."},{"role":"user","content":"Go on."}]}`
	sizes := map[summarize.Detail]int{}
	for _, detail := range []summarize.Detail{summarize.Low, summarize.Medium} {
		p, limits := start(newStorage()), defaultLimits()
		p.window.Store(64_000)
		limits.KeepTail = 100
		conf := config.Config{Summarize: summarize.Config{Detail: detail}}
		out := p.Shape(rewrite.Input{Dialect: chat.Dialect{}, Body: []byte(body), Limits: &limits, Compact: true,
			SummaryMode: summarize.Intent, SummaryDetail: conf.Settings().Input.SummaryDetail})
		sizes[detail] = out.Report.TokensAfter.Total()
	}
	if low, medium := sizes[summarize.Low], sizes[summarize.Medium]; low == 0 || 3*low > 2*medium {
		t.Errorf("requests have %v tokens", sizes)
	}
}
