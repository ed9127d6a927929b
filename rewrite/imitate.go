package rewrite

import (
	"bytes"

	"epitome/event"
	"epitome/rewrite/plan"
)

// warnOfImitation warns of a new call in which the model itself writes what epitome puts into the arguments of old
// ones: a model imitates its own calls, and a file may now hold that line.
func warnOfImitation(x *run) {
	p := x.plan
	if p.Case.Rescue != nil {
		return
	}
	for i := p.Base.Depth(); i < p.Hist.Len(); i++ {
		for _, c := range p.Req.Items[p.Req.Head+i].Calls {
			if bytes.Contains(c.Arguments.Of(p.Req.Body), []byte(plan.ArgumentMark)) {
				p.Warn(event.Warning{Reason: event.ReasonImitation, Tokens: x.out.Report.Before.Total()})
				return
			}
		}
	}
}
