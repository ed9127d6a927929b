package rewrite

// stubTokens is about what a stub takes beside the lines that it shows.
const stubTokens = 150

// squeezable reports whether the result may be cut hard.
func (p *plan) squeezable(res *result) bool {
	f := p.forms[res.item]
	return (f == nil || !f.Gone && f.Fold == 0) && !p.untouched(res)
}

// squeeze cuts a result to about keep tokens and a stub, or to the stub alone. It says how many tokens that has freed.
func (p *plan) squeeze(res *result, keep int) (freed int) {
	f := p.squeezed(res, max(keep, 0))
	if f == nil || p.sent(res.item)-f.Now < leastSaving {
		f = p.stub(res, "the window is full")
		f.Rung = rungCompact
	}
	if freed = p.sent(res.item) - f.Now; freed < leastSaving {
		return 0
	}
	p.set(res.item, f, "the window is full")
	return freed
}

// squeezed is the form of a result with about keep tokens of its lines; nil if none can be shown.
func (p *plan) squeezed(res *result, keep int) *form {
	list, tokens := p.passages(res.item)
	f := &form{Rung: rungCompact, Now: p.hist.sizes[res.item]}
	for _, w := range list {
		c := cut{plan: p, res: res, passage: w, keep: int(int64(keep) * int64(w.tokens) / int64(max(tokens, 1)))}
		if c.keep == 0 || p.marked(w.text) {
			return nil
		}
		shown, of := w.text, ""
		if s, changed := finalScreen(w.text); changed {
			shown, of = s, " of the final screen"
		}
		if text, _ := c.excerpt(shown, of); text != "" {
			f.Patches = append(f.Patches, patch{w.place, w.index, text, c.name, c.spelling})
			f.Now -= w.spent - p.spend(text, res.item)
		}
	}
	if len(f.Patches) == 0 {
		return nil
	}
	return f
}

// Tokens that are left of results when they are cut hard: some 4 000 and 500 characters.
const short, shorter = 1_100, 140

// fit cuts results hard, the oldest first, until the request fits. It leaves all as it is where that could not help.
func (p *plan) fit() {
	over, most := p.total()-p.usable, 0
	for k := range p.hist.results {
		if res := &p.hist.results[k]; p.squeezable(res) {
			most += max(0, p.sent(res.item)-stubTokens)
		}
	}
	if most < over && float64(most) < leastGain*float64(p.total()) {
		return
	}
	p.shorten(short)
	p.shorten(shorter)
}

// shorten cuts results to so many tokens, the oldest first, and those that are spent even shorter, until the request fits.
func (p *plan) shorten(keep int) {
	over := p.total() - p.usable
	for k := range p.hist.results {
		if over <= 0 {
			return
		}
		res, left := &p.hist.results[k], keep
		if p.rescue != nil && res.spent > 0 {
			left = shorter
		}
		if p.squeezable(res) && p.sent(res.item) > left+stubTokens {
			over -= p.squeeze(res, left)
		}
	}
}
