package plan

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
)

// BreaksOrder reports whether messages would stand behind one another, as planned, that may not, and more of one kind
// than in the request as it came.
func BreaksOrder(p *Plan) bool {
	planned := misplaced(p, p.Forms)
	if len(planned) == 0 {
		return false
	}
	came := misplaced(p, nil)
	for pair, n := range planned {
		if n > came[pair] {
			return true
		}
	}
	return false
}

// IsDeadEnd reports whether what is new may not stand behind what was sent: the last items that were decided on are
// left out, and who speaks now is another one than was to.
func IsDeadEnd(p *Plan) bool {
	n := p.Base.Depth()
	if n == 0 || n >= p.Hist.Len() || p.Forms[n-1] == nil || !p.Forms[n-1].Gone && p.Forms[n-1].Fold == 0 {
		return false
	}
	return BreaksOrder(p)
}

// spoken is a message as far as its place matters.
type spoken struct {
	role   conversation.Role
	thinks bool // its answer begins with thoughts
	mute   bool // its answer says nothing so far
}

// mayFollow reports whether a message may stand behind another. An answer of several messages thinks first, if at all.
func (m spoken) mayFollow(p *Plan, before spoken) bool {
	const model = conversation.Assistant
	if before.role == model && m.role == model && (m.thinks || m.mute) && !before.thinks && !before.mute {
		return false // behind a mute one may come thoughts
	}
	return p.Req.Dialect.Follows(before.role, m.role)
}

// misplaced counts, for each two kinds of messages, those that stand behind one which they may not follow, if items are
// sent in these forms.
func misplaced(p *Plan, forms []*decision.Form) map[[2]spoken]int {
	var list map[[2]spoken]int
	var before spoken
	for i := range p.Req.Items {
		it := &p.Req.Items[i]
		thinks := len(it.Thinking) > 0
		m := spoken{it.Role, thinks, isMute(p, it)}
		if k := i - p.Req.Head; k >= 0 && k < len(forms) && forms[k] != nil {
			f := forms[k]
			if f.Gone || f.Fold > 0 && f.With == "" {
				continue
			}
			if f.Said != "" {
				m.thinks = false
			}
			if f.Fold > 0 {
				m = spoken{role: roleOf(p, f.With)}
			}
		}
		if !m.mayFollow(p, before) {
			if list == nil {
				list = map[[2]spoken]int{}
			}
			list[[2]spoken{before, m}]++
		}
		if m.role == conversation.Assistant && before.role == m.role && !before.mute { // one answer
			m = before
		}
		before = m
	}
	return list
}

// isMute reports whether an item is a message in which nothing is said, called or thought: it does not begin an answer.
func isMute(p *Plan, it *conversation.Item) bool {
	if len(it.Thinking) > 0 || len(it.Calls) > 0 || !it.Outer.Empty() { // a part of a message is something
		return false
	}
	content := it.Content.Of(p.Req.Body)
	return len(content) <= len(`""`) || content[0] != '"' && content[0] != '['
}

// roleOf is the role of a message that stands for others.
func roleOf(p *Plan, message string) conversation.Role {
	r, err := p.Req.Dialect.ReadMessage([]byte(message))
	if err != nil || len(r.Items) == 0 {
		return conversation.Unknown
	}
	return r.Items[0].Role
}
