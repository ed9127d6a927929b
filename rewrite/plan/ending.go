package plan

import (
	"epitome/rewrite/history"
	"epitome/rewrite/history/ending"
)

// EndingOf says how the call ended that the result answers, and by whose words.
func EndingOf(p *Plan, res *history.Result) *ending.Ending {
	if e := res.KnownEnding(); e != nil {
		return e
	}
	it := &p.Req.Items[p.Req.Head+res.Item]
	return res.LearnEnding(it.Content.Of(p.Req.Body), p.TextOf(res.Item))
}
