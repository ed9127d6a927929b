package recap

import (
	"strings"

	"epitome/rewrite/plan"
	"epitome/rewrite/recap/agenda"
)

// tasks is the agent's list of tasks as all calls up to the end left it, in at most so many tokens; nothing if what
// stands behind the span shows all of it.
func (w *writer) tasks(tokens int) string {
	if tokens == 0 {
		return ""
	}
	var list agenda.List
	isShown := true
	for k := range w.Plan.Hist.Results {
		res := &w.Plan.Hist.Results[k]
		if res.Item >= w.Plan.End || res.Failed || !agenda.MayKeep(res.Name) {
			continue
		}
		call := w.CallOf(res)
		if call == nil {
			continue
		}
		isAll := list.Take(call.Name, w.ArgumentsOf(call), w.TextOf(res))
		isShown = isShown && res.Item >= w.To || isAll && res.Item >= w.To
	}
	if isShown || list.IsEmpty() {
		return ""
	}
	return strings.Join(list.Rows(bytesFor(tokens)), "\n")
}

// keepsTasks reports whether the agent may keep a list of tasks with its tools.
func keepsTasks(p *plan.Plan) bool {
	for k := range p.Hist.Results {
		if agenda.MayKeep(p.Hist.Results[k].Name) {
			return true
		}
	}
	return false
}
