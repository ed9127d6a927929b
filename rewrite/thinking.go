package rewrite

import (
	"slices"
	"sync"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
)

// bindsOf reports whether the model takes what it thought only behind what it thought that behind: by its name, or
// because a refusal has shown it. Where nothing was thought that does not matter. It is looked up when it is first
// asked.
func bindsOf(x *run) func() bool {
	return sync.OnceValue(func() bool {
		thinks := func(it conversation.Item) bool { return len(it.Thinking) > 0 }
		if !slices.ContainsFunc(x.req.Items, thinks) {
			return false
		}
		if x.in.Limits.BindsThinking(x.req.Model) {
			return true
		}
		_, _, seen := x.ledger.Get(decision.BoundKey(x.in.Upstream, x.req.Model))
		return seen
	})
}

// rememberBond records that the model binds what it thought, if it took the request without it only.
func rememberBond(x *run) error {
	if x.in.Rescue == nil || !x.in.Rescue.Unthinking || plan.Binds(x.plan) {
		return nil
	}
	_, _, err := x.ledger.Add(decision.BoundKey(x.in.Upstream, x.req.Model), []byte{1})
	return err
}

// mayMisplace reports whether what the model thought may stand behind something else than when it thought that, by a
// rewrite: of this request, or of an earlier one. It is certain not to only where all that stood before it is recorded
// as it was sent, which was whole.
func mayMisplace(x *run) bool {
	p := x.plan
	last := len(p.Forms) - 1
	for last >= 0 && len(p.Req.Items[p.Req.Head+last].Thinking) == 0 {
		last--
	}
	if last < 0 {
		return false
	}
	begin := last // of the answer in which that was thought
	for begin > 0 && !p.Req.Items[p.Req.Head+begin].Begins {
		begin--
	}
	if x.shaper.failed.Load() || begin > p.Base.Depth() || begin > 0 && p.Base.Version == 0 {
		return true
	}
	return hasForms(p.Forms[:last])
}
