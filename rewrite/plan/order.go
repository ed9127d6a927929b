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

// pair is a message behind one which it may not follow.
type pair [2]spoken

// misplaced counts, for each two kinds of messages, those that stand behind one which they may not follow, if items are
// sent in these forms.
func misplaced(p *Plan, forms []*decision.Form) map[pair]int {
	var list map[pair]int
	var before spoken
	for i := range p.Req.Items {
		m, sent := sentAs(p, forms, i)
		if !sent {
			continue
		}
		if !m.mayFollow(p, before) {
			if list == nil {
				list = map[pair]int{}
			}
			list[pair{before, m}]++
		}
		before = m.behind(before)
	}
	return list
}

// sentAs is what is sent of item i of all in these forms; sent is false if nothing is.
func sentAs(p *Plan, forms []*decision.Form, i int) (m spoken, sent bool) {
	it := &p.Req.Items[i]
	m = spoken{it.Role, len(it.Thinking) > 0, isMute(p, it)}
	k := i - p.Req.Head
	if k < 0 || k >= len(forms) || forms[k] == nil {
		return m, true
	}
	f := forms[k]
	switch {
	case f.Gone || f.Fold > 0 && f.With == "":
		return m, false
	case f.Fold > 0:
		return spoken{role: roleOf(p, f.With)}, true
	}
	m.thinks = m.thinks && f.Said == ""
	return m, true
}

// behind is what the message behind this one stands behind: two answers of the model are one.
func (m spoken) behind(before spoken) spoken {
	if m.role == conversation.Assistant && before.role == m.role && !before.mute {
		return before
	}
	return m
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
