package plan

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
)

// Put makes f the form of item i. What shows an item whole is nothing to refer to any more.
func (p *Plan) Put(i int, f *decision.Form) {
	p.Forms[i] = f
	if k := p.Hist.ResultAt[i]; k >= 0 && k < p.Hist.LinesRead {
		p.Sheet.dropped = append(p.Sheet.dropped, p.Hist.Lines.Drop(i)...)
	}
}

// SendWhole takes all forms away. What was not whole before is there to be referred to, so the index of lines is read
// anew. No checkpoint undoes that.
func (p *Plan) SendWhole() {
	clear(p.Forms)
	p.Hist.ForgetLines()
}

// mostLearned is how many bytes of results one request takes in, the newest: those before them are not referred to.
const mostLearned = 8 << 20

// LearnLines takes in the lines of the first n results that are sent whole, so that later ones may refer to them.
func (p *Plan) LearnLines(n int) {
	h := p.Hist
	from, room := n, mostLearned
	for from > h.LinesRead {
		if room -= CostOf(p, h.Results[from-1].Item); room < 0 {
			break
		}
		from--
	}
	h.LinesRead = max(h.LinesRead, from)
	for ; h.LinesRead < n; h.LinesRead++ {
		res := &h.Results[h.LinesRead]
		if p.Forms[res.Item] != nil || res.Item < conversation.Dead(p.Req) {
			continue
		}
		if list := uncounted(p, res.Item); len(list) == 1 {
			h.Lines.Add(res.Item, list[0].Text)
		}
	}
}
